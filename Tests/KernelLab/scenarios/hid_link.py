# SPDX-License-Identifier: GPL-2.0-or-later
#
# HID keyboards as devices of the daemon: what they type after pairing, after each sleep, and before encryption.

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bumble.pairing import PairingDelegate

import console
from bench import BINARY, REPOSITORY, Bench, compare
from daemons import FOREVER, fresh, start, status, tell, until_status
from faultykernel import until_fault
from hidshapes import SHAPES
from keyboardpeer import KEYBOARD
from peer import ADDRESS, ean13
from product import PARTS, Product
from readers import EventReader, Terminal
from scenarios import scenario
from scenarios.hid_peer import pair_keyboard
from scenarios.pairing import Hands, hold
from waiting import LabError, expect

OTHERS = ("received", "shorter", "longer", "servicesChanged")  # counts of the reports that are no outcomes
KEPT = "/var/lib/blewedge/hid-devices"  # attributes and report maps of bonded keyboards

BARCODES, BARCODES_LONG = 50, 1000
AHEAD = 5  # barcodes that may be typed by the keyboard before they are on the terminal
RETURNS, RETURNS_LONG, CHUNK = 20, 1000, 50
FOLDER = REPOSITORY / ".build/hid-returns"
LENGTH = len(ean13(0))
STRANGERS_TEXT = b"rm -rf /\r"


def outcomes(answer: dict[str, Any]) -> dict[str, int]:
    """Returns the counts of reports by outcome, without those that are 0. Checks that their sum is exact."""
    counts: dict[str, int] = answer.get("keyReports") or {}
    found = {name: count for name, count in counts.items() if name not in OTHERS and count}
    expect(sum(found.values()) == counts.get("received", 0), f"the counts of reports do not balance: {counts}")
    return found


class Desk:
    """A daemon, and an application that its keyboard types into."""

    def __init__(self, bench: Bench, daemon: Product, application: Terminal | EventReader) -> None:
        self.bench = bench
        self.daemon = daemon
        self.application = application
        self.text = b""  # text that the application must have

    @classmethod
    async def open(cls, bench: Bench, is_on_terminal: bool = True) -> Desk:
        """Starts the daemon. Without a terminal, an event reader reads the keyboard, together with the program on the console."""
        daemon = await start(bench, *FOREVER)
        reader = await Terminal.open(bench) if is_on_terminal else await EventReader.open(bench, daemon.node, share=True)
        return cls(bench, daemon, reader)

    async def use(self) -> None:
        """Selects the keyboard, which is bonded, and waits until it may type."""
        await tell(self.bench, "use", KEYBOARD, "--yes")
        await self.bench.keyboard.until_subscribed(60)

    async def has(self, text: bytes, seconds: float = 30) -> None:
        """Waits until this text is typed, and checks that nothing else is."""
        self.text += text
        await self.application.until(len(self.text), seconds)
        compare(self.text, self.application.text)

    async def types(self, text: bytes) -> None:
        self.bench.keyboard.type(text)
        await self.has(text)

    async def settled(self) -> dict[str, Any]:
        """Waits until no byte waits, and returns the status. Checks that exactly the typed text is counted."""
        answer = await until_status(self.bench, 60, "nothing waits", lambda answer: answer["counts"]["waiting"] == 0)
        counts = answer["counts"]
        expect(counts["received"] == sum(counts[part] for part in PARTS), f"the counts do not balance: {counts}")
        expect(counts["typed"] == counts["received"] == len(self.text), f"{len(self.text)} bytes typed, counted: {counts}")
        compare(self.text, self.application.text)
        return answer

    async def ends(self) -> None:
        """Ends the daemon and the application, and records the figures."""
        await self.daemon.end(signal.SIGTERM, 143)
        if isinstance(self.application, Terminal):
            await self.application.close()
        compare(self.text, self.application.text)
        self.bench.account(len(self.text), len(self.application.text), self.daemon.counts())

    async def keyboard_sleeps(self) -> None:
        """Lets the keyboard sleep, and waits until the kernel listens for its return."""
        await self.bench.keyboard.sleep()
        await self.bench.monitor.program.until(lambda: self.bench.monitor.scanning, "the kernel waits for the keyboard", 60)


