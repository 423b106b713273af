# SPDX-License-Identifier: GPL-2.0-or-later
#
# Readers that stall: the kernel's limit, the product's guarantee for each setting, and longer stalls.

from __future__ import annotations

import random
import signal
import statistics
from dataclasses import dataclass

from bench import Bench, compare
from readers import EventReader, Terminal
from scenarios import scenario
from scenarios.keys import PRINTABLE, clean_keys
from scenarios.kills import order
from waiting import LabError, expect


@dataclass(frozen=True)
class Setting:
    """An option of the product that sets the longest stall of readers."""

    name: str
    stall: int  # in milliseconds
    arguments: tuple[str, ...]


SETTINGS = [Setting(f"{stall}ms", stall, ("--stall", f"{stall}ms")) for stall in (20, 100)]
# Profiles and the stalls that they tolerate according to the documentation. console assumes a reader that never stalls.
PROFILES = [
    Setting(name, stall, ("--pace", name))
    for name, stall in (("kms", 34), ("desktop", 100), ("scanner", 640), ("slow", 800))
]
# The same settings with the smaller queue.
SMALL = [
    Setting(f"{name}-queue-64", stall, ("--queue", "64", *arguments))
    for name, stall, arguments in (("100ms", 100, ("--stall", "100ms")), ("scanner", 160, ("--pace", "scanner")))
]
# Length of each queue, and the relative axes that cause it.
QUEUES = {64: 0, 256: 0xE63C}
# In theory, 63 keys per stall are 4.2 times as many as 15. In the emulator the ratio is lower, because each key is late by the
# same time.
RATE_STALL, RATE_DRAINS, RATE_TRIES, RATE_RATIO = 100, 50, 6, 3.0
DIGITS = b"0123456789"
CONSOLE = Setting("console", 10, ("--pace", "console"))  # the stall applies only to the negative control
ROUND = 15.0  # seconds; a run consists of rounds, so that a round that proves nothing can be repeated
LONG_ROUND, LONG_ROUNDS = 30.0, 4
SILENCE = 4.0  # seconds without a character after which the rest counts as lost
TEXT = PRINTABLE + bytes(range(0x30, 0x3A)) * 5  # a mixture of plain and shifted characters


@scenario("queue-limit", peer="")
async def queue_limit(bench: Bench) -> None:
    """X-2, X-16: the kernel's limit: a sleeping reader gets 63 events but not 64; with nine axes declared, 255 but not 256."""
    notes = [await limit_of(bench, queue, axes) for queue, axes in QUEUES.items()]
    bench.note = "; ".join(notes)


async def limit_of(bench: Bench, queue: int, axes: int) -> str:
    keys, node = await bench.keys(axes)
    seen = {}
    for number in (queue - 1, queue, queue - 1):
        reader = await EventReader.open(bench, node, stopped=True)
        await bench.guest.halt(reader.program)
        await order(keys, f"events {number}")
        await reader.program.signal(signal.SIGCONT)
        summary = await reader.summary()  # it reads the queue once more before it ends
        arrived = summary["presses"] + summary["releases"] + summary["frames"]
        seen[number] = f"of {number} arrive {arrived}, SYN_DROPPED {summary['dropped']}"
        if number < queue:
            expect(arrived == number and summary["dropped"] == 0, f"{number} events do not fit: {summary}")
            clean_keys(summary)
        else:
            expect(summary["dropped"] == 1 and arrived < queue, f"{number} events fit: the queue is not what pacing assumes: {summary}")
    return "; ".join(seen.values())


