# SPDX-License-Identifier: GPL-2.0-or-later
#
# Targets without systemd: another init is the first process, and `setup` installs the product as a service of that init.

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench import BINARY, Bench, booted
from firstprocess import BUSYBOX, OPENRC, RUNIT, SYSVINIT, Init
from peer import ADDRESS, ean13
from scenarios import scenario
from scenarios.rights import privileges
from scenarios.systemd import INSTALLED, Target, types
from vm import Kind
from waiting import expect

BOOT_SECONDS = 120
SETUP_SECONDS = 60
# Prints the daemon's process id, but not those of its commands and of this search.
DAEMON = "pgrep -f '[b]lewedge run --user'"
# Files that remain after removal: those changed by adding the user, and the program.
STAYS = "^etc/(passwd|group|shadow|gshadow|sub[ug]id)-? |^etc/\\.pwd\\.lock|^usr/local/bin/blewedge "


@dataclass(frozen=True)
class Manager:
    """Commands of a service manager, and the expected results."""

    init: Init
    nodes: str  # what creates device nodes
    start: str  # starts the service after a stop
    reload: str
    keeper: str = "/run/blewedge-service.pid"  # file with the id of the process that restarts the keyboard
    rests: str = "pgrep -f '[s]leep 2147483647' >/dev/null"  # succeeds once nothing restarts the service automatically


SCRIPT = "/etc/init.d/blewedge"
SERVICE = "/etc/sv/blewedge"
MANAGERS = (
    Manager(OPENRC, "udev", "rc-service blewedge restart", "rc-service blewedge reload"),
    Manager(SYSVINIT, "udev", f"{SCRIPT} start", f"{SCRIPT} reload"),
    Manager(
        RUNIT, "the kernel", f"sv up {SERVICE}", f"sv hup {SERVICE}", "/run/lab/runsv.pid", f"sv status {SERVICE} | grep -q ^down"
    ),
    Manager(BUSYBOX, "mdev", f"{SCRIPT} start", f"{SCRIPT} reload"),
)


class Machine(Target):
    """A separate machine with another init."""

    async def journal(self) -> str:
        return (await self.shell("tail -n 12 /var/log/messages; ps -e", check=False))[-1500:]

    async def process(self) -> int:
        """Returns the daemon's process id."""
        return int(await self.until(DAEMON, "the daemon", 30))

    async def installed(self) -> str:
        """Returns the files that the machine has in addition to the host's, with their sizes and link targets."""
        find = "find etc usr '(' -type d -name '*blewedge*' -o ! -type d ! -type c ')' -printf '%p %s %l\\n'"
        line = f"cd /run/changes; {{ {find}; ls -d /run/openrc/started/blewedge 2>/dev/null; }} | grep -vE '{STAYS}' | sort"
        return await self.shell(line)


@asynccontextmanager
async def other(bench: Bench, init: Init) -> AsyncIterator[Machine]:
    """Boots the machine. The scenario's first machine is paused meanwhile."""
    tree = await asyncio.to_thread(init.tree, bench.machine.vm.kernel.folder.parents[1])
    async with booted(bench, init.name, Kind(append=f" lab.tree={tree} lab.init={init.program}"), BOOT_SECONDS) as inner:
        yield Machine(inner)


async def plays(bench: Bench, manager: Manager) -> None:
    async with other(bench, manager.init) as machine:
        first = (await machine.shell("cat /proc/1/comm; readlink /proc/1/exe")).split()
        expect(first[1].endswith(f"/{manager.init.manager}"), f"the first process is {first}")
        await machine.bench.set_up("linble")
        before = await machine.installed()
        await set_up(machine, before)
        if manager.nodes == "mdev":
            # mdev reads its configuration when it starts.
            await machine.shell("kill $(pidof mdev); mdev -d")
        await machine.shell(f"{INSTALLED} use {ADDRESS} --yes --security none")
        sent = await types(machine, range(3))
        threads = await privileges(machine.bench, await machine.process(), await machine.shell("id -u blewedge"))
        clock = bench.clock()
        sent += await killed(machine)
        back = clock()
        owner = await machine.shell(f"stat -c %U {await machine.node()}")
        expect(owner == ("root" if manager.nodes == "the kernel" else "blewedge"), f"the keyboard's node belongs to {owner}")
        await orphaned(machine, manager)
        sent += await stopped(machine, manager)
        await logged(machine)
        await removed(machine, before)
        bench.figures = {"sent": sent, "typed": sent}
        bench.note = f"{manager.init.manager} and {manager.nodes}; {threads} threads of the service's user; types again {back:.0f} s after SIGKILL"