async def paired(bench: Bench, is_on_terminal: bool = True) -> Desk:
    """Pairs with the keyboard, starts the daemon and selects the keyboard."""
    await fresh(bench)
    await pair_keyboard(bench)
    desk = await Desk.open(bench, is_on_terminal)
    await desk.use()
    return desk


@scenario("hid-barcodes", peer="keyboard", deadline=300)
async def hid_barcodes(bench: Bench) -> None:
    """X-13: a paired HID scanner types 50 barcodes (with --long 1,000) into a terminal, byte for byte; each report is counted."""
    desk = await paired(bench)
    keyboard = bench.keyboard
    begun = keyboard.reports
    for number in range(BARCODES_LONG if bench.long else BARCODES):
        await desk.application.until((number - AHEAD) * LENGTH, 30)
        keyboard.type(ean13(number))
        desk.text += ean13(number)
    await desk.has(b"")
    answer = await desk.settled()
    counted = outcomes(answer)
    sent = keyboard.reports - begun
    expect(sum(counted.values()) == sent, f"{sent} reports sent, counted: {counted}")
    expect(answer["link"]["security"] == "encrypted", f"the link is {answer['link']}")
    await desk.ends()
    bench.note = f"{sent} reports: {counted}"
    await fresh(bench)


async def returns(desk: Desk, text: bytes) -> bool:
    """Wakes the keyboard, which types as soon as the link is encrypted and answers no request before the text has arrived.

    Returns true if the daemon answered the directed advertising.
    """
    keyboard = desk.bench.keyboard
    keyboard.hold_requests()
    is_directed = await keyboard.wake(text)
    await desk.has(text)
    early = keyboard.requests[: keyboard.requests_before_encryption]
    expect(not early, f"requests before the first key: {[pdu.hex() for pdu in early]}")
    expect(not keyboard.unsent, "the keyboard has no subscription")
    keyboard.answer_requests()
    return is_directed


async def return_often(desk: Desk, numbers: range) -> int:
    """Lets the keyboard sleep and return with a barcode, once for each number. Returns the number of directed returns."""
    directed = 0
    for number in numbers:
        await desk.keyboard_sleeps()
        directed += await returns(desk, ean13(number))
    return directed


@scenario("hid-returns", peer="keyboard", deadline=400)
async def hid_returns(bench: Bench) -> None:
    """X-13, D-40: a HID scanner returns from sleep 20 times and types before any request; without hid-devices, requests come first."""
    desk = await paired(bench)
    await desk.types(ean13(0))
    directed = await return_often(desk, range(1, RETURNS + 1))
    await desk.settled()
    await bench.keyboard.sleep()
    await desk.daemon.end(signal.SIGTERM, 143)

    # The attributes are saved: another daemon types the first barcode too.
    desk.daemon = await start(bench, *FOREVER)
    await bench.monitor.program.until(lambda: bench.monitor.scanning, "the kernel waits for the keyboard", 60)
    directed += await returns(desk, ean13(RETURNS + 1))
    await bench.keyboard.sleep()
    await desk.daemon.end(signal.SIGTERM, 143)

    # Negative control: without the file, the daemon must ask for the attributes first.
    await bench.guest.run("rm", KEPT)
    desk.daemon = await start(bench, *FOREVER)
    keyboard = bench.keyboard
    await bench.monitor.program.until(lambda: bench.monitor.scanning, "the kernel waits for the keyboard", 60)
    keyboard.hold_requests()
    await keyboard.wake(ean13(RETURNS + 2))
    await keyboard.until(lambda: keyboard.is_encrypted and keyboard.requests, "the daemon asks for the attributes", 30)
    compare(desk.text, desk.application.text)
    keyboard.answer_requests()
    # The reports that came too soon are lost or typed late, but the next barcode is typed in any case.
    await until_status(bench, 30, "the keyboard is connected", lambda answer: answer["state"] == "connected")
    keyboard.type(ean13(RETURNS + 3))
    while not desk.application.text.endswith(ean13(RETURNS + 3)):
        await desk.application.until(len(desk.application.text) + 1, 30)
    late = desk.application.text[len(desk.text) : -LENGTH]
    expect(late in (b"", ean13(RETURNS + 2)), f"a part of a barcode was typed: {late!r}")
    desk.text = desk.application.text
    await desk.ends()
    late_or_lost = "typed late" if late else "lost"
    bench.note = f"{RETURNS + 1} returns, {directed} by directed advertising; without the file, a barcode is {late_or_lost}"
    await fresh(bench)


