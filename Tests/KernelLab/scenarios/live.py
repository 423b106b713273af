# SPDX-License-Identifier: GPL-2.0-or-later
#
# The live output of `scan`: a table that is redrawn, devices that disappear from it, and single advertisements.

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Callable
from typing import Any

from bench import BINARY, Bench
from daemons import CONFIGURATION, fresh, start, tell, write
from guest import Program
from peer import ADDRESS, NAME
from product import Product
from scenarios import scenario
from scenarios.daemon import OTHER_ADDRESS, OTHER_NAME, Disguise
from waiting import LabError, expect

CHOSEN = f"* {OTHER_NAME}"
SELECTION = f'address = {OTHER_ADDRESS}\ntype = random\nname = "{OTHER_NAME}"\n'
FRAME = re.compile(r"(?:\x1b\[\d+A\r\x1b\[J)?(NAME [^\x1b]*)")
# The table is redrawn every 2 s. On a busy machine it may be later, but never earlier.
SOONEST, LATEST = 1.9, 3.5
LIFETIME = 60
# A row of the selected device with the time when it was last heard.
HEARD = re.compile(rf"{OTHER_ADDRESS}\s+\S+\s+\d{{4}}/")


class Table:
    """A `scan` command on a terminal."""

    def __init__(self, bench: Bench, program: Program) -> None:
        self._clock = bench.clock()
        self._program = program
        self.times: list[float] = []  # time when each frame was seen to be complete

    @classmethod
    async def open(cls, bench: Bench, *arguments: str) -> Table:
        line = f"stty rows 24 cols 120; export TERM=linux LC_ALL=C.UTF-8; exec {BINARY} scan {' '.join(arguments)}"
        return cls(bench, await bench.start("script", "-qec", line, "/dev/null"))

    @property
    def frames(self) -> list[list[str]]:
        """Complete frames, that is, all but the last one. The terminal delivers a frame in parts."""
        found = FRAME.findall(self._program.out)[:-1]
        self.times += [self._clock()] * (len(found) - len(self.times))
        return [frame.split("\r\n")[1:-1] for frame in found]

    def rows(self) -> list[str]:
        """Returns the lines of the last frame, without the header."""
        return self.frames[-1] if self.frames else []

    def shows(self, *names: str) -> bool:
        """Returns true if the table shows exactly these devices in this order."""
        rows = self.rows()
        return len(rows) == len(names) and all(row.startswith(f"{name} ") for row, name in zip(rows, names, strict=True))

    async def until(self, holds: Callable[[], object], what: str, seconds: float = 20) -> None:
        """Waits until a condition is true for the last frame."""
        try:
            await self._program.until(lambda: self.rows() and holds(), what, seconds)
        except LabError as error:
            raise LabError(f"{error}; the last of {len(self.frames)} frames: {self.rows()}") from None

    def periods(self) -> list[float]:
        """Returns the intervals between frames, without the first, which includes the time to open an adapter."""
        return [later - earlier for earlier, later in zip(self.times[1:], self.times[2:], strict=False)]

    async def end(self) -> None:
        await self._program.write(b"\x03")
        await self._program.wait(20)


