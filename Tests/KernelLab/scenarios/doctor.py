# SPDX-License-Identifier: GPL-2.0-or-later
#
# The doctor on machines with exactly one fault each, which it must report, and nothing else.

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench import BINARY, Bench
from guest import Program
from peer import ean13
from product import Product
from scenarios import scenario
from scenarios.layouts import Layout, keymap
from waiting import expect

NOBODY = "65534"
HOME = "/run/lab/doctor"
SELECTION = f"{HOME}/state/blewedge/selection"
CONFIGURATION = f"{HOME}/config/blewedge.toml"
CHOICE = b'address = F0:F1:F2:F3:F4:F5\ntype = random\nname = "LINBLE-TEST"\n'
# Separate directories, so that the selected device of the machine or of another scenario has no effect.
ENVIRONMENT = (
    "env", f"HOME={HOME}", f"STATE_DIRECTORY={HOME}/state/blewedge", f"RUNTIME_DIRECTORY={HOME}/run",
    f"CONFIGURATION_DIRECTORY={HOME}/config",
)  # fmt: skip
CONSOLE = "/dev/tty1"
# KDSETMODE: 1 is KD_GRAPHICS, 0 is KD_TEXT.
SCREEN = "import fcntl, os, sys; fcntl.ioctl(os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY), 0x4B3A, int(sys.argv[2]))"
RIGHTS = "+net_admin,+net_raw"
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
WITH_RIGHTS = (*AS_NOBODY, f"--inh-caps={RIGHTS}", f"--ambient-caps={RIGHTS}")
BLUETOOTH = ("hci_vhci", "bluetooth")

