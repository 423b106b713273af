# SPDX-License-Identifier: GPL-2.0-or-later
#
# A complete target: systemd is the first process, udev manages device nodes and permissions, and the product is a service
# installed by `setup`.

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench import BINARY, Bench, booted, compare
from daemons import CONFIGURATION, write
from peer import ADDRESS, ean13
from readers import EventReader
from scenarios import scenario
from scenarios.first_use import MOST, guide_commands
from vm import Kind
from waiting import LabError, expect

UNIT = "/etc/systemd/system/blewedge.service"
INSTALLED = "/usr/local/bin/blewedge"
# Time limits for a busy machine, where `systemctl daemon-reload` alone takes 18 s.
BOOT_SECONDS = 400
SETUP_SECONDS = 240
# Services of the build machine that a target may have, but that are not needed here.
MASKED = ("bluetooth", "systemd-timesyncd", "keyboard-setup", "console-setup")
# Stops one thread of a process with PTRACE_ATTACH and keeps it stopped, like a typist thread that hangs. The tracer must wait for
# the end of the thread (__WALL), or the process never ends.
STOP_THREAD = """
import ctypes, os, sys
process, name = int(sys.argv[1]), sys.argv[2]
for thread in os.listdir(f"/proc/{process}/task"):
    with open(f"/proc/{process}/task/{thread}/comm") as comm:
        if comm.read().strip() == name:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.ptrace(16, int(thread), None, None) != 0:
                sys.exit(f"ptrace: {os.strerror(ctypes.get_errno())}")
            os.waitpid(int(thread), 0x40000000)
            print("stopped", flush=True)
            os.waitpid(int(thread), 0x40000000)
            sys.exit()
sys.exit(f"no thread {name}")
"""


class Target:
    """A separate machine with systemd, and its commands."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.program = INSTALLED

    async def shell(self, line: str, seconds: float = 60, check: bool = True) -> str:
        try:
            program = await self.bench.guest.run("sh", "-c", line, seconds=seconds, check=check)
        except LabError as error:
            raise LabError(f"`{line}`: {error}") from None
        return program.out.strip()

    async def property(self, name: str) -> str:
        return await self.shell(f"systemctl show --value --property={name} blewedge.service")

    async def until(self, line: str, what: str, seconds: float) -> str:
        """Waits in the guest until a command succeeds, and returns its output."""
        loop = f"for i in $(seq {int(seconds * 5)}); do {line} && exit 0; sleep 0.2; done; exit 1"
        program = await self.bench.guest.run("sh", "-c", loop, seconds=seconds * 4, check=False)
        if program.status != 0:
            raise LabError(f"{what}: not within {seconds:g} s: {await self.journal()}")
        return program.out.strip()

    async def journal(self) -> str:
        return (await self.shell("journalctl -u blewedge -b --no-pager -o cat | tail -n 8", check=False))[-600:]

    async def until_connected(self, seconds: float) -> None:
        line = f"{self.program} status --json 2>/dev/null | grep -q '\"state\":\"connected\"'"
        await self.until(line, "the service is connected", seconds)

    async def node(self) -> str:
        """Returns the event node of the service's keyboard."""
        line = "grep -l '^blewedge' /sys/class/input/event*/device/name | tail -n 1"
        path = await self.until(f"{line} | grep .", "the service's keyboard", 20)
        return f"/dev/input/{path.split('/')[4]}"


@asynccontextmanager
async def target(bench: Bench) -> AsyncIterator[Target]:
    """Boots the machine. The scenario's first machine is paused meanwhile."""
    masks = " ".join(f"systemd.mask={name}.service" for name in MASKED)
    async with booted(bench, "target", Kind(append=f"systemd.unit=lab.target {masks}"), BOOT_SECONDS) as inner:
        yield Target(inner)


async def types(target: Target, numbers: range) -> int:
    """Sends barcodes from the peer, and checks that they arrive at a reader of the service's keyboard."""
    bench = target.bench
    reader = await EventReader.open(bench, await target.node(), share=True)
    await target.until_connected(60)
    await bench.peer.until_subscribed()
    scans = [ean13(number) for number in numbers]
    sent = bench.peer.burst(scans)
    await reader.until(sent, 20)
    compare(b"".join(scans), reader.text)
    await reader.program.stop()
    return sent


@scenario("systemd", peer="no adapter", deadline=1200, only_long=True)
async def systemd(bench: Bench) -> None:
    """D-6: on a target: `setup`, unit files, start by the adapter, typing, restart after a kill, watchdog, doctor, journal, `--remove`."""
    async with target(bench) as machine:
        first_steps = [words[1] for words in await guide_commands(machine.bench.guest, BINARY)]
        expect(first_steps == ["setup", "scan", "use"] and len(first_steps) <= MOST, f"the guide has {first_steps}")
        await set_up(machine)
        await machine.shell("systemctl stop blewedge", seconds=60)
        await machine.bench.set_up("no adapter")
        await machine.bench.add_controllers("linble")
        await machine.until("systemctl is-active --quiet blewedge", "the adapter starts the service", 60)
        await machine.shell(f"{INSTALLED} use {ADDRESS} --yes --security none")
        sent = await types(machine, range(3))
        node = await keyboard(machine)
        sent += await reloaded(machine)
        clock = bench.clock()
        sent += await killed(machine)
        back = clock()
        clock = bench.clock()
        sent += await hung(machine)
        restart = clock()
        sent += await unwatched(machine)
        found = await doctor_finds(machine)
        await tells_nothing(machine)
        await removed(machine)
        bench.figures = {"sent": sent, "typed": sent}
        bench.note = (
            f"{node}; types again {back:.0f} s after SIGKILL, {restart:.0f} s after its typist stopped; the doctor found {found}"
        )


