# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random faults of every kind, one after another, while barcodes are sent.

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Awaitable, Callable

from bench import Bench
from daemons import FOREVER, chosen, fresh, start, status, until_status
from peer import ean13
from product import PARTS, Product
from readers import EventReader
from scenarios import scenario
from scenarios.adapters import block, forsaken
from waiting import expect

SHORT, LONG = 60, 3600  # in seconds
RETURN = 90  # longest time from a fault to the next subscription, in seconds
LENGTH = len(ean13(0))


class Weather:
    """A daemon exposed to faults, with the numbers of barcodes sent and typed."""

    def __init__(self, bench: Bench, daemon: Product, reader: EventReader) -> None:
        self.bench = bench
        self.daemon = daemon
        self.reader = reader
        self.chance = bench.chooser()
        self.number = 0  # number of the next barcode
        self.lives = 1
        self.typed = self.lost = 0  # number of barcodes
        self.first = 0  # first barcode sent to the current daemon
        self.seen: Counter[str] = Counter()

    def send(self) -> None:
        """Sends a few barcodes. Those that are still in the peer's controller when the link ends are never sent."""
        if self.bench.peer.connection is None:
            return
        count = self.chance.randint(1, 12)
        self.bench.peer.burst(ean13(self.number + place) for place in range(count))
        self.number += count

    async def settled(self) -> None:
        """Waits until everything received is typed or counted, and checks that the reader has exactly the typed text."""
        answer = await until_status(self.bench, 60, "nothing waits", lambda answer: answer["counts"]["waiting"] == 0)
        counts = answer["counts"]
        await self.reader.until(counts["typed"], 20)
        self.judge(counts["typed"])
        expect(counts["received"] == sum(counts[part] for part in PARTS), f"the counts do not balance: {counts}")
        self.lost = max(self.lost, counts["received"] - counts["typed"])

    def judge(self, typed: int | None) -> None:
        """Checks that the reader has only complete barcodes that were sent, in order and without duplicates."""
        text = self.reader.text
        expect(typed in (None, len(text)), f"typed {typed} bytes, the reader has {len(text)}")
        whole, rest = divmod(len(text), LENGTH)
        expect(rest == 0 or typed is None, f"a part of a barcode: {text[-rest:]!r}")
        last = self.first - 1
        for place in range(whole):
            line = text[place * LENGTH : (place + 1) * LENGTH]
            number = int(line[2:12]) if line[2:12].isdigit() else -1
            expect(line == ean13(number), f"not a barcode that was sent: {line!r} behind number {last}")
            expect(last < number < self.number, f"number {number} comes behind {last}, of {self.number}")
            last = number

    async def back(self) -> None:
        await self.bench.peer.until_subscribed(RETURN)

    async def begin_anew(self) -> None:
        """Checks the text typed by the daemon that ended, and starts another daemon in its place."""
        self.judge(None)
        self.typed += len(self.reader.text) // LENGTH
        self.first = self.number
        self.lives += 1
        self.daemon = await start(self.bench, *FOREVER)
        self.reader = await EventReader.open(self.bench, self.daemon.node)

    # Faults.

    async def vanish(self) -> None:
        await self.bench.peer.vanish()
        await asyncio.sleep(self.chance.choice((0, 0, 2, 10)))
        await self.bench.peer.advertise()

    async def kill(self) -> None:
        await self.daemon.program.signal(signal.SIGKILL)
        expect(await self.daemon.program.wait(10) == -signal.SIGKILL, "it did not end by the signal")
        await self.bench.peer.until_alone(20)
        await self.begin_anew()

    async def restart(self) -> None:
        await self.daemon.end(signal.SIGTERM, 143)
        self.daemon.counts()
        await self.bench.peer.until_alone(20)
        await self.begin_anew()

    async def halt(self) -> None:
        await self.bench.guest.halt(self.daemon.program)
        self.send()
        await asyncio.sleep(self.chance.choice((1, 5)))
        await self.daemon.program.signal(signal.SIGCONT)

    async def replug(self) -> None:
        await self.bench.remove_controllers()
        await self.bench.add_controllers("linble")

    async def power(self) -> None:
        await self.bench.guest.run("btmgmt", "--index", "0", "power", "off")
        await forsaken(self.bench)

    async def kill_switch(self) -> None:
        await block(self.bench, True)
        await asyncio.sleep(self.chance.choice((0, 4)))
        await block(self.bench, False)
        await forsaken(self.bench)

    async def foreign_scan(self) -> None:
        await self.vanish()
        await self.bench.guest.run("rawscan", "0", check=False)

    async def clock(self) -> None:
        hours = self.chance.choice((-24, -1, 1, 24))
        await self.bench.guest.run("sh", "-c", f"date -s @$(($(date +%s) + {hours * 3600})) >/dev/null")

    async def reload(self) -> None:
        await self.daemon.program.signal(signal.SIGHUP)

    async def one(self) -> None:
        """Sends barcodes, causes a fault during or after them, and waits for the reconnection."""
        faults: list[Callable[[], Awaitable[None]]] = [
            self.vanish, self.kill, self.restart, self.halt, self.power, self.kill_switch, self.foreign_scan, self.clock, self.reload
        ]
        # Replugging is chosen less often, because new emulated controllers need a long time to start.
        faults += [self.replug] if self.chance.random() < 0.5 else []
        fault = self.chance.choice(faults)
        self.send()
        if self.chance.random() < 0.5:
            await self.settled()
        await fault()
        await self.back()
        self.send()
        await self.bench.peer.drained(60)
        await self.settled()
        self.seen[fault.__name__] += 1


@scenario("weather", deadline=LONG + 300, only_long=True, once=True)
async def weather(bench: Bench) -> None:
    """Random faults for a minute, with --long for an hour: no barcode is duplicated, joined, truncated or uncounted."""
    daemon, reader = await chosen(bench, *FOREVER)
    storm = Weather(bench, daemon, reader)
    clock = bench.clock()
    slowest = 0.0
    while clock() < (LONG if bench.long else SHORT):
        began = clock()
        await storm.one()
        slowest = max(slowest, clock() - began)
    files = await bench.guest.run("sh", "-c", f"ls /proc/{storm.daemon.program.pid}/fd | wc -l")
    answer = await status(bench)
    await storm.daemon.end(signal.SIGTERM, 143)
    storm.daemon.counts()
    storm.judge(None)
    storm.typed += len(storm.reader.text) // LENGTH
    kinds = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(storm.seen.items()))
    bench.note = (
        f"{storm.number} barcodes handed to the peer's stack, {storm.typed} typed in {storm.lives} lives; {kinds}; the slowest "
        f"round {slowest:.0f} s; {files.out.strip()} descriptors; adapter opened {answer['radio']['adapterOpened']} times"
    )
    await fresh(bench)