class Patient:
    """A machine that is examined repeatedly, and the faults found so far."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.found: list[str] = []
        self.says_keys = False

    async def prepare(self) -> None:
        await self.shell(f"mkdir -p {HOME}/state/blewedge {HOME}/run {HOME}/config && chmod -R 755 {HOME}")
        await self.choose(CHOICE)

    async def choose(self, text: bytes) -> None:
        await self.bench.guest.write_file(SELECTION, text)

    async def shell(self, line: str) -> Program:
        return await self.bench.guest.run("sh", "-c", line)

    async def report(self, *arguments: str, before: tuple[str, ...] = ()) -> tuple[dict, int]:
        """Runs the doctor and returns its report and exit code."""
        program = await self.bench.guest.run(*before, *ENVIRONMENT, BINARY, "doctor", "--json", *arguments, check=False)
        expect(len(program.objects) == 1, f"the doctor printed no object{program.evidence()}")
        report = program.objects[0]
        expect(report["status"] == program.status, f"exit {program.status}, and in the object {report['status']}")
        return report, program.status or 0

    async def states(self, before: tuple[str, ...] = ()) -> dict[str, str]:
        """Returns the state of each kernel feature from the doctor's table."""
        report, _status = await self.report(before=before)
        for row in report["kernel"]:
            expect(("without" in row) == (row["state"] == "absent"), f"says too little, or too much: {row}")
        return {row["id"]: row["state"] for row in report["kernel"]}

    async def findings(self, *arguments: str, before: tuple[str, ...] = ()) -> tuple[list[str], int]:
        """Returns the doctor's findings without the notes, and its exit code."""
        report, status = await self.report(*arguments, before=before)
        notes = [finding["id"] for finding in report["findings"] if finding["severity"] == "note"]
        # With a daemon, a note lists the keys that its keyboard may press; `settled` checks it.
        self.says_keys = "keys-beyond-text" in notes
        notes = [note for note in notes if note != "keys-beyond-text"]
        expect(notes == [], f"notes {notes}, expected none")
        for finding in report["findings"]:
            expect(finding["what"] and finding["why"] and finding["remedy"], f"says too little: {finding}")
        return [finding["id"] for finding in report["findings"] if finding["severity"] != "note"], status

    async def finds(self, cause: str, status: int, *arguments: str, before: tuple[str, ...] = ()) -> None:
        found, code = await self.findings(*arguments, before=before)
        expect(found == [cause], f"made: {cause}; found: {found or 'nothing'}")
        expect(code == status, f"{cause}: exit {code} instead of {status}")
        self.found.append(cause)

    async def until_received(self, count: int) -> None:
        """Waits until the daemon has received this many bytes."""
        for _ in range(20):
            status = await self.bench.guest.run(*ENVIRONMENT, BINARY, "status", "--json")
            if status.objects[0]["counts"]["received"] >= count:
                return
        expect(False, f"the daemon has not received {count} bytes{status.evidence()}")

    @asynccontextmanager
    async def controllers(self, *options: str) -> AsyncIterator[None]:
        emulator = await self.bench.start_emulator(*options)
        await self.bench.monitor.until_ready(0)
        try:
            yield
        finally:
            await emulator.stop()
            gone = lambda: not self.bench.monitor.ready(0)  # noqa: E731
            await self.bench.monitor.program.until(gone, "the controller is gone", 10)

    @asynccontextmanager
    async def over(self, path: str, fake: str) -> AsyncIterator[None]:
        """Covers a read-only path in sysfs with something else."""
        await self.shell(f'mount --bind {fake} "$(readlink -f {path})"')
        try:
            yield
        finally:
            await self.shell(f'umount "$(readlink -f {path})"')

    @asynccontextmanager
    async def without(self, *modules: str) -> AsyncIterator[None]:
        """Removes modules from the kernel, and loads them again in reverse order."""
        for module in modules:
            await self.bench.guest.run("rmmod", module)
        try:
            yield
        finally:
            folder = self.bench.machine.vm.kernel.folder / "modules"
            for module in reversed(modules):
                await self.bench.guest.run("insmod", f"/run/host{folder}/{module}.ko")

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Lets another program take the first controller through its user channel."""
        _reader, writer = await asyncio.open_unix_connection(str(self.bench.machine.vm.hci_socket))
        relay = await self.bench.start("relay", "0", "lab.hci")
        await relay.until(lambda: "ready" in relay.out, "the relay owns the controller", 20)
        try:
            yield
        finally:
            writer.close()
            await relay.stop()


@scenario("doctor", peer="no adapter", deadline=240)
async def doctor(bench: Bench) -> None:
    """X-6: on a machine without a daemon, each cause of "nothing is typed" is reported when it occurs, and no other."""
    patient = Patient(bench)
    await patient.prepare()
    await patient.finds("no-adapter", 69)
    await serial_port(patient)
    async with patient.controllers("-l1"):
        # The only fault is that no daemon runs.
        await patient.finds("daemon-not-running", 69)
        await patient.finds("adapter-not-found", 69, "--adapter", "hci7")
        await radio_switches(patient)
        async with patient.taken():
            await patient.finds("adapter-taken", 69)
        await rights(patient)
        await choice(patient)
        async with patient.without("uinput"):
            await patient.finds("uinput-missing", 69)
    async with patient.controllers("-B", "-l1"):
        await patient.finds("adapter-without-low-energy", 69)
    # A program with a Bluetooth socket keeps the module in use.
    await bench.monitor.program.stop()
    async with patient.without(*BLUETOOTH):
        await patient.finds("kernel-without-bluetooth", 69)
    bench.note = f"{len(set(patient.found))} causes: {', '.join(sorted(set(patient.found)))}"


@scenario("doctor-kernel", peer="no adapter", deadline=120)
async def doctor_kernel(bench: Bench) -> None:
    """X-15: the doctor's table reports all features of a real kernel as present, except those that are removed or that it may not query."""
    patient = Patient(bench)
    await patient.prepare()
    features = vectors()
    release = numbers(bench.machine.vm.kernel.release)
    newer = {feature for feature, since in features.items() if since[0].isdigit() and numbers(since) > release}
    everything = {feature: "absent" if feature in newer else "present" for feature in features}
    same(await patient.states(), everything)
    async with patient.without("uinput"):
        same(await patient.states(), everything | {"uinput": "absent"})
    async with patient.without("evdev"):
        same(await patient.states(), everything | {"evdev": "absent"})
    # A user without permission to change an adapter cannot query these features, so their state is unknown.
    hidden = {feature: "unknown" for feature in features if feature.startswith("mgmt") or feature == "uinput"}
    same(await patient.states(AS_NOBODY), everything | hidden)
    await bench.monitor.program.stop()
    async with patient.without(*BLUETOOTH):
        sockets = {feature: "unknown" for feature in features if feature.startswith(("mgmt", "socket-", "packet-"))}
        same(await patient.states(), everything | sockets | {"bluetooth": "absent"})
    bench.note = f"{len(features)} rows, {len(newer)} of them newer than this kernel"


def vectors() -> dict[str, str]:
    """Returns the features, each with the kernel version or the build option that provides it."""
    text = (Path(__file__).parents[2] / "Vectors/kernel-features.txt").read_text()
    lines = [line.split(" ", 1) for line in text.splitlines() if line.startswith(("feature ", "since "))]
    return {feature: since for (_, feature), (_, since) in zip(lines[::2], lines[1::2], strict=True)}


def numbers(version: str) -> tuple[int, ...]:
    """Returns the first two numbers of a version."""
    return tuple(int(number) for number in re.findall("[0-9]+", version)[:2])


def same(found: dict[str, str], expected: dict[str, str]) -> None:
    wrong = {feature: (found.get(feature), state) for feature, state in expected.items() if found.get(feature) != state}
    expect(not wrong and len(found) == len(expected), f"found and expected: {wrong}")


async def serial_port(patient: Patient) -> None:
    """Tests a controller that the firmware describes on a UART, and that has no driver."""
    fake = f"{HOME}/serial/serial0-0"
    await patient.shell(f"mkdir -p {fake} && echo 'of:NbluetoothT(null)Cbrcm,bcm43438-bt' >{fake}/modalias")
    async with patient.over("/sys/bus/serial/devices", f"{HOME}/serial"):
        await patient.finds("uart-not-attached", 69)


