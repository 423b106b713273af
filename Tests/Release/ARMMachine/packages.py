# SPDX-License-Identifier: GPL-2.0-or-later
#
# Life cycle of the arm64 package in the emulated ARM machine, tested like the amd64 package in a clean root (Debian/life).

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import ARMMachine

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Debian"))

import deb  # noqa: E402

SECONDS = 1800


@dataclass(frozen=True)
class Packages:
    """An older and a newer package, in the machine's file system."""

    older: str
    newer: str

    @classmethod
    def build(cls, work: Path, shared: Path, linked: Path, emulated: list[str]) -> Packages:
        """Builds both packages from the linked program. An emulated program prints the manual page and the completions."""
        texts = work / "texts"
        texts.write_text(f'#!/bin/sh\nexec {shlex.join(emulated)} "$@"\n')
        texts.chmod(0o755)
        made = deb.pair(work, linked, texts)
        for path in (*made, deb.HERE / "life"):
            shutil.copy(path, shared)
        return cls(*(f"/srv/{path.name}" for path in made))

    async def live(self, machine: ARMMachine) -> str:
        """Runs the life cycle and returns its output. The last line contains the totals if it was completed."""
        said = deb.program_version(deb.version_here())
        command = ["env", "TERM=dumb", "bash", "/srv/life", self.older, self.newer, said]
        done = await machine.guest.run(*command, seconds=SECONDS, check=False)
        return done.out + (done.err if done.status != 0 else "")

    async def install(self, machine: ARMMachine) -> None:
        await machine.guest.run("apt-get", "install", "--yes", self.newer, seconds=SECONDS)