class Progress:
    """Number of returns that an earlier run has checked, with the same product and kernel."""

    def __init__(self, bench: Bench) -> None:
        kernel = bench.machine.vm.kernel
        digest = hashlib.sha256(bench.machine.binary.read_bytes() + kernel.package.encode()).hexdigest()
        self._path: Path = FOLDER / f"{kernel.name}-{digest[:16]}.json"
        saved = json.loads(self._path.read_text()) if self._path.exists() else {}
        self.done: int = saved.get("done", 0)
        self.directed: int = saved.get("directed", 0)

    def add(self, count: int, directed: int) -> None:
        self.done += count
        self.directed += directed
        FOLDER.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps({"done": self.done, "directed": self.directed}) + "\n")
        new.rename(self._path)


@scenario("hid-returns-long", peer="keyboard", deadline=7200, only_long=True, kernels=("6.1", "6.12"))
async def hid_returns_long(bench: Bench) -> None:
    """As hid-returns, 1,000 times; continues where an earlier run stopped."""
    progress = Progress(bench)
    desk = await paired(bench)
    while progress.done < RETURNS_LONG:
        count = min(CHUNK, RETURNS_LONG - progress.done)
        directed = await return_often(desk, range(progress.done, progress.done + count))
        await desk.settled()
        progress.add(count, directed)
    await desk.ends()
    bench.note = f"{progress.done} returns, {progress.directed} by directed advertising"
    await fresh(bench)


@scenario("hid-shapes", peer="keyboard", deadline=900, once=True)
async def hid_shapes(bench: Bench) -> None:
    """X-13: seven unusual HID keyboards type after pairing and after a sleep; a mouse is refused by name."""
    await fresh(bench)
    desk = await Desk.open(bench)
    keyboard = bench.keyboard
    number = 0
    shapes = [shape for shape in SHAPES.values() if shape.keys is not None]
    for shape in shapes:
        await keyboard.become(shape)
        try:
            await pair_keyboard(bench)
            await desk.use()
            await desk.types(ean13(number))
            await desk.keyboard_sleeps()
            await returns(desk, ean13(number + 1))
        except LabError as error:
            raise LabError(f"{shape.name}: {error}") from error
        number += 2
        await tell(bench, "forget")
        await tell(bench, "forget", ADDRESS)
        await keyboard.until_alone()
    await desk.settled()

    # The advertisement of the mouse determines whether a command or the daemon refuses it.
    await keyboard.become(SHAPES["mouse"])
    hold(bench, Hands(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT))
    commands = ("pair", KEYBOARD, "--console", "none"), ("use", KEYBOARD, "--yes")
    programs = [await bench.guest.run(BINARY, *command, check=False, seconds=60) for command in commands]
    if not any("mouse" in program.out + program.err for program in programs):
        await until_status(bench, 60, "the mouse is refused", lambda answer: "mouse" in (answer.get("reason") or ""))
    await desk.settled()
    await desk.ends()
    bench.note = f"{', '.join(shape.name for shape in shapes)}: {number} barcodes"
    await fresh(bench)


