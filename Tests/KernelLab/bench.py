# SPDX-License-Identifier: GPL-2.0-or-later
#
# Environment of a scenario: new emulated controllers, the peer, the HCI monitor, and the product's binary. A machine (one boot)
# runs many scenarios. Each scenario gets a new bench, and so starts with unused controllers.

from __future__ import annotations

import json
import random
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import waiting
from bridge import PortEnd, bridge
from controllers import Radio, Variant
from guest import Guest, Program
from kernels import Kernel
from keyboardpeer import KeyboardPeer
from line import Line
from losses import Losses
from peer import Peer
from product import Product
from vm import VM, Kind
from waiting import LabError, expect

REPOSITORY = Path(__file__).resolve().parents[2]
BINARY = "/run/lab/blewedge"
TRACE = "/run/lab/monitor.btsnoop"
BDADDR = "/run/lab/bdaddr"
BOOT_SECONDS = 90
OPEN = ("--security", "none")  # nobody is there to confirm the use of an unpaired device
FOREIGN_SECONDS = 90  # time that the kernel needs to set up a controller with slow answers


class Machine:
    """A booted virtual machine with the product's binary installed."""

    def __init__(self, kernel: Kernel, tools: Path, logs: Path, kind: Kind = Kind()) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self.vm = VM(kernel, tools, logs / "console.log", kind)
        self.guest = Guest()
        self.binary = Path()

    async def boot(self, binary: Path, seconds: float = BOOT_SECONDS) -> None:
        self.binary = binary
        await self.vm.start()
        await self.guest.connect(self.vm.control_socket, seconds * waiting.patience)
        # Copy the binary: other users may not have access to the original, and it may change while the lab runs.
        await self.guest.run("install", "-m", "755", f"/run/host{binary.resolve()}", BINARY, seconds=60)
        # Mount the repository at its original path, even where the guest has a file system of its own there (/tmp).
        mount = 'mkdir -p "$1" && mount --bind "/run/host$1" "$1"'
        await self.guest.run("sh", "-c", mount, "sh", str(REPOSITORY))

    def beside(self, product: str) -> Path:
        """Returns the path of another program from the same build as the product. A program left over from an older build is an
        error."""
        path = self.binary.resolve().parent / product
        if not path.is_file():
            raise LabError(f"{path} is not built (Tests/Release/compact {product})")
        return path

    async def complaint(self) -> str:
        """Returns the kernel's error report about the scenario that just ran; empty if there is none."""
        tainted = (await self.guest.run("cat", "/proc/sys/kernel/tainted")).out.strip()
        return "" if tainted == "0" else f"the kernel is tainted ({tainted}), see console.log"

    async def standstill(self) -> str:
        """Returns an error if the machine no longer runs programs although its kernel reports no fault; empty otherwise.

        A kernel that locks up prints an error on its console. A kernel that QEMU stopped while it patched its own code prints
        nothing.
        """
        if not self.vm.alive or self.vm.console_text().strip():
            return ""
        try:
            await self.guest.run("true", seconds=20)
        except LabError:
            return "QEMU stopped the kernel (it runs nothing and reports nothing)"
        return ""

    async def stop(self) -> None:
        await self.guest.close()
        await self.vm.stop()