async def radio_switches(patient: Patient) -> None:
    switch = "/sys/class/bluetooth/hci0/rfkill*"
    await patient.shell(f"echo 1 >$(echo {switch}/soft)")
    await patient.finds("rfkill-soft", 69)
    await patient.shell(f"echo 0 >$(echo {switch}/soft)")
    await patient.shell(f"echo 1 >{HOME}/one")
    async with patient.over(f"{switch}/hard", f"{HOME}/one"):
        await patient.finds("rfkill-hard", 69)


async def rights(patient: Patient) -> None:
    """Tests other users: one with the capabilities but not the device node, and one with the node but not the capabilities."""
    await patient.finds("uinput-not-permitted", 77, before=WITH_RIGHTS)
    await patient.shell("chmod 666 /dev/uinput")
    await patient.finds("capabilities-missing", 77, before=AS_NOBODY)
    await patient.shell("chmod 600 /dev/uinput")


async def choice(patient: Patient) -> None:
    await patient.shell(f"rm {SELECTION}")
    await patient.finds("nothing-selected", 78)
    await patient.choose(b"\xff\x00garbled")
    await patient.finds("selection-unreadable", 78)
    await patient.choose(CHOICE)
    await patient.bench.guest.write_file(CONFIGURATION, b'layuot = "us"\n')
    await patient.finds("configuration-wrong", 78)
    await patient.shell(f"rm {CONFIGURATION}")


@scenario("doctor-daemon", deadline=300, once=True)
async def doctor_daemon(bench: Bench) -> None:
    """X-6: nothing is found for a daemon that types; then each fault that stops or hinders it is reported, and no other."""
    patient = Patient(bench)
    await patient.prepare()
    product = await bench.product("run", "--json", before=ENVIRONMENT)
    await product.keyboard()
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    bench.peer.burst([b"\x01\x02\x03"])
    await patient.until_received(3)
    await patient.finds("all-discarded", 78)
    bench.peer.burst([ean13(1)])
    await settled(patient)
    await told(patient)
    await consoles(patient)
    await rival(patient)
    await settled(patient)
    async with patient.without("evdev"):
        await patient.finds("evdev-missing", 69)
    await bench.peer.vanish()
    await product.state("failed", 40)
    await patient.finds("device-not-reached", 69)
    await bench.peer.advertise()
    await product.state("connected", 40)
    await product.program.signal(signal.SIGSTOP)
    await patient.finds("daemon-silent", 69)
    await product.program.signal(signal.SIGCONT)
    await settled(patient)
    await product.end(signal.SIGTERM, 143)
    bench.note = f"{len(patient.found)} causes: {', '.join(sorted(patient.found))}"


async def settled(patient: Patient) -> None:
    """Waits until the doctor finds nothing."""
    for _ in range(20):
        found, code = await patient.findings()
        if not found:
            expect(code == 0, f"nothing found, and exit {code}")
            expect(patient.says_keys, "the doctor does not say that Escape and Ctrl are declared")
            return
    expect(False, f"still found: {found}")


async def told(patient: Patient) -> None:
    """Tests the findings about commands given to the daemon."""
    for command, cause, opposite in (
        ("pause", "paused", "resume"),
        ("disconnect", "disconnected-by-user", "connect"),
    ):
        await patient.bench.guest.run(*ENVIRONMENT, BINARY, command)
        await patient.finds(cause, 69)
        await patient.bench.guest.run(*ENVIRONMENT, BINARY, opposite)
        await settled(patient)


async def consoles(patient: Patient) -> None:
    """Tests the findings about the keyboard mode of the active terminal."""
    guest = patient.bench.guest
    await guest.run("chvt", "1")  # another scenario may have left another terminal active
    await guest.run("kbd_mode", "-k", "-C", CONSOLE)
    await patient.finds("console-ignores-keys", 78)
    await guest.run("kbd_mode", "-f", "-u", "-C", CONSOLE)
    await guest.run("/usr/bin/python3", "-c", SCREEN, CONSOLE, "1")
    await patient.finds("console-leaks-keys", 78)
    await guest.run("/usr/bin/python3", "-c", SCREEN, CONSOLE, "0")
    before = await guest.run("dumpkeys", "-C", CONSOLE)
    await guest.run("loadkeys", "-q", "-C", CONSOLE, "-", stdin=await keymap(Layout("de", "", "")))
    await patient.finds("layout-differs-from-console", 78)
    await guest.run("loadkeys", "-q", "-C", CONSOLE, "-", stdin=bytes(before.stdout))
    prompt = await patient.bench.start("agetty", "--noclear", "--nohostname", "tty1", "linux")
    await patient.finds("login-prompt-in-front", 78)
    await prompt.stop()
    await settled(patient)


async def rival(patient: Patient) -> None:
    """Tests bluetoothd running at the same time as the daemon."""
    await patient.shell("mkdir -p /run/dbus")
    bus = await patient.bench.start("dbus-daemon", "--system", "--nofork", "--nopidfile", "--print-address=1")
    await bus.until(lambda: "unix:" in bus.out, "the system's bus", 20)
    daemon = await patient.bench.start("/usr/libexec/bluetooth/bluetoothd", "--nodetach")
    await patient.finds("other-bluetooth-service", 69)
    await daemon.stop()
    await bus.stop()
