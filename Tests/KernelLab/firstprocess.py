# SPDX-License-Identifier: GPL-2.0-or-later
#
# Machines with a first process other than systemd. The files of Debian's packages for an init are downloaded with apt from this
# machine's own mirror and unpacked into the cache, but never installed. The files of inits/, which start the lab's agent, are
# copied over them.

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import archive
import cached
from waiting import LabError

FILES = Path(__file__).resolve().parent / "inits"


@dataclass(frozen=True)
class Init:
    """One of Debian's init systems."""

    name: str
    program: str  # path of the first process
    packages: tuple[str, ...]
    manager: str  # program name of the first process that is expected to run

    def tree(self, cache: Path) -> Path:
        """Creates the tree of files that the machine has in addition to the host's files."""
        cache = cache / "inits"
        return cached.folder(
            cache, self.name, self._state(), lambda root: self._unpack(root, _downloaded(cache) if self.packages else cache)
        )

    def _state(self) -> bytes:
        state = repr(self)
        for path in sorted((FILES / self.name).rglob("*")):
            if path.is_symlink() or path.is_file():
                state += f"{path} {path.readlink() if path.is_symlink() else path.read_text()}"
        return state.encode()

    def _unpack(self, root: Path, packages: Path) -> None:
        for name in self.packages:
            for package in packages.glob(f"{name}_*.deb"):
                _run("dpkg-deb", "-x", str(package), str(root))
        shutil.rmtree(root / "usr/share", ignore_errors=True)
        shutil.copytree(FILES / self.name, root, symlinks=True, dirs_exist_ok=True)
        # Debian 12 and later have links to the directories in /usr.
        for place in ("bin", "sbin", "lib"):
            if (root / place).is_dir():
                shutil.copytree(root / place, root / "usr" / place, symlinks=True, dirs_exist_ok=True)
                shutil.rmtree(root / place)


OPENRC = Init("openrc", "/sbin/openrc-init", ("openrc", "libeinfo1", "librc1"), "openrc-init")
SYSVINIT = Init("sysvinit", "/sbin/init", ("sysvinit-core",), "init")
RUNIT = Init("runit", "/sbin/init", ("runit", "runit-init"), "runit")
# Use this machine's busybox.
BUSYBOX = Init("busybox", "/sbin/init", (), "busybox")


def _downloaded(cache: Path) -> Path:
    """Downloads the packages of all inits, from this machine's own release because they use its libraries."""
    names = sorted({name for init in (OPENRC, SYSVINIT, RUNIT) for name in init.packages})
    folder = cache / "packages"
    if not all(list(folder.glob(f"{name}_*.deb")) for name in names):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        suite = platform.freedesktop_os_release()["VERSION_CODENAME"]
        try:
            archive.Archive(suite, folder / "apt", ["amd64"]).get("download", *names, cwd=folder)
        except archive.ArchiveError as error:
            raise LabError(str(error)) from error
        shutil.rmtree(folder / "apt")
    return folder


def _run(*argv: str, cwd: Path | None = None) -> None:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"{argv[0]} {argv[-1]}: {done.stderr.strip()[-400:]}")
