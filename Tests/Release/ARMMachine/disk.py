# SPDX-License-Identifier: GPL-2.0-or-later
#
# The disk of an emulated ARM machine: the smallest Debian for arm64 with what the packages' life wants (Tests/Release/Debian/roots.py).
# debootstrap downloads and unpacks it here; the machine itself, which is the first that can run its programs, sets it up.

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from archive import Archive, mirror
from machine import ARMMachine, Parts
from waiting import LabError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Debian"))

import roots  # noqa: E402

SIZE = "3G"  # of holes mostly
SECONDS = 3600  # that it may take to set itself up


async def get(parts: Parts, cache: Path, log: Path) -> Path:
    """The disk, made once."""
    release = parts.release
    recipe = hashlib.sha256(repr((release, roots.PACKAGES[release], roots.FETCHED)).encode() + Path(__file__).read_bytes())
    disk = cache / f"debian-{release}-{recipe.hexdigest()[:12]}.img"
    if not disk.exists():
        for older in cache.glob(f"debian-{release}-*.img"):
            older.unlink()
        scratch = cache / f"disk-{release}.new"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            made = _unpacked(release, scratch)
            await _set_up(parts, made, scratch / "share", log)
            made.rename(disk)
        finally:
            shutil.rmtree(scratch)
    return disk


def _unpacked(release: str, scratch: Path) -> Path:
    """The disk with debootstrap's first stage, the archive's lists, and in share/ the packages that are fetched beforehand."""
    suite, (address, _), root = roots.SUITES[release], mirror(), scratch / "root"
    packages = ",".join(roots.PACKAGES[release])
    options = ["--foreign", "--arch=arm64", "--variant=minbase", f"--include={packages}"]
    _run(*roots.SPACE, "debootstrap", *options, suite, root, address)
    for name in ("proc", "sys", "srv"):
        if (root / name).is_symlink():  # so in a container
            (root / name).unlink()
        (root / name).mkdir(exist_ok=True)
    (root / "etc/apt/sources.list").write_text(f"deb {address} {suite} main\n")
    archive = Archive(suite, scratch / "apt", ["arm64"])
    for path in (scratch / "apt/lists").iterdir():
        if path.is_file() and path.name != "lock":
            shutil.copy(path, root / "var/lib/apt/lists")
    share = scratch / "share"
    share.mkdir()
    for package in archive.closure(list(roots.FETCHED)):
        shutil.copy(package, share)
    disk = scratch / "disk"
    _run("mke2fs", "-q", "-t", "ext4", "-d", root, disk, SIZE)
    shutil.rmtree(root)
    return disk


async def _set_up(parts: Parts, disk: Path, share: Path, log: Path) -> None:
    machine = ARMMachine(parts, disk, share, log, is_kept=True)
    try:
        await machine.boot()
        run = machine.guest.run
        done = await run("/debootstrap/debootstrap", "--second-stage", seconds=SECONDS, check=False)
        if done.status != 0:
            raise LabError(f"Debian {parts.release} cannot set itself up: {(done.out + done.err)[-1000:]}")
        # What apt makes of its lists takes this processor a while.
        await run("sh", "-ec", "cp /srv/*.deb /var/cache/apt/archives/; apt-cache gencaches", seconds=300)
        await machine.halt()
    finally:
        await machine.stop()


def _run(*argv: str | Path) -> None:
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise LabError(f"{argv[0]}: {(done.stdout + done.stderr).strip()[-600:]}")
