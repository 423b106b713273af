# SPDX-License-Identifier: GPL-2.0-or-later
#
# Root file system of a kiosk: Debian's Chromium, a compositor that shows one program on the whole screen, and their dependencies.
# The packages are downloaded with apt from this machine's own mirror and unpacked into the cache, but never installed.

from __future__ import annotations

import shutil
from pathlib import Path

import archive
import cached
from waiting import LabError

# Always use this Debian release, so that the browser is tested on every machine, whatever its own release.
SUITE = "trixie"
PACKAGES = ("base-files", "cage", "chromium", "fonts-dejavu-core", "libinput-bin", "seatd", "xkb-data")
# Folders that the kiosk does not need.
UNREAD = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/icons")


def root(cache: Path) -> Path:
    """Returns the root folder, which is read-only. Downloads it if it is not in the cache."""
    return cached.folder(cache / "kiosk", SUITE, repr((PACKAGES, UNREAD)).encode(), _unpack)


def browser(tree: Path) -> str:
    """Returns the name and version of the browser's package."""
    return (tree / "browser").read_text().strip()


def _unpack(tree: Path) -> None:
    apt = tree / "apt"
    try:
        packages = archive.Archive(SUITE, apt, ["amd64"]).closure(list(PACKAGES))
        # Unpack base-files first: it contains the links from /bin, /lib and /sbin to /usr that the other packages need.
        packages.sort(key=lambda path: not path.name.startswith("base-files_"))
        for package in packages:
            archive.run(["dpkg-deb", "-x", str(package), str(tree)])
        chromium = next(path for path in packages if path.name.startswith("chromium_"))
        name = archive.run(["dpkg-deb", "--show", str(chromium)])
    except (archive.ArchiveError, StopIteration) as error:
        raise LabError(f"no kiosk: {error}") from error
    for place in [apt, *(tree / unread for unread in UNREAD)]:
        shutil.rmtree(place, ignore_errors=True)
    (tree / "browser").write_text(" ".join(name.split()) + "\n")