async def set_up(machine: Target) -> None:
    """Checks that `setup` does exactly what it showed before, that a second `setup` does nothing, and that all files are
    complete."""
    shown = await machine.shell(f"{BINARY} setup --dry-run")
    expect("systemctl restart blewedge.service" in shown, f"setup shows {shown!r}")
    expect(await machine.shell(f"ls {UNIT} 2>/dev/null", check=False) == "", "--dry-run installed something")
    done = await machine.shell(f"{BINARY} setup", seconds=SETUP_SECONDS)
    expect(done == shown, f"setup did {done!r}, and had shown {shown!r}")
    expect(await machine.shell(f"{INSTALLED} setup") == "nothing to do", "setup has still to do what it did")
    await installed(machine)


async def removed(machine: Target) -> None:
    """Checks that `setup --remove` removes the service but not the selected device."""
    await machine.shell(f"{INSTALLED} setup --remove", seconds=SETUP_SECONDS)
    left = await machine.shell(f"ls {UNIT} /etc/*/blewedge.conf /etc/udev/rules.d/*blewedge* 2>/dev/null", check=False)
    expect(left == "", f"--remove left {left}")
    mode = await machine.shell("stat -c '%U %G %a' /dev/uinput")
    expect(mode == "root root 600", f"--remove left /dev/uinput to {mode}")
    expect(await machine.shell("systemctl is-active blewedge", check=False) == "inactive", "--remove left it running")
    expect(ADDRESS in await machine.shell("cat /var/lib/blewedge/selection"), "--remove took the choice away")
    expect(await machine.shell(f"{INSTALLED} setup --remove") == "nothing to do", "--remove has still to do what it did")


async def installed(machine: Target) -> None:
    """Checks that the unit file has no warnings, and that only the service's user can create keyboards."""
    expect(await machine.shell(f"systemd-analyze verify {UNIT} 2>&1") == "", "the unit has faults")
    mode = await machine.shell("stat -c '%U %G %a' /dev/uinput")
    expect(mode == "blewedge root 600", f"/dev/uinput is {mode}")
    # A user who may query the service's status cannot create a keyboard.
    reader = "setpriv --reuid=65534 --regid=65534 --groups=$(getent group blewedge | cut -d: -f3)"
    opened = await machine.shell(f"{reader} sh -c 'exec 3<>/dev/uinput' 2>/dev/null && echo yes || echo no")
    expect(opened == "no", "a member of the group can make a keyboard")
    owner = await machine.shell("stat -c %U /var/lib/blewedge")
    expect(owner == "blewedge", f"/var/lib/blewedge belongs to {owner}")


async def keyboard(machine: Target) -> str:
    """Checks the keyboard's udev properties: its own node, readable by the service, and classified as a keyboard."""
    node = await machine.node()
    owner = await machine.shell(f"stat -c '%U %G' {node}")
    expect(owner == "blewedge input", f"{node} belongs to {owner}")
    await is_udev_keyboard(machine, node, True)
    status = await machine.shell("grep -h -e ^Uid -e ^NoNewPrivs -e ^Seccomp: -e ^CapEff -e ^CapPrm /proc/$(pidof blewedge)/task/*/status")
    threads = status.splitlines()
    expect("Uid:\t0" not in status, "a thread runs as root")
    expect(all(line.split()[1] == "1" for line in threads if line.startswith("NoNewPrivs")), "new privileges are possible")
    expect(all(line.split()[1] == "2" for line in threads if line.startswith("Seccomp:")), "a thread without a filter")
    # CAP_NET_ADMIN is bit 12 and CAP_NET_RAW is bit 13. Both are permitted, but effective only during a call.
    rights = {name: {line.split()[1] for line in threads if line.startswith(name)} for name in ("CapPrm", "CapEff")}
    expect(rights == {"CapPrm": {f"{3 << 12:016x}"}, "CapEff": {f"{0:016x}"}}, f"capabilities {rights}")
    devices = (await machine.shell("ls /proc/$(pidof blewedge)/root/dev")).split()
    expect("uinput" in devices and "input" in devices, f"the service has {devices}")
    expect(not {"mem", "kmsg", "vhci", "port"} & set(devices), f"the service has {devices}")
    return f"{node} is the service's"