async def set_up(machine: Machine, before: str) -> None:
    """Checks that `setup` does exactly what it showed before, that a second `setup` does nothing, and that only the service's
    user can create keyboards."""
    shown = await machine.shell(f"{BINARY} setup --dry-run")
    expect(await machine.installed() == before, "--dry-run installed something")
    done = await machine.shell(f"{BINARY} setup", seconds=SETUP_SECONDS)
    expect(done == shown, f"setup did {done!r}, and had shown {shown!r}")
    again = await machine.shell(f"{INSTALLED} setup")
    expect(again == "nothing to do", f"setup has still to do {again!r}")
    mode = await machine.shell("stat -c '%U %G %a' /dev/uinput")
    expect(mode == "blewedge root 600", f"/dev/uinput is {mode}")


async def killed(machine: Machine) -> int:
    """Kills the daemon with SIGKILL. Checks that a new process starts with the same selected device and types."""
    before = await machine.process()
    await machine.shell(f"kill -KILL {before}")
    await machine.until(f'pid=$({DAEMON}) && test "$pid" != {before}', "the service is back", 30)
    return await types(machine, range(3, 6))


async def orphaned(machine: Machine, manager: Manager) -> None:
    """Kills the process that restarts the keyboard. Checks that its successor ends the running keyboard and starts one again."""
    before = await machine.process()
    await machine.shell("pgrep -f '^runsv blewedge' >/run/lab/runsv.pid; true")
    await machine.shell(f"kill -KILL $(cat {manager.keeper})")
    await machine.until(f'pid=$({DAEMON}) && test "$pid" != {before} && test "$pid" -gt 0', "one keyboard, and a new one", 30)
    await machine.until_connected(60)


async def stopped(machine: Machine, manager: Manager) -> int:
    """Checks that a reload keeps the process, that `blewedge stop` does not count as a crash, and that the manager starts the
    service again on request."""
    before = await machine.process()
    await machine.shell(manager.reload)
    expect(await machine.process() == before, "reload made another process")
    await machine.shell(f"{INSTALLED} stop")
    await machine.until(manager.rests, "the manager lets it rest", 20)
    expect(await machine.shell("pidof blewedge", check=False) == "", "it runs although it was stopped")
    await machine.shell(manager.start, seconds=SETUP_SECONDS)
    return await types(machine, range(6, 8))


async def logged(machine: Machine) -> None:
    """Checks that the system log contains the messages of the service but no typed text."""
    said = await machine.shell("grep -a blewedge: /var/log/messages")
    expect("connected to" in said, f"the log has of the service: {said[-300:]}")
    expect(ean13(0).decode()[:10] not in said, f"what was received stands in the log: {said[-300:]}")


async def removed(machine: Machine, before: str) -> None:
    """Checks that `setup --remove` removes everything except the selected device."""
    await machine.shell(f"{INSTALLED} setup --remove", seconds=SETUP_SECONDS)
    left = set((await machine.installed()).splitlines()) ^ set(before.splitlines())
    expect(not left, f"--remove left, or took, {left}")
    expect(await machine.shell("pidof blewedge", check=False) == "", "--remove left it running")
    mode = await machine.shell("stat -c '%U %G %a' /dev/uinput")
    expect(mode == "root root 600", f"--remove left /dev/uinput to {mode}")
    expect(ADDRESS in await machine.shell("cat /var/lib/blewedge/selection"), "--remove took the choice away")
    again = await machine.shell(f"{INSTALLED} setup --remove")
    expect(again == "nothing to do", f"--remove has still to do {again!r}")


def register(manager: Manager) -> None:
    async def body(bench: Bench) -> None:
        await plays(bench, manager)

    what = f"{manager.init.name} is the first process, {manager.nodes} creates device nodes"
    body.__doc__ = f"X-15: {what}: `setup`, typing without root privileges, restart after a kill, stop, start, `--remove`."
    scenario(f"init-{manager.init.name}", peer="no adapter", deadline=400, once=True)(body)


for one in MANAGERS:
    register(one)
