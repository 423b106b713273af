# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Debian package on a target with systemd. Tests/Release/package --check tests the rest of its life cycle without systemd.

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from pathlib import Path

from bench import REPOSITORY, Bench
from peer import ADDRESS
from scenarios import scenario
from scenarios.systemd import SETUP_SECONDS, Target, restarted, target, types
from waiting import expect

PROGRAM = "/usr/bin/blewedge"
# Do not run triggers, which would index the manual pages of the build machine again.
DPKG = "DEBIAN_FRONTEND=noninteractive dpkg --no-triggers --force-unsafe-io"


def made(program: Path, folder: Path) -> Path:
    command = [REPOSITORY / "Tests/Release/package", "--program", program.resolve(), "--to", folder]
    said = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    return Path(said.strip())


@scenario("package", peer="no adapter", deadline=1800, only_long=True)
async def package(bench: Bench) -> None:
    """The package on a target: installation starts the service if there is an adapter, and it types; upgrade, removal, purge."""
    with tempfile.TemporaryDirectory(prefix="blewedge-package.") as folder:
        place = await asyncio.to_thread(made, bench.machine.binary, Path(folder))
        async with target(bench) as machine:
            machine.program = PROGRAM
            await machine.bench.set_up("no adapter")
            await machine.bench.add_controllers("linble")
            sent = await lives(machine, f"/run/host{place}")
            bench.figures = {"sent": sent, "typed": sent}
            bench.note = f"{place.name}: started by the adapter, typed before and after an upgrade, stopped by the removal"


async def lives(machine: Target, deb: str) -> int:
    # A build machine in a container has this file, which prevents packages from restarting or stopping services.
    await machine.shell("rm -f /usr/sbin/policy-rc.d")
    await machine.shell(f"{DPKG} --install {deb} 2>&1", seconds=SETUP_SECONDS)
    await machine.until("systemctl is-active --quiet blewedge", "the adapter that is there starts the service", 60)
    mode = await machine.shell("stat -c '%U %G %a' /dev/uinput")
    expect(mode == "blewedge root 600", f"/dev/uinput is {mode}")
    await machine.shell(f"{PROGRAM} use {ADDRESS} --yes --security none")
    sent = await types(machine, range(3))
    said = await machine.shell(f"{PROGRAM} setup 2>&1", seconds=SETUP_SECONDS)
    expect(said.splitlines()[0] == "nothing to do" and "the service was installed by a package" in said, f"setup says {said!r}")

    before = await machine.property("MainPID")
    await machine.shell(f"{DPKG} --install {deb} 2>&1", seconds=SETUP_SECONDS)
    await restarted(machine, before, 60)
    sent += await types(machine, range(3, 6))

    await machine.shell(f"{DPKG} --remove blewedge 2>&1", seconds=SETUP_SECONDS)
    expect(await machine.shell("systemctl is-active blewedge", check=False) == "inactive", "the removal left it running")
    mode = await machine.shell("stat -c '%U %G %a' /dev/uinput")
    expect(mode == "root root 600", f"the removal left /dev/uinput to {mode}")
    expect(ADDRESS in await machine.shell("cat /var/lib/blewedge/selection"), "the removal took the choice away")
    await machine.shell(f"{DPKG} --purge blewedge 2>&1", seconds=SETUP_SECONDS)
    left = await machine.shell("ls -d /var/lib/blewedge /etc/blewedge 2>/dev/null", check=False)
    expect(left == "", f"purging left {left}")
    return sent
