#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The product on Debian's kernel for arm64, in an emulated machine. Tests/Release/arm --machine builds what it needs, and runs it."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / name) for name in ("KernelLab", "CrossBuild")]
sys.dont_write_bytecode = True

import disk  # noqa: E402
from archive import ArchiveError  # noqa: E402
from kernels import KernelError  # noqa: E402
from machine import LINE, SUITES, ARMMachine, Parts  # noqa: E402
from packages import Packages  # noqa: E402
from report import Report  # noqa: E402
from scans import BARCODES, PATIENCE, desk, types  # noqa: E402
from scenarios.doctor import same, vectors  # noqa: E402
from toolchain import TRIPLE, Toolchain  # noqa: E402
from vm import VMError  # noqa: E402
from waiting import LabError, expect  # noqa: E402

H4 = f"h4:{LINE}"
MACHINE = "the emulated ARM machine"
NOTHING_SELECTED = 78


async def shown(report: Report, what: str, doing: Awaitable[str]) -> None:
    """Runs a check, and prints its measurements or the cause of its failure."""
    try:
        note, good = await doing, True
    except (LabError, VMError) as error:
        note, good = str(error), False
    report.check(good, f"X-15: {what}")
    if note:
        print(f"      {note}", flush=True)


async def over_line(machine: ARMMachine, binary: str) -> str:
    """Tests the product as the host of the module."""
    async with desk(machine) as here:
        note = await types(here, binary, H4)
        expect(not here.radio.unknown(), f"commands that the module does not have: {here.radio.unknown()}")
        return note


async def over_kernel(machine: ARMMachine, binary: str) -> str:
    """Tests the product with the kernel as the host."""
    async with desk(machine) as here:
        return await types(here, binary, await here.attached())


async def doctor(machine: ARMMachine, binary: str) -> str:
    """Checks that the doctor reports only that no device is selected, and that the kernel has all features."""
    async with desk(machine) as here:
        await here.attached()
        done = await machine.guest.run(binary, "doctor", "--json", check=False, seconds=PATIENCE)
    expect(len(done.objects) == 1, f"the doctor printed {len(done.objects)} objects{done.evidence()}")
    said = done.objects[0]
    blocking = {finding["id"] for finding in said["findings"] if finding["severity"] == "blocks"}
    expect(blocking == {"nothing-selected"} and done.status == NOTHING_SELECTED, f"exit {done.status}: {said['findings']}")
    features = {row["id"]: row["state"] for row in said["kernel"]}
    same(features, dict.fromkeys(vectors(), "present"))
    return f"all {len(features)} rows of its table are there"


async def life(machine: ARMMachine, packages: Packages, report: Report) -> str:
    said = await packages.live(machine)
    # Indent the text, so that its totals are not mistaken for those of this script.
    print("\n".join(f"    {line}" for line in said.splitlines()), flush=True)
    report.take(said)
    expect(said.rstrip().endswith(" 0 failed"), "the life did not come to a good end")
    return ""


@asynccontextmanager
async def booted(machine: ARMMachine, report: Report) -> AsyncIterator[ARMMachine]:
    """Boots a machine, and checks at the end that its kernel reports no fault."""
    try:
        start = time.monotonic()
        await machine.boot()
        about = (await machine.guest.run("uname", "-srm")).out.strip()
        print(f"      {about}: booted in {time.monotonic() - start:.1f} s", flush=True)
        yield machine
        tainted = (await machine.guest.run("cat", "/proc/sys/kernel/tainted")).out.strip()
        report.check(tainted == "0", f"X-15: the kernel of {MACHINE} has nothing against it")
    finally:
        await machine.stop()


async def machine_runs(options: argparse.Namespace, report: Report, work: Path) -> None:
    cache = options.cache / "machine"
    cache.mkdir(exist_ok=True)
    tools = Toolchain(options.cache)
    compiler = ["clang", "-target", TRIPLE, "--sysroot", tools.sysroot(options.debian), "-static", "-fuse-ld=lld"]
    parts = Parts(options.debian, cache, tools.command(*compiler))
    start = time.monotonic()
    root = await disk.get(parts, cache, work / "logs/setup.log")
    print(f"      the disk of Debian {options.debian}: {time.monotonic() - start:.0f} s", flush=True)
    shared = work / "shared"
    shared.mkdir()
    for program in (options.linked, options.static):
        shutil.copy(program, shared)
    packages = Packages.build(work, shared, options.linked, [options.emulator, str(options.static)])

    linked, static = (f"/srv/{program.name}" for program in (options.linked, options.static))
    log = cache / "console.log"
    async with booted(ARMMachine(parts, root, shared, log), report) as machine:
        first, count = f"{MACHINE} types its first barcode", f"and {BARCODES} of {BARCODES}"
        await shown(report, f"{first} over H4, {count}", over_line(machine, linked))
        await shown(report, f"{first} over H4 by the static program, {count}", over_line(machine, static))
        await shown(report, f"{first} by the kernel's Bluetooth on a serial line, {count}", over_kernel(machine, linked))
        nothing = f"the doctor finds nothing wrong in {MACHINE} but that no device is selected"
        await shown(report, nothing, doctor(machine, linked))
        await shown(report, f"the arm64 package's life in {MACHINE}", life(machine, packages, report))
        await packages.install(machine)
        await shown(report, f"{first} over H4 by the package's program, {count}", over_line(machine, "/usr/bin/blewedge"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debian", choices=sorted(SUITES), default="12")
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER", help="Tests/Release/arm's")
    parser.add_argument("--emulator", required=True, metavar="PROGRAM", help="of single programs: qemu-aarch64")
    parser.add_argument("linked", type=Path)
    parser.add_argument("static", type=Path)
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory(prefix="blewedge-arm.") as work:
        try:
            asyncio.run(machine_runs(options, report, Path(work)))
        except (ArchiveError, KernelError) as error:
            print(f"arm: {error}", file=sys.stderr)
            return 69
        except (LabError, VMError) as error:
            report.check(False, f"X-15: {MACHINE} stands: {error}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