@scenario("hid-clear", peer="keyboard", deadline=240, once=True)
async def hid_clear(bench: Bench) -> None:
    """X-13, X-8, D-41: a device with a HID scanner's address but no key types nothing; nor does a report before encryption."""
    desk = await paired(bench)
    keyboard = bench.keyboard
    await desk.types(ean13(0))

    # A stranger with the address of the keyboard, which sends reports in clear as soon as the link is up.
    await desk.keyboard_sleeps()
    kept = await keyboard.device.keystore.get_all()  # type: ignore[union-attr]
    await keyboard.lose_bonds()
    before = keyboard.connections
    keyboard.types_when_connected = STRANGERS_TEXT
    await keyboard.wake(STRANGERS_TEXT)
    await keyboard.until(lambda: keyboard.connections > before and keyboard.connection is None, "the stranger's link ends", 60)
    refused = lambda answer: "could not be verified" in (answer.get("reason") or "")  # noqa: E731
    await until_status(bench, 40, "the stranger is refused", refused)
    compare(desk.text, desk.application.text)

    # The keyboard itself, one key of which comes in clear.
    await keyboard.sleep()
    keyboard.types_when_encrypted = b""
    for name, keys in kept:
        await keyboard.device.keystore.update(name, keys)  # type: ignore[union-attr]
    await keyboard.advertise()
    await keyboard.until_subscribed(60)
    await desk.types(ean13(1))
    await desk.keyboard_sleeps()
    counted = (await status(bench))["counts"]["refused"]
    sent = keyboard.reports
    keyboard.types_when_connected = b"1"
    await keyboard.wake(ean13(2))
    await desk.has(ean13(2))
    answer = await desk.settled()
    found = answer["counts"]["refused"] - counted
    in_clear = keyboard.reports - sent - 2 * LENGTH
    expect(found == in_clear == 2, f"{in_clear} reports in clear, counted: {answer['counts']}")
    await desk.ends()
    bench.note = f"{before} links of the keyboard, {found} reports in clear counted"
    await fresh(bench)


@scenario("hid-keyless", peer="keyboard", deadline=240, only_long=True, kernels=("6.1", "6.1.192"))
async def hid_keyless(bench: Bench) -> None:
    """A device with a HID scanner's address but no key, which disconnects at once, types nothing; a kernel with the fault crashes."""
    desk = await paired(bench)
    keyboard = bench.keyboard
    await desk.types(ean13(0))
    await desk.keyboard_sleeps()
    await keyboard.lose_bonds()
    ends: list[asyncio.Task[None]] = []
    # Disconnect before the keyboard has sent a packet, which triggers the fault.
    keyboard.device.on("connection", lambda link: ends.append(asyncio.ensure_future(link.disconnect())))
    await keyboard.advertise()
    if bench.machine.vm.kernel.is_faulty:
        bench.kernel_fault = await until_fault(bench, 60)
    else:
        refused = lambda answer: "ended the connection" in (answer.get("reason") or "")  # noqa: E731
        await until_status(bench, 60, "the stranger is refused", refused)
    expect(ends, "no link was made")
    compare(desk.text, desk.application.text)
    bench.note = f"{len(desk.text)} bytes typed for the key's owner, none else"
    if not bench.kernel_fault:
        await desk.ends()
        await fresh(bench)


async def returns_during(desk: Desk, number: int, begins: Callable[[], Awaitable[object]]) -> None:
    """Checks that the keyboard returns while another use of the adapter goes on."""
    await desk.keyboard_sleeps()
    await begins()
    await desk.bench.keyboard.wake(ean13(number))
    await desk.has(ean13(number), 60)


@scenario("hid-scans", peer="keyboard", deadline=400, once=True)
async def hid_scans(bench: Bench) -> None:
    """X-13: a HID scanner returns and types while `scan`, `doctor` and the pages run."""
    desk = await paired(bench, is_on_terminal=False)
    await desk.types(ean13(0))

    scan = await bench.product("scan", "--json", "--seconds", "120")
    active = lambda: any(scan["on"] and scan["active"] for scan in bench.monitor.events("scan")[-1:])  # noqa: E731
    await returns_during(desk, 1, lambda: bench.monitor.program.until(active, "the scan is on", 20))
    expect(scan.program.status is None, f"the scan ended before{scan.program.evidence()}")
    await scan.end(signal.SIGINT, -signal.SIGINT)

    doctors = await bench.start("sh", "-c", f"while :; do {BINARY} doctor --json; done")
    await returns_during(desk, 2, lambda: doctors.until(lambda: doctors.objects, "the doctor ends", 40))
    await doctors.signal(signal.SIGTERM)
    await doctors.wait(20)

    hands = await console.Hands.open(bench)
    screen = await console.Console.open(bench, BINARY, "tui")
    await returns_during(desk, 3, lambda: screen.until("F1 Devices", seconds=60))
    await hands.press("F10")
    await screen.ended(hands, 0)
    await desk.settled()
    await desk.ends()
    bench.note = "three barcodes"
    await fresh(bench)