class Monitor:
    """The kernel's HCI monitor (hcimon.c)."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def events(self, event: str, index: int = 0) -> list[dict[str, Any]]:
        return [o for o in self.program.objects if o["event"] == event and o.get("index") == index]

    @property
    def scanning(self) -> bool:
        scans = self.events("scan")
        return bool(scans) and scans[-1]["on"]

    @property
    def scanned(self) -> bool:
        return any(scan["on"] for scan in self.events("scan"))

    @property
    def links(self) -> int:
        changes = self.events("link")
        return sum(1 if change["up"] else -1 for change in changes)

    def ready(self, index: int) -> bool:
        """Returns true if the controller exists and the kernel has set it up."""
        stages = ("added", "ready", "removed")
        life = [o["event"] for o in self.program.objects if o.get("index") == index and o["event"] in stages]
        return life[-1:] == ["ready"]

    def given_up(self, index: int) -> bool:
        """Returns true if the kernel closed the controller without ever having set it up."""
        return bool(self.events("closed", index)) and not self.events("ready", index)

    @property
    def numbers(self) -> set[int]:
        """Returns the numbers of the controllers that are ready."""
        return {o["index"] for o in self.program.objects if "index" in o and self.ready(o["index"])}

    async def until_ready(self, *indexes: int) -> None:
        await self.program.until(lambda: all(map(self.ready, indexes)), "the controllers appear", 10)

    async def until_quiet(self, seconds: float = 5) -> None:
        """Waits until the product's controller is neither scanning nor connected."""
        await self.program.until(lambda: not self.scanning, "the controller stops scanning", seconds)
        await self.program.until(lambda: self.links == 0, "the link is closed", seconds)

    async def last_link(self, up: bool) -> dict[str, Any]:
        """Waits until the last link event is a connection (`up`) or a disconnection, and returns it. The product may report the
        event before the monitor does."""

        def found() -> dict[str, Any] | None:
            changes = self.events("link")
            return changes[-1] if changes and changes[-1]["up"] == up else None

        return await self.program.until(found, f"the link is {'up' if up else 'down'}", 10)

    async def stats(self) -> dict[str, Any]:
        """Returns statistics about the notifications that arrived since the last call."""
        before = len(self.events("stats"))
        await self.program.signal(signal.SIGUSR1)
        await self.program.until(lambda: len(self.events("stats")) > before, "the monitor's figures", 10)
        return self.events("stats")[-1]