class Stalled:
    """The product, and a reader that drains its queue every `stall` milliseconds."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.sent = bytearray()

    async def open(self, setting: Setting, stall: int) -> None:
        self.product = await self._bench.run("--max-age", "0", *setting.arguments)
        self.reader = await EventReader.open(self._bench, self.product.node, stall=stall)
        await self.product.state("connected", 30)
        await self._bench.peer.until_subscribed()

    def send(self, chooser: random.Random, length: int) -> None:
        data = bytes(chooser.choices(TEXT, k=length))
        self._bench.peer.burst(data[at : at + 20] for at in range(0, length, 20))
        self.sent += data

    async def typed(self, length: int) -> None:
        """Waits until `length` bytes have arrived, or until no more arrive because the rest is lost."""
        while len(self.reader.text) < length:
            try:
                await self.reader.until(len(self.reader.text) + 1, SILENCE)
            except LabError:
                return

    async def close(self) -> dict[str, int]:
        """Ends the reader and the product, records the figures, and returns the reader's summary."""
        # End the reader first, because unread events are lost when the keyboard is removed.
        summary = await self.reader.summary()
        await self.product.end(signal.SIGINT, 130)
        self._bench.account(len(self.sent), len(self.reader.text), self.product.counts())
        return summary


@dataclass
class Round:
    """Result of one round, and whether it counts."""

    characters: int
    drains: int
    late: int
    worst: int
    is_void: bool


async def one_round(bench: Bench, setting: Setting, seconds: float, chooser: random.Random) -> Round:
    """Types for `seconds` to a reader that stalls at the limit, and fails if anything is lost.

    The guarantee applies to readers that are never later than the limit. If events were dropped only after this reader had been
    late itself, as can happen in a virtual machine on a busy host, the round is void: neither a failure nor a success.
    """
    stalled = Stalled(bench)
    await stalled.open(setting, setting.stall)
    clock = bench.clock()
    whole = True
    while whole and clock() < seconds:
        stalled.send(chooser, chooser.randrange(20, 600))
        # Sometimes wait until everything is typed, because pacing must also handle a burst after a rest.
        wanted = len(stalled.sent) - chooser.choice((0, 300))
        await stalled.typed(wanted)
        whole = len(stalled.reader.text) >= wanted
    if whole:
        await stalled.typed(len(stalled.sent))
    summary = await stalled.close()
    await bench.monitor.until_quiet()
    await bench.peer.until_alone()
    arrived = stalled.reader.text
    expect(summary["in_time"] == 0, f"events were dropped though the reader was in time: {summary}")
    is_void = summary["dropped"] > 0
    if not is_void:
        compare(bytes(stalled.sent), arrived)
        clean_keys(summary)
    return Round(len(arrived), summary["drains"], summary["late"], summary["worst"], is_void)


async def at_limit(bench: Bench, setting: Setting) -> None:
    needed, seconds = (LONG_ROUNDS, LONG_ROUND) if bench.long else (1, ROUND)
    chooser = bench.chooser()
    rounds: list[Round] = []
    clock = bench.clock()
    while sum(not one.is_void for one in rounds) < needed and len(rounds) < 2 * needed + 2:
        rounds.append(await one_round(bench, setting, seconds, chooser))
    took = clock()
    counted = [one for one in rounds if not one.is_void]
    characters = sum(one.characters for one in counted)
    late, drains = sum(one.late for one in counted), sum(one.drains for one in counted)
    bench.figures = {}
    bench.note = (
        f"{characters} characters, 0 lost, in {len(counted)} rounds of {seconds:g} s ({took:.0f} s in all); "
        f"{len(rounds) - len(counted)} void; {late} of {drains} drains late, "
        f"at worst {max((one.worst for one in counted), default=0) / 1000:.1f} ms"
    )
    expect(len(counted) == needed, "in too many rounds the reader itself was late and lost events: they prove nothing")


async def at_console(bench: Bench) -> None:
    seconds = 120 if bench.long else ROUND
    chooser = bench.chooser()
    terminal = await Terminal.open(bench)
    product = await bench.connected("--max-age", "0", *CONSOLE.arguments)
    sent = bytearray()
    clock = bench.clock()
    while clock() < seconds:
        data = bytes(chooser.choices(TEXT, k=chooser.randrange(20, 600)))
        bench.peer.burst((data[at : at + 20] for at in range(0, len(data), 20)), in_flight=8)
        sent += data
        await terminal.until(len(sent), 20)  # the terminal is fast enough; its own buffer is not tested here
    took = clock()
    await product.end(signal.SIGINT, 130)
    await terminal.close()
    bench.account(len(sent), len(terminal.text), product.counts())
    compare(bytes(sent), terminal.text)
    bench.note = f"{len(sent) / took:.0f} characters/s for {took:.0f} s"


