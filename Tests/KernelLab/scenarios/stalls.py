# SPDX-License-Identifier: GPL-2.0-or-later
#
# Readers that stall: the kernel's own limit, the product's promise at each setting, and beyond it.

from __future__ import annotations

import random
import signal
from dataclasses import dataclass

from bench import Bench, compare
from readers import EventReader
from scenarios import scenario
from scenarios.keys import PRINTABLE, clean_keys
from scenarios.kills import order
from waiting import LabError, expect


@dataclass(frozen=True)
class Setting:
    """A way to tell the product how long readers may stall."""

    name: str
    stall: int  # milliseconds
    arguments: tuple[str, ...]


SETTINGS = [Setting(f"{stall}ms", stall, ("--stall", f"{stall}ms")) for stall in (20, 100)]
SILENCE = 4.0  # seconds without a character, when some are due
TEXT = PRINTABLE + bytes(range(0x30, 0x3A)) * 5  # a good mixture of plain and shifted ones


@scenario("queue-limit", peer="")
async def queue_limit(bench: Bench) -> None:
    """The kernel's own limit: of 63 events a reader that sleeps gets all, of 64 it does not."""
    keys, node = await bench.keys()
    seen = {}
    for number in (63, 64, 63):
        reader = await EventReader.open(bench, node)
        pid = str(reader.program.pid)
        await reader.program.signal(signal.SIGSTOP)
        await bench.guest.run("sh", "-c", f'until grep -q "^State:.T" /proc/{pid}/status; do sleep 0.01; done')
        await order(keys, f"events {number}")
        await reader.program.signal(signal.SIGCONT)
        summary = await reader.summary()  # it reads once more before it ends
        arrived = summary["presses"] + summary["releases"] + summary["frames"]
        seen[number] = f"of {number} arrive {arrived}, SYN_DROPPED {summary['dropped']}"
        if number == 63:
            expect(arrived == 63 and summary["dropped"] == 0, f"63 events do not fit: {summary}")
            clean_keys(summary)
        else:
            expect(summary["dropped"] == 1 and arrived < 64, f"64 events fit: the queue is not what pacing assumes: {summary}")
    bench.note = "; ".join(seen.values())


class Stalled:
    """A product, and a reader that drains every `stall` milliseconds."""

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
        """Waits until so much has arrived, or nothing more arrives: then the rest is lost."""
        while len(self.reader.text) < length:
            try:
                await self.reader.until(len(self.reader.text) + 1, SILENCE)
            except LabError:
                return

    async def close(self) -> dict[str, int]:
        """Ends both, with the figures; what the reader saw."""
        # The reader first: with the keyboard goes what was not read yet.
        summary = await self.reader.summary()
        await self.product.end(signal.SIGINT, 130)
        self._bench.account(len(self.sent), len(self.reader.text), self.product.counts())
        return summary


async def at_limit(bench: Bench, setting: Setting) -> None:
    seconds = 120 if bench.long else 20
    chooser = random.Random(setting.stall)
    stalled = Stalled(bench)
    await stalled.open(setting, setting.stall)
    clock = bench.clock()
    lost = 0  # by a reader that was late itself
    while clock() < seconds:
        stalled.send(chooser, chooser.randrange(20, 600))
        # Now and then all is typed: a burst after a rest is as much a part of pacing as what follows it.
        ahead = chooser.choice((0, 300))
        await stalled.typed(len(stalled.sent) - lost - ahead)
        if ahead == 0:
            lost = len(stalled.sent) - len(stalled.reader.text)
    await stalled.typed(len(stalled.sent) - lost)
    took = clock()
    summary = await stalled.close()
    arrived = stalled.reader.text
    drains, late = summary["drains"], summary["late"]
    bench.note = (
        f"{len(arrived)} characters in {took:.0f} s, SYN_DROPPED in time {summary['in_time']}, "
        f"for lateness {summary['dropped'] - summary['in_time']}; {late} of {drains} drains late, at worst {summary['worst'] / 1000:.1f} ms"
    )
    expect(summary["in_time"] == 0, f"events were dropped before the limit: {summary}")
    if summary["dropped"] == 0:  # be the reader late or not
        compare(bytes(stalled.sent), arrived)
        clean_keys(summary)
    expect(summary["dropped"] == 0 or late < drains / 2, "the reader itself was late too often, this proves nothing")


async def at_double(bench: Bench, setting: Setting) -> None:
    stalled = Stalled(bench)
    await stalled.open(setting, 2 * setting.stall)
    stalled.send(random.Random(setting.stall), 600)
    await stalled.typed(len(stalled.sent))
    summary = await stalled.close()
    expect(summary["dropped"] > 0, f"no SYN_DROPPED: {summary}")
    expect(bench.figures["lost"] > 0, "nothing was lost: the limit is not where it is said to be")
    bench.note = f"noticed: SYN_DROPPED {summary['dropped']} times"


def register(setting: Setting) -> None:
    async def limit(bench: Bench) -> None:
        await at_limit(bench, setting)

    async def double(bench: Bench) -> None:
        await at_double(bench, setting)

    limit.__doc__ = f"At {' '.join(setting.arguments)}, a reader that stalls {setting.stall} ms again and again loses nothing."
    double.__doc__ = f"A control: at {' '.join(setting.arguments)}, a reader that stalls twice as long does lose events."
    scenario(f"stall-limit-{setting.name}", deadline=120)(limit)
    scenario(f"stall-double-{setting.name}")(double)


for setting in SETTINGS:
    register(setting)