class Bench:
    """Environment of one scenario."""

    def __init__(self, machine: Machine, logs: Path, long: bool = False, losses: Losses | None = None) -> None:
        self.machine = machine
        self.machines = [machine]  # includes the machines that the scenario boots itself
        self.long = long  # measure for longer, and apply limits that only a quiet machine can meet
        self.guest = machine.guest
        self.logs = logs
        self.figures: dict[str, int] = {}
        self.note = ""
        self.losses = losses or Losses()
        self.keeps_addresses = False  # controllers keep their addresses when their numbers change (bdaddr.c)
        self.given_up = 0  # times that the kernel abandoned the emulated controllers before they were ready
        self.must_fail = ""  # for a negative control: the failure that the lab must detect after the scenario
        self.kernel_fault = ""  # a kernel fault caught by the scenario, and its remedy; the machine is unusable afterwards
        self.started = time.monotonic()
        self.barcodes: int | None = None  # number of barcodes, if given on the command line
        self.seed: int | None = None  # random seed from the command line, or drawn when the scenario first needs one
        self._is_random = False
        self._programs: list[Program] = []
        self._monitor: Monitor | None = None
        self._peer: Peer | None = None
        self._relay: Program | None = None
        self._end: Peer | Line | PortEnd | None = None  # host end of the relay's port
        self._radio: Radio | None = None
        self._folder: Path | None = None
        self._emulator: Program | None = None
        self._emulators: list[Program] = []
        self._products: list[Product] = []

    @property
    def monitor(self) -> Monitor:
        assert self._monitor is not None
        return self._monitor

    @property
    def peer(self) -> Peer:
        assert self._peer is not None
        return self._peer

    @property
    def keyboard(self) -> KeyboardPeer:
        assert isinstance(self._peer, KeyboardPeer)
        return self._peer

    @property
    def emulator(self) -> Program:
        assert self._emulator is not None
        return self._emulator

    @property
    def relay(self) -> Program:
        assert self._relay is not None
        return self._relay

    async def start(self, *argv: str) -> Program:
        """Starts a program that is stopped at the end of the scenario."""
        program = await self.guest.start(*argv)
        self._programs.append(program)
        return program

    async def forget(self) -> None:
        """Removes the selected device, all bonds and the configuration, so that the machine is as before its first use."""
        await self.guest.run("rm", "-rf", "/var/lib/blewedge", "/run/blewedge", "/etc/blewedge")

    async def set_up(self, peer: str) -> None:
        """Prepares the controllers and the peer.

        `peer` is "linble", "nordic", "other" (no serial service), "keyboard" (HID), "" (controllers only) or "no adapter".
        """
        # Remove all state, because any scenario may have run before this one.
        await self.forget()
        self._monitor = Monitor(await self.start("hcimon", TRACE))
        await self._monitor.program.until(lambda: self._monitor.program.objects, "the monitor opens", 20)
        if peer != "no adapter":
            await self.add_controllers(peer)

    async def add_controllers(self, peer: str, first: int = 0, count: int = 2) -> None:
        """Adds controllers, numbered from `first`, after "no adapter" or after they were removed. The peer uses the second
        one."""
        await self._controllers(first, count)
        if peer:
            await self.add_peer(peer, first + 1)

    async def add_peer(self, peer: str, number: int) -> None:
        """Starts the peer on the controller with this number."""
        socket = self.machine.vm.hci_socket
        self._peer = self._end = KeyboardPeer(socket) if peer == "keyboard" else Peer(socket, kind=peer)
        await self._peer.connect()
        relay = self._relay = await self.start("relay", str(number), "lab.hci")
        await relay.until(lambda: "ready" in relay.out, "the relay owns the peer's controller", 20)
        await self._peer.start()

    async def remove_controllers(self) -> None:
        """Removes both controllers, together with the peer. The monitor reports the removal of the product's controller."""
        await self.emulator.stop()
        await self.monitor.program.until(lambda: not self.monitor.numbers, "the controllers are gone", 10)
        if self._peer is not None:
            await self.relay.wait(10)
            await self._peer.close()
        self._peer = self._relay = self._end = None

    async def add_foreign(self, variant: Variant) -> bool:
        """Adds as hci0 a controller that is not BlueZ's, and the peer on its radio; requires "no adapter".

        Returns false, without a peer, if the kernel abandons the controller during setup.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="blewedge-lab.", dir="/tmp"))
        radio = self._radio = variant.radio(self._folder)
        line = self._end = Line(variant.manners())
        await radio.start()
        await radio.attach(line)
        await line.open(self.machine.vm.hci_socket)
        relay = self._relay = await self.start("relay", "vhci", "lab.hci")
        await relay.until(lambda: "ready" in relay.out, "the relay has a controller", 20)
        over = lambda: self.monitor.ready(0) or self.monitor.given_up(0)  # noqa: E731
        await self.monitor.program.until(over, "the kernel sets the controller up", FOREIGN_SECONDS)
        if not self.monitor.ready(0):
            return False
        self._peer = radio.peer()
        await self._peer.connect()
        await self._peer.start()
        return True

    async def add_to_radio(self, name: str, address: str) -> Peer:
        """Starts another peer on the radio of `add_foreign`."""
        assert self._radio is not None
        other = self._radio.peer()
        other.name, other.address = name, address
        await other.connect()
        await other.start()
        return other

    async def lend_controller(self, other: Bench) -> None:
        """Makes the second controller of this machine the only controller of another machine; requires controllers without a
        peer here, and "no adapter" there."""
        self._end, other._end = near, far = bridge()
        await near.open(self.machine.vm.hci_socket)
        await far.open(other.machine.vm.hci_socket)
        self._relay = await self.start("relay", "1", "lab.hci")
        await self._relay.until(lambda: "ready" in self.relay.out, "the relay owns the lent controller", 20)
        other._relay = await other.start("relay", "vhci", "lab.hci")
        await other.relay.until(lambda: "ready" in other.relay.out, "the relay has a controller", 20)
        is_ready = lambda: other.monitor.ready(0)  # noqa: E731
        await other.monitor.program.until(is_ready, "the other kernel sets the controller up", FOREIGN_SECONDS)

    def radio_complaint(self) -> str:
        """Returns an error if the kernel did something that the other controller does not allow; empty otherwise."""
        return self._radio.complaint() if self._radio is not None else ""

    async def _controllers(self, first: int, count: int) -> None:
        """Starts `count` controllers. On a very busy machine, the kernel may abandon a controller that does not answer in time;
        then this starts all of them again and counts the retry."""
        for _ in range(3):
            emulator = self._emulator = await self.start_emulator(f"-l{count}")
            try:
                return await self.monitor.until_ready(*range(first, first + count))
            except LabError as error:
                cause = error
                self.given_up += 1
                await emulator.stop()
        raise cause

    async def start_emulator(self, *options: str) -> Program:
        """Starts BlueZ's emulated controllers.

        In BlueZ 5.80 and later, if the timer of an advertising set expires during the command that stops the advertising, the
        emulator uses the timer after freeing it. With glibc's caches of freed memory turned off, the fields that it reads are
        still intact.
        """
        environment = ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0", f"LD_PRELOAD={BDADDR}"]
        program = await self.start("env", *environment[: 1 + self.keeps_addresses], "btvirt", *options)
        self._emulators.append(program)
        return program

    @property
    def emulator_fault(self) -> str:
        """Returns the signal that an emulator crashed with; empty if none crashed."""
        ends = [-emulator.status for emulator in self._emulators if emulator.status is not None and emulator.status < 0]
        crashes = [number for number in ends if number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)]
        return f"btvirt ended with {signal.Signals(crashes[0]).name}" if crashes else ""

    async def product(self, *arguments: str, before: tuple[str, ...] = ()) -> Product:
        """Runs the product with these arguments. `before` is a command that starts it."""
        product = Product(await self.start(*before, BINARY, *arguments))
        self._products.append(product)
        return product

    async def connected(self, *arguments: str) -> Product:
        """Starts `run` with the peer as its device, and waits until received bytes would be typed."""
        product = await self.run(*arguments)
        await product.state("connected", 30)
        await self.peer.until_subscribed()
        return product

    async def run(self, *arguments: str) -> Product:
        product = await self.product("run", "--json", "--device", "LINBLE-TEST", *OPEN, *arguments)
        await product.keyboard()
        return product

    def clock(self) -> Callable[[], float]:
        """Returns a function that returns the seconds since this call."""
        start = time.monotonic()
        return lambda: time.monotonic() - start

    async def keys(self, axes: int = 0, name: str = "lab keys") -> tuple[Program, str]:
        """Creates a virtual keyboard of the lab (keys.c) with this name and these relative axes, and returns its program and
        event node."""
        program = await self.start("keys", hex(axes), name)
        await program.until(lambda: program.objects, "the lab's keyboard", 20)
        return program, str(program.objects[0]["node"])

    def chooser(self) -> random.Random:
        """Returns a random generator. The scenario's line of output contains its seed, which `lab --seed` accepts to repeat the
        run."""
        self._is_random = True
        if self.seed is None:
            self.seed = random.SystemRandom().getrandbits(32)
        return random.Random(self.seed)

    def account(self, sent: int, arrived: int, counts: dict[str, int]) -> None:
        """Records the figures of the scenario. `lost` is the number of bytes that did not arrive at the reader and were not
        counted as discarded."""
        discarded = counts["discarded"]
        self.figures = {"sent": sent, "typed": arrived, "discarded": discarded, "lost": sent - arrived - discarded}

    def summary(self) -> str:
        """Returns the figures and the note for the scenario's line of output."""
        units = {"sent": " bytes"}
        figures = ", ".join(f"{what} {number}{units.get(what, '')}" for what, number in self.figures.items())
        seed = f"seed {self.seed}" if self._is_random else ""
        fault = self.kernel_fault and f"the kernel's own fault: {self.kernel_fault}"
        return "; ".join(part for part in (figures, self.note, fault, seed) if part)

    async def clean(self) -> None:
        """Stops the programs that the scenario started, in reverse order."""
        try:
            for program in reversed(self._programs):
                if self._end is not None and program is self._relay:
                    await self._part(self._relay, self._end)
                await program.stop()
            if self._radio is not None:
                await self._close_radio(self._radio)
        finally:
            for program in self._programs:
                self.losses.take(program)
            self.losses.add("lab.ctl", self.guest.lost)

    async def _close_radio(self, radio: Radio) -> None:
        if self._peer is not None:
            await self._peer.close()
        await radio.close()
        if self._folder is not None:
            shutil.rmtree(self._folder)

    async def _part(self, relay: Program, end: Peer | Line | PortEnd) -> None:
        """Closes the connection between a relay and the host end of its port, and counts the bytes that one end sent and the
        other did not receive."""

        def port() -> dict[str, int]:
            return next((o for o in reversed(relay.objects) if o.get("event") == "port"), {})

        await relay.signal(signal.SIGTERM)
        try:
            await relay.until(port, "the relay stops", 10)
            await end.until(lambda: end.received == port()["to_host"], "the host's end has all that was sent to it", 10)
            await relay.until(lambda: end.sent == port()["from_host"], "the relay has all that was sent to it", 10)
        except LabError:
            if port():  # otherwise the controller was removed, and the relay ended first
                lost = abs(port()["to_host"] - end.received) + abs(end.sent - port()["from_host"])
                self.losses.add("lab.hci", lost)
        await end.close()

    async def save(self) -> None:
        """Saves the logs and the output of all programs."""
        self.logs.mkdir(parents=True, exist_ok=True)
        for number, program in enumerate(self._programs):
            base = self.logs / f"{number}-{program.name}"
            base.with_suffix(".out").write_bytes(program.stdout)
            base.with_suffix(".err").write_bytes(program.stderr)
            base.with_suffix(".json").write_text(
                json.dumps({"argv": program.argv, "pid": program.pid, "status": program.status}) + "\n"
            )
        console = self.logs / "console.log"
        console.write_text(self.machine.vm.console_text())
        if not self.guest.gone:
            try:
                (self.logs / "monitor.btsnoop").write_bytes(await self.guest.read_file(TRACE))
            except LabError as error:
                (self.logs / "monitor.missing").write_text(f"{error}\n")