async def at_double(bench: Bench, setting: Setting) -> None:
    stalled = Stalled(bench)
    await stalled.open(setting, 2 * setting.stall)
    stalled.send(bench.chooser(), 600)
    await stalled.typed(len(stalled.sent))
    summary = await stalled.close()
    expect(summary["dropped"] > 0, f"no SYN_DROPPED: {summary}")
    expect(bench.figures["lost"] > 0, "nothing was lost: the limit is not where it is said to be")
    bench.note = f"noticed: SYN_DROPPED {summary['dropped']} times"


async def rate(bench: Bench, queue: int) -> float:
    """Returns the characters per second, by the kernel's time stamps, typed to a reader that stalls 100 ms and loses none.

    The result is the median of all drains, because a few drains are slow if the machine pauses.
    """
    for _ in range(RATE_TRIES):
        stalled = Stalled(bench)
        await stalled.open(Setting(str(queue), RATE_STALL, ("--queue", str(queue), "--stall", f"{RATE_STALL}ms")), RATE_STALL)
        data = DIGITS * (RATE_DRAINS * queue // 4 // len(DIGITS))
        bench.peer.burst(data[at : at + 20] for at in range(0, len(data), 20))
        stalled.sent += data
        await stalled.typed(len(data))
        summary = await stalled.close()
        await bench.monitor.until_quiet()
        await bench.peer.until_alone()
        expect(summary["in_time"] == 0, f"events were dropped though the reader was in time: {summary}")
        if summary["dropped"] == 0:
            compare(data, stalled.reader.text)
            clean_keys(summary)
            return statistics.median(
                (len(drain["text"]) - 1) / (drain["last"] - drain["first"]) for drain in stalled.reader.drains if len(drain["text"]) > 4
            )
    raise LabError(f"{RATE_TRIES} times the reader itself was late and lost events: they prove nothing")


@scenario("queue-rate", deadline=180, once=True, alone=True)
async def queue_rate(bench: Bench) -> None:
    """X-16: the same stall of 100 ms is survived at four times the rate: plain keys a second with queues of 256 and 64 events (B-18)."""
    rates = {queue: await rate(bench, queue) for queue in QUEUES}
    bench.figures = {}
    ratio = rates[256] / rates[64]
    bench.note = f"{rates[64]:.0f} characters/s with a queue of 64, {rates[256]:.0f} with one of 256: {ratio:.2f} times as many"
    expect(ratio >= RATE_RATIO, bench.note)


def register(setting: Setting, only_long: bool) -> None:
    async def limit(bench: Bench) -> None:
        await at_limit(bench, setting)

    async def double(bench: Bench) -> None:
        await at_double(bench, setting)

    limit.__doc__ = f"X-2, X-16: with {' '.join(setting.arguments)}, a reader that repeatedly stalls for {setting.stall} ms loses nothing."
    double.__doc__ = f"Negative control: with {' '.join(setting.arguments)}, a reader that stalls for {2 * setting.stall} ms loses events."
    if setting != CONSOLE:
        scenario(f"stall-limit-{setting.name}", deadline=240, only_long=only_long, alone=True)(limit)
    scenario(f"stall-double-{setting.name}", only_long=only_long)(double)


for setting in SETTINGS:
    # On a busy host, a reader with a stall of 20 ms is often late itself, which proves nothing.
    register(setting, only_long=setting.stall < 100)
for setting in (*PROFILES, *SMALL, CONSOLE):
    register(setting, only_long=True)


@scenario("stall-limit-console", deadline=120, only_long=True, alone=True)
async def stall_limit_console(bench: Bench) -> None:
    """With --pace console, a virtual terminal receives every character at full speed."""
    await at_console(bench)
