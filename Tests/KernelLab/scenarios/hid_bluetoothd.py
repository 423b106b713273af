# SPDX-License-Identifier: GPL-2.0-or-later
#
# A second independent HID keyboard: an application of bluetoothd, in a machine of its own, whose kernel uses a controller on the
# radio of the machine of the product.

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import kernels
from bench import REPOSITORY, Bench, booted
from daemons import fresh, status, tell, until_status
from guest import Program
from hidshapes import PLAIN
from keyboardpeer import KEYBOARD
from peer import ean13
from scenarios import scenario
from scenarios.figures import bluetoothd
from scenarios.hid_link import AHEAD, BARCODES, BARCODES_LONG, LENGTH, Desk, outcomes
from scenarios.hid_peer import MAP_UUID, pair_by_name
from vm import Kind
from waiting import LabError, expect

SCRIPT = str(REPOSITORY / "Tests/KernelLab/hidservice.py")
# Kernel of the keyboard's machine, whatever the kernel under test. On 5.10, an advertisement of bluetoothd ends with the first
# link: to continue, the kernel first disables the advertising set, which the emulated controller refuses.
KERNEL = "6.12"
MEMORY = 768  # MB
AFTER_RETURN = 3  # barcodes


class Scanner:
    """The keyboard in its own machine (hidservice.py)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.reports = 0  # number of reports sent

    @classmethod
    async def open(cls, bench: Bench) -> Scanner:
        """Starts bluetoothd and its application, which advertises."""
        await bluetoothd(bench)
        report_map = PLAIN.services[0].report_map.hex()
        scanner = cls(await bench.start("/usr/bin/python3", "-B", SCRIPT, KEYBOARD, report_map))
        await scanner.until(lambda: scanner.has("registered", what="application"), "bluetoothd has the application", 60)
        await scanner.advertise()
        return scanner

    def events(self, event: str, **fields: object) -> list[dict[str, Any]]:
        return [o for o in self.program.objects if o["event"] == event and fields.items() <= o.items()]

    def has(self, event: str, **fields: object) -> bool:
        return bool(self.events(event, **fields))

    async def until(self, condition: Callable[[], object], what: str, seconds: float = 30) -> None:
        await self.program.until(lambda: condition() or self.has("error"), what, seconds)
        expect(not self.has("error"), f"{what}: {self.events('error')}")

    async def command(self, **words: object) -> None:
        await self.program.write(json.dumps(words).encode() + b"\n")

    async def advertise(self) -> None:
        before = len(self.events("registered", what="advertisement"))
        await self.command(advertise=True)
        await self.until(lambda: len(self.events("registered", what="advertisement")) > before, "the keyboard advertises")

    @property
    def is_connected(self) -> bool:
        changes = self.events("device", name="Connected")
        return bool(changes) and bool(changes[-1]["value"])

    async def wake(self) -> None:
        """Advertises, and waits until bluetoothd has read the attributes of the bonded central. By then the link is encrypted,
        and bluetoothd has kept the subscription, so the keyboard can type before any request of the product."""
        resolved = {"name": "ServicesResolved", "value": True}
        before = len(self.events("device", **resolved))
        await self.advertise()
        await self.until(lambda: len(self.events("device", **resolved)) > before, "the product connects", 60)

    async def until_alone(self) -> None:
        await self.until(lambda: not self.is_connected, "the link is closed")

    async def sleep(self) -> None:
        """Disconnects and does not advertise."""
        await self.command(advertise=False)
        await self.command(disconnect=True)
        await self.until_alone()

    async def until_subscribed(self) -> None:
        await self.until(lambda: self.has("notifying", on=True), "the product subscribes", 60)

    async def type(self, text: bytes) -> None:
        reports = [report.hex() for _, report in PLAIN.reports(text.decode())]
        await self.command(send=reports)
        self.reports += len(reports)
        await self.until(lambda: self.has("sent", reports=self.reports), "bluetoothd has the reports")


async def types(desk: Desk, scanner: Scanner, numbers: range) -> None:
    """Types barcodes, of which only a few wait in the queue of bluetoothd, which has no limit."""
    before = len(desk.text)
    try:
        for count, number in enumerate(numbers):
            await desk.application.until(before + (count - AHEAD) * LENGTH, 30)
            await scanner.type(ean13(number))
            desk.text += ean13(number)
        await desk.has(b"")
    except LabError as error:
        answer = await status(desk.bench)
        arrived = f"{scanner.reports} reports sent, arrived: {answer.get('keyReports')}"
        link = f"{answer['state']}, for bluetoothd {'connected' if scanner.is_connected else 'disconnected'}"
        raise LabError(f"{arrived}; the daemon is {link}: {error}") from error


@scenario("hid-bluetoothd", peer="", deadline=400, once=True)
async def hid_bluetoothd(bench: Bench) -> None:
    """X-13: bluetoothd as a HID scanner, on a machine of its own, types 50 barcodes (with --long 1,000), and 3 after a return."""
    await fresh(bench)
    kernel = await asyncio.to_thread(kernels.get, KERNEL, bench.machine.vm.kernel.folder.parents[1])
    async with booted(bench, "bluetoothd", Kind(memory=MEMORY), kernel=kernel) as other:
        await other.set_up("no adapter")
        await bench.lend_controller(other)
        scanner = await Scanner.open(other)
        refused = await bench.product("gatt", KEYBOARD, "--json", "read", MAP_UUID)
        await refused.exits(77, 60)
        await scanner.until_alone()
        bond = await pair_by_name(bench)
        expect(bond["security"] == "encrypted", f"the bond is {bond}")
        await scanner.until_alone()

        desk = await Desk.open(bench)
        await tell(bench, "use", KEYBOARD, "--yes")
        await scanner.until_subscribed()
        await until_status(bench, 60, "the keyboard is connected", lambda answer: answer["state"] == "connected")
        count = BARCODES_LONG if bench.long else BARCODES
        await types(desk, scanner, range(count))
        answer = await desk.settled()
        expect(answer["link"]["security"] == "encrypted", f"the link is {answer['link']}")

        await scanner.sleep()
        await until_status(bench, 60, "the keyboard is gone", lambda answer: answer["state"] != "connected")
        await bench.monitor.program.until(lambda: bench.monitor.scanning, "the kernel waits for the keyboard", 60)
        await scanner.wake()
        await types(desk, scanner, range(count, count + AFTER_RETURN))
        answer = await desk.settled()
        counted = outcomes(answer)
        expect(sum(counted.values()) == scanner.reports, f"{scanner.reports} reports sent, counted: {counted}")
        await desk.ends()
        bench.note = f"{count + AFTER_RETURN} barcodes, {scanner.reports} reports: {counted}"
    await fresh(bench)
