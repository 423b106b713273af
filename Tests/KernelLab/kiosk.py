# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kiosk's root: Debian's Chromium and a compositor that shows one program on the whole screen, with all that they depend on,
# downloaded with apt from this machine's own mirror and unpacked into the cache, never installed.

from __future__ import annotations

import shutil
from pathlib import Path

import archive
import cached
from waiting import LabError

# Debian's release is always this one, so that a browser is seen on every machine, whatever that has.
SUITE = "trixie"
PACKAGES = ("base-files", "cage", "chromium", "fonts-dejavu-core", "libinput-bin", "seatd", "xkb-data")
# What nobody reads there.
UNREAD = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/icons")


def root(cache: Path) -> Path:
    """The folder with it, downloaded if the cache has none; only to be read."""
    return cached.folder(cache / "kiosk", SUITE, repr((PACKAGES, UNREAD)).encode(), _unpack)


def browser(tree: Path) -> str:
    """The browser's package and version."""
    return (tree / "browser").read_text().strip()


def _unpack(tree: Path) -> None:
    apt = tree / "apt"
    try:
        packages = archive.Archive(SUITE, apt, ["amd64"]).closure(list(PACKAGES))
        # The first one has the links from /bin, /lib and /sbin to the directories in /usr, which the others find there.
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