@scenario("scan-live", peer="no adapter", deadline=240, once=True)
async def live(bench: Bench) -> None:
    """LK-2, LK-3, LK-6: `scan` redraws every 2 s or as configured, removes devices after 60 s, keeps the selected one; with and without a daemon."""
    # The daemon uses the first controller. Add a third one for `scan`, so that both tables can be watched during the same 60 s.
    await bench.add_controllers("linble", count=3)
    await fresh(bench)
    await write(bench, CONFIGURATION, 'adapter = "hci0"\n')
    await write(bench, "/var/lib/blewedge/selection", SELECTION)
    daemon = await start(bench)
    await daemon.state("connecting", 20)
    clock = bench.clock()
    tables = {"scan": await Table.open(bench, "--adapter", "hci2"), "scan through the daemon": await Table.open(bench)}
    for table in tables.values():
        # The selected device is in the first row even before it is heard.
        await table.until(lambda table=table: table.shows(CHOSEN, NAME), "both devices")
        expect(re.search(rf"{OTHER_ADDRESS}\s+-\s+-", table.rows()[0]), f"heard before it was there: {table.rows()}")
    await Disguise(bench.peer).advertise(connectable=False)
    for table in tables.values():
        await table.until(lambda table=table: HEARD.search(table.rows()[0]), "the chosen one is heard")
    await bench.peer.device.stop_advertising()
    last = clock()

    async def watch(who: str, table: Table) -> str:
        await table.until(lambda: table.shows(CHOSEN), "the other device leaves", LIFETIME + 20)
        left = clock()
        expect(left > LIFETIME, f"{who}: it left after {left:.1f} s")
        # Longer than the time for which a device stays in the table.
        await table.until(lambda: clock() > last + LIFETIME + 6, "frames go on", 30)
        expect(table.shows(CHOSEN) and HEARD.search(table.rows()[0]), f"{who}: the chosen one left: {table.rows()}")
        periods = table.periods()
        expect(len(periods) > 15, f"{who}: {len(periods)} frames")
        usual = sorted(periods)[len(periods) // 2]
        expect(SOONEST <= usual <= LATEST, f"{who}: drawn every {usual:.2f} s")
        await table.end()
        return f"{who}: every {usual:.2f} s, the other left after {left:.1f} s"

    notes = await asyncio.gather(*(watch(*each) for each in tables.items()))
    # The configuration sets the interval, for this command and for the daemon.
    await write(bench, CONFIGURATION, 'adapter = "hci0"\n[scan]\nrefresh = "500ms"\n')
    for arguments in ("--adapter", "hci2"), ():
        table = await Table.open(bench, *arguments)
        await table.until(lambda table=table: len(table.periods()) > 6, "frames", 20)
        usual = sorted(table.periods())[len(table.periods()) // 2]
        expect(0.4 <= usual < SOONEST / 2, f"{arguments}: drawn every {usual:.2f} s instead of 0.5 s")
        await table.end()
        notes.append(f"every {usual:.2f} s as configured")
    bench.note = "; ".join(notes)
    await daemon.end(signal.SIGTERM, 143)
    await fresh(bench)


def said(product: Product) -> list[dict[str, Any]]:
    """Returns the lines about the peer, without the fields that differ in each report."""
    own = ("rssi", "lastHeard")
    return [{k: v for k, v in o.items() if k not in own} for o in product.program.objects if o.get("address") == ADDRESS]


async def once_more(bench: Bench) -> None:
    """Restarts advertising, because the emulated radio reports an advertiser only when it starts."""
    await bench.peer.device.stop_advertising()
    await bench.peer.advertise()


async def repeated(bench: Bench, product: Product, times: int) -> None:
    """Repeats the same advertisement `times` times, and checks that each produces a line."""
    for _ in range(times):
        before = len(said(product))
        await once_more(bench)
        await product.program.until(lambda before=before: len(said(product)) > before, "the same once more", 20)
    lines = said(product)
    expect(any(lines.count(line) >= times for line in lines), f"no line {times} times: {lines}")


@scenario("scan-duplicates", deadline=120)
async def duplicates(bench: Bench) -> None:
    """CB-3: `scan` reports each device once and again when its data changes; with --duplicates, it reports every advertisement."""
    product = await bench.product("scan", "--json", "--duplicates")
    await product.program.until(lambda: said(product), "the peer's first advertisement", 20)
    await repeated(bench, product, 5)
    await product.end(signal.SIGINT, 130)

    product = await bench.product("scan", "--json")
    await product.program.until(lambda: any("services" in line for line in said(product)), "name and service", 20)
    for _ in range(5):
        await once_more(bench)
    await bench.peer.device.stop_advertising()
    await bench.peer.advertise(manufacturer=b"\xff\xff\x01")
    await product.program.until(lambda: "manufacturerData" in said(product)[-1], "the changed data", 20)
    lines = said(product)
    expect(all(lines.count(line) == 1 for line in lines), f"a line twice: {lines}")
    await product.end(signal.SIGINT, 130)
    bench.note = f"{len(lines)} lines without duplicates"


@scenario("scan-daemon", deadline=120, once=True)
async def through_daemon(bench: Bench) -> None:
    """LK-3, LK-4, CB-3: the daemon's list has devices heard before; with `--once`, only those heard from now on; --duplicates works too."""
    await fresh(bench)
    daemon = await start(bench)
    await daemon.state("unselected", 20)
    once = ("scan", "--once", "--seconds", "2", "--json")
    expect(ADDRESS in await tell(bench, *once), "the peer is not listed")
    await bench.peer.device.stop_advertising()
    kept = await tell(bench, "scan", "--seconds", "2", "--json")
    expect(ADDRESS in kept, f"the list has forgotten who was heard a moment ago: {kept!r}")
    anew = await tell(bench, *once)
    expect(ADDRESS not in anew, f"listed though it is silent: {anew!r}")
    # The daemon reports only changes, so with --duplicates the command scans on its own.
    greedy = await bench.product("scan", "--json", "--duplicates")
    await repeated(bench, greedy, 3)
    await greedy.end(signal.SIGINT, 130)
    await daemon.end(signal.SIGTERM, 143)