async def is_udev_keyboard(machine: Target, node: str, wanted: bool) -> None:
    """Checks udev's classification: always a device with keys, and a keyboard only if `wanted` is true."""
    properties = (await machine.shell(f"udevadm settle; udevadm info --query=property --name={node}")).splitlines()
    expect("ID_INPUT_KEY=1" in properties, f"udev says of the keyboard: {properties}")
    classes = {line.split("=")[0] for line in properties if line.startswith("ID_INPUT_")}
    expect(classes <= {"ID_INPUT_KEY", "ID_INPUT_KEYBOARD"}, f"udev calls it more than a keyboard: {properties}")
    expect(("ID_INPUT_KEYBOARD=1" in properties) == wanted, f"udev says of the keyboard, wanted {wanted}: {properties}")


async def reloaded(machine: Target) -> int:
    """Checks that `systemctl reload` keeps the process and creates a keyboard that udev does not classify as one, as configured;
    then reverts this."""
    process = await machine.property("MainPID")
    keyboards = "journalctl -u blewedge -b --no-pager -o cat | grep -c 'the keyboard is'"
    sent = 0
    for text, wanted in (("udev-keyboard = false\n", False), ("", True)):
        before = int(await machine.shell(keyboards))
        await write(machine.bench, CONFIGURATION, text)
        await machine.shell("systemctl reload blewedge", seconds=SETUP_SECONDS)
        await machine.until(f'test "$({keyboards})" -gt {before}', "another keyboard", 60)
        sent += await types(machine, range(10, 12))
        await is_udev_keyboard(machine, await machine.node(), wanted)
    await write(machine.bench, CONFIGURATION, "udev-keyboard = 1\n")
    await machine.shell("! systemctl reload blewedge", seconds=SETUP_SECONDS)
    await machine.shell(f"rm {CONFIGURATION}")
    expect(await machine.property("MainPID") == process, "reload made another process")
    await machine.until('test "$(systemctl show -P SubState blewedge)" = running', "the service is taken to run after reload", 30)
    return sent


async def killed(machine: Target) -> int:
    """Kills the daemon with SIGKILL. Checks that a new process starts with the same selected device and types."""
    before = await machine.property("MainPID")
    await machine.shell("systemctl kill --signal=KILL blewedge")
    await restarted(machine, before, 60)
    return await types(machine, range(3, 6))


async def stop_typist(machine: Target) -> str:
    """Stops the thread that types, and returns the daemon's process id."""
    process = await machine.property("MainPID")
    stopper = await machine.bench.start("/usr/bin/python3", "-c", STOP_THREAD, process, "typist")
    await stopper.until(lambda: "stopped" in stopper.out, "the typist is stopped", 60)
    return process


async def hung(machine: Target) -> int:
    """Checks that the watchdog ends a daemon whose typist hangs, and that the next daemon types."""
    before = await stop_typist(machine)
    await restarted(machine, before, 120)
    log = await machine.shell("journalctl -u blewedge -b --no-pager -o cat")
    expect("Watchdog timeout" in log, "it was not the watchdog that ended it")
    return await types(machine, range(6, 9))


async def unwatched(machine: Target) -> int:
    """Negative control without a watchdog: the daemon hangs until it is killed."""
    await machine.shell("systemctl service-watchdogs no")
    before = await stop_typist(machine)
    line = "journalctl -b --no-pager -o cat | grep -q 'Watchdog disabled'"
    await machine.until(line, "the manager would have ended the daemon", 120)
    expect(await machine.property("MainPID") == before, "a daemon that hangs is ended by something else than the watchdog")
    await machine.shell("systemctl service-watchdogs yes")
    await machine.shell("systemctl kill --signal=KILL blewedge")
    await restarted(machine, before, 60)
    return await types(machine, range(9, 12))


async def restarted(machine: Target, before: str, seconds: float) -> None:
    line = 'pid=$(systemctl show --value --property=MainPID blewedge) && test "$pid" != 0 && test "$pid" != ' + before
    await machine.until(f"{line} && systemctl is-active --quiet blewedge", "the service is back", seconds)


async def tells_nothing(machine: Target) -> None:
    """Checks that the journal contains the service's messages but no barcode, in any field of any entry."""
    begin = ean13(0).decode()[:10]
    journal = "journalctl -b --no-pager -o export"
    said = await machine.shell(f"{journal} -u blewedge | grep -a MESSAGE=")
    expect("connected to" in said, f"the journal has of the service: {said[-300:]}")
    found = await machine.shell(f"{journal} | grep -a -e {begin} -e {begin.encode().hex()}", check=False)
    expect(found == "", f"what was received stands in the journal: {found[:300]}")


async def doctor_finds(machine: Target) -> str:
    """Checks that the doctor reports only the keys that the service may press for an unpaired device. Returns the findings."""
    doctor = await machine.bench.guest.run(INSTALLED, "doctor", "--json", seconds=60)
    expect(len(doctor.objects) == 1, f"the doctor printed no object{doctor.evidence()}")
    found = [finding["id"] for finding in doctor.objects[0]["findings"]]
    expected = ["keys-beyond-text"]
    expect(found == expected, f"the doctor found {found}, expected {expected}")
    return ", ".join(found) or "nothing"