def compare(sent: bytes, arrived: bytes) -> None:
    """Compares the bytes one by one; the error describes the first difference."""
    if sent == arrived:
        return
    at = next((i for i, (a, b) in enumerate(zip(sent, arrived, strict=False)) if a != b), min(len(sent), len(arrived)))
    expect(
        False,
        f"sent {len(sent)} bytes, {len(arrived)} arrived, they differ from byte {at}: "
        f"{sent[at : at + 12]!r} was sent, {arrived[at : at + 12]!r} arrived",
    )


@asynccontextmanager
async def booted(
    bench: Bench,
    name: str,
    kind: Kind,
    seconds: float = BOOT_SECONDS,
    binary: Path | None = None,
    kernel: Kernel | None = None,
) -> AsyncIterator[Bench]:
    """Boots another machine for this scenario, with the same kernel unless another one is given. The scenario's first machine keeps
    running."""
    own, logs = bench.machine, bench.logs / name
    machine = Machine(kernel or own.vm.kernel, own.vm.tools, logs, kind)
    bench.machines.append(machine)
    try:
        await machine.boot(binary or own.binary, seconds)
        inner = Bench(machine, logs, bench.long, bench.losses)
        try:
            yield inner
            complaint = await machine.complaint()
            expect(not complaint, complaint)
        except LabError:
            await inner.save()
            raise
        finally:
            await inner.clean()
    finally:
        await machine.stop()
