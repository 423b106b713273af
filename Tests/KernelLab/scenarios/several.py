# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several devices in one daemon, on one controller: Bumble's controllers and hosts on one radio.

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

from bench import Bench
from controllers import VARIANTS
from daemons import CONFIGURATION, fresh, start, status, until_status, write
from peer import ADDRESS, NAME, Peer, ean13
from readers import EventReader
from scenarios import scenario
from scenarios.values import REMOVED, STABLE, Scale, kilograms
from waiting import expect

SCANNERS = 7
BARCODES, BARCODES_LONG = 20, 200
RETURNS, RETURNS_LONG = 5, 200
AHEAD = 3  # barcodes of a scanner that may be on the way to the reader
FIRST_WEIGHT = 10000  # unit: 5 g
SCALE, SCALE_ADDRESS = "SCALE-8", "F0:F1:F2:F3:F4:08"
PATIENCE = 120


def name(number: int) -> str:
    return f"scanner{number}"


def barcode(scanner: int, number: int) -> bytes:
    """Returns a barcode that contains the numbers of its scanner and of itself."""
    return ean13(scanner * 1_000_000 + number)


def tables() -> str:
    """Returns the configuration of the scanners and the scale."""
    names = [NAME] + [f"SCANNER-{number}" for number in range(1, SCANNERS)]
    text = ""
    for number, device in enumerate(names):
        text += f'[[device]]\nname = "{name(number)}"\ndevice = "{device}"\nsecurity = "none"\n'
    return text + f'[[device]]\nname = "scale"\ndevice = "{SCALE}"\nsecurity = "none"\nprofile = "xiaomi-scale"\n'


def states(answer: dict[str, Any]) -> dict[str, str]:
    return {device["name"]: device["state"] for device in answer["devices"]}


async def together(*parts: Coroutine[Any, Any, None]) -> None:
    """Runs the parts at the same time. Raises the first error, and cancels the other parts."""
    try:
        async with asyncio.TaskGroup() as tasks:
            for part in parts:
                tasks.create_task(part)
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


class Counter:
    """Eight devices, the daemon, and an application that reads its keyboard."""

    def __init__(self, scanners: list[Peer], scale: Scale | None, reader: EventReader) -> None:
        self.scanners = scanners
        self.scale = scale
        self.reader = reader

    def lines(self, scanner: int) -> list[bytes]:
        """Returns the complete lines of this scanner, in their order."""
        start = barcode(scanner, 0)[:6]
        return [line for line in self.reader.text.split(b"\r")[:-1] if line.startswith(start)]

    async def scan(self, scanner: int, count: int) -> None:
        """Sends the barcodes of a scanner, and waits until they are typed."""
        for number in range(count):
            await self.typed(scanner, number - AHEAD)
            self.scanners[scanner].burst([barcode(scanner, number)])
        await self.typed(scanner, count)

    async def typed(self, scanner: int, count: int) -> None:
        """Waits until this number of barcodes of a scanner is typed."""
        program = self.reader.program
        await program.until(lambda: len(self.lines(scanner)) >= count, f"barcode {count} of scanner {scanner}", PATIENCE)

    async def weigh(self, count: int) -> None:
        """Weighs with the scale, and waits for each weight."""
        assert self.scale is not None
        for number in range(count):
            self.scale.weigh()
            text = kilograms(FIRST_WEIGHT + number)
            await self.scale.advertise(STABLE, FIRST_WEIGHT + number)
            await self.reader.program.until(lambda text=text: b"\r" + text in b"\r" + self.reader.text, f"weight {number}", PATIENCE)
            await self.scale.advertise(REMOVED, FIRST_WEIGHT + number)


@scenario("several-devices", peer="no adapter", deadline=420)
async def several_devices(bench: Bench) -> None:
    """X-14, D-42: seven scanners and a scale without a connection type on one keyboard: no line is cut or mixed, each count exact."""
    expect(await bench.add_foreign(VARIANTS["le-only"]), "the kernel gives the controller up")
    scanners = [bench.peer]
    for number in range(1, SCANNERS):
        scanners.append(await bench.add_to_radio(f"SCANNER-{number}", f"F0:F1:F2:F3:F4:0{number}"))
    scale = Scale(await bench.add_to_radio(SCALE, SCALE_ADDRESS))
    await scale.advertise(REMOVED, 0)
    await fresh(bench)
    await write(bench, CONFIGURATION, tables())
    daemon = await start(bench, "--max-age", "0")
    counter = Counter(scanners, scale, await EventReader.open(bench, daemon.node))
    clock = bench.clock()
    await until_status(bench, PATIENCE, "eight links", lambda now: set(states(now).values()) == {"connected"})
    connected = clock()
    count = BARCODES_LONG if bench.long else BARCODES
    await together(*(counter.scan(number, count) for number in range(SCANNERS)), counter.weigh(count // 4))
    typed = clock() - connected

    expected = {name(number): [barcode(number, n)[:-1] for n in range(count)] for number in range(SCANNERS)}
    lines = counter.reader.text.split(b"\r")
    for number in range(SCANNERS):
        expect(counter.lines(number) == expected[name(number)], f"scanner {number}: {counter.lines(number)}")
    weights = [kilograms(FIRST_WEIGHT + number)[:-1] for number in range(count // 4)]
    known = {line for own in expected.values() for line in own} | set(weights) | {b""}
    strange = [line for line in lines if line not in known]
    expect(not strange, f"lines that no device sent: {strange}")
    expect([line for line in lines if line in weights] == weights, "the weights are not typed once each, in their order")
    now = await status(bench)
    await daemon.end(signal.SIGTERM, 143)
    sent = arrived = 0
    total = {"discarded": 0}
    for device in now["devices"]:
        counts = daemon.counts(device["name"])
        own = expected.get(device["name"], weights)
        length = sum(len(line) + 1 for line in own)
        expect(counts["typed"] == counts["received"] == length, f"{device['name']} sent {length} bytes, counted: {counts}")
        expect(counts.get("turnsCut", 0) == 0, f"{device['name']}: turns were cut: {counts}")
        expect(device["links"]["ready"] == 1, f"{device['name']}: {device['links']}")
        sent, arrived = sent + length, arrived + counts["typed"]
    bench.account(sent, len(counter.reader.text), total)
    bench.note = f"8 devices connected in {connected:.1f} s, {SCANNERS * count} barcodes and {count // 4} weights in {typed:.1f} s"


@scenario("several-returns", peer="no adapter", deadline=300, once=True)
async def several_returns(bench: Bench) -> None:
    """X-14: a scanner with a keyboard of its own goes and returns 5 times (--long 200) while two others type: they lose nothing."""
    expect(await bench.add_foreign(VARIANTS["le-only"]), "the kernel gives the controller up")
    scanners = [bench.peer]
    for number in range(1, 3):
        scanners.append(await bench.add_to_radio(f"SCANNER-{number}", f"F0:F1:F2:F3:F4:0{number}"))
    names = [scanner.name for scanner in scanners]
    await fresh(bench)
    text = "".join(f'[[device]]\nname = "{name(n)}"\ndevice = "{device}"\nsecurity = "none"\n' for n, device in enumerate(names))
    await write(bench, CONFIGURATION, text + 'keyboard = "own"\n')
    daemon = await start(bench, "--max-age", "0")
    now = await until_status(bench, PATIENCE, "three links", lambda now: set(states(now).values()) == {"connected"})
    shared, other, own = [device["keyboard"] for device in now["devices"]]
    expect(shared == other != own, f"the keyboards are {shared}, {other} and {own}")
    kept = (await bench.guest.run("cat", f"/sys/class/input/{own.rsplit('/', 1)[1]}/device/name")).out.strip()
    expect(kept == f"blewedge keyboard {name(2)}", f"the own keyboard is named {kept!r}")
    counter = Counter(scanners, None, await EventReader.open(bench, shared))
    alone = Counter(scanners, None, await EventReader.open(bench, own))
    returns = RETURNS_LONG if bench.long else RETURNS
    sent = [0, 0, 0]
    is_over = asyncio.Event()

    async def types(scanner: int) -> None:
        while not is_over.is_set():
            scanners[scanner].burst([barcode(scanner, sent[scanner])])
            sent[scanner] += 1
            await counter.typed(scanner, sent[scanner])

    async def comes_and_goes() -> None:
        peer = scanners[2]
        for number in range(returns):
            await peer.vanish()
            await until_status(bench, PATIENCE, "the link ends", lambda now: states(now)[name(2)] != "connected")
            await peer.advertise()
            await peer.until_subscribed(PATIENCE)
            peer.burst([barcode(2, number)])
            sent[2] += 1
            await alone.typed(2, sent[2])
        is_over.set()

    clock = bench.clock()
    await together(types(0), types(1), comes_and_goes())
    passed = clock()
    for number, reader in [(0, counter), (1, counter), (2, alone)]:
        expected = [barcode(number, n)[:-1] for n in range(sent[number])]
        expect(reader.lines(number) == expected, f"scanner {number}: {reader.lines(number)}")
    expect(alone.lines(0) == alone.lines(1) == counter.lines(2) == [], "a line is on the keyboard of another device")
    now = await status(bench)
    ready = [device["links"]["ready"] for device in now["devices"]]
    expect(ready == [1, 1, returns + 1], f"links: {ready}")
    await daemon.end(signal.SIGTERM, 143)
    length = len(barcode(0, 0))
    for number in range(3):
        counts = daemon.counts(name(number))
        expect(counts["typed"] == counts["received"] == sent[number] * length, f"{name(number)}: {counts}")
    bench.account(sum(sent) * length, len(counter.reader.text) + len(alone.reader.text), {"discarded": 0})
    bench.note = f"{returns} returns in {passed:.1f} s, {sent[0]} and {sent[1]} barcodes of the others"
