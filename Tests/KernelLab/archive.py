# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's package archive for one suite, which need not be the suite of this machine. Packages are downloaded with apt, using
# package lists in a separate folder, and verified against the installed keyring. They are never installed.

from __future__ import annotations

import re
import subprocess
from pathlib import Path


class ArchiveError(Exception):
    """Packages cannot be downloaded."""


def run(argv: list[str], cwd: Path | None = None) -> str:
    """Runs a command and returns its output. If it fails, the error contains the end of its error output."""
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise ArchiveError(f"{' '.join(argv[:3])} …: {done.stderr.strip()[-400:]}")
    return done.stdout


def mirror(label: str = "Debian") -> tuple[str, str]:
    """Returns the URL of the archive with this label that this machine uses, and the keyring that signs it."""
    targets = run(["apt-get", "indextargets", "--format", "$(CREATED_BY)|$(REPO_URI)|$(LABEL)|$(SIGNED_BY)"])
    for line in targets.splitlines():
        created, uri, archive, signed = line.split("|")
        if created == "Packages" and archive == label:
            keyring = signed if signed.startswith("/") else "/usr/share/keyrings/debian-archive-keyring.gpg"
            return uri, keyring
    raise ArchiveError(f"apt knows no archive {label} on this machine (apt-get update?)")


class Archive:
    """One suite of the archive, with its package lists in a folder. Its first architecture is apt's default."""

    def __init__(self, suite: str, folder: Path, architectures: list[str]) -> None:
        uri, keyring = mirror("Debian-Security" if suite.endswith("-security") else "Debian")
        for place in ("lists/partial", "cache/archives/partial"):
            (folder / place).mkdir(parents=True)
        sources, status = folder / "sources.list", folder / "status"
        sources.write_text(f"deb [arch={','.join(architectures)} signed-by={keyring}] {uri} {suite} main\n")
        status.touch()
        options = [
            f"Dir::Etc::sourcelist={sources}", "Dir::Etc::sourceparts=/dev/null", f"Dir::State::lists={folder}/lists",
            f"Dir::State::status={status}", f"Dir::Cache={folder}/cache", f"APT::Architecture={architectures[0]}",
            *(f"APT::Architectures::={name}" for name in architectures),
            "APT::Sandbox::User=root", "Acquire::Languages=none", "Acquire::Retries=3",
            # The Release file of the unstable suite expires soon, and the archive may be a snapshot: ignore the expiry date.
            f"Acquire::Check-Valid-Until={'false' if suite == 'sid' else 'true'}",
        ]  # fmt: skip
        self._flags = [word for option in options for word in ("-o", option)]
        self._downloads = folder / "cache/archives"
        self.get("-o", "APT::Update::Error-Mode=any", "update")

    def get(self, *arguments: str, cwd: Path | None = None) -> str:
        """Runs apt-get and returns its output."""
        return run(["apt-get", *self._flags, "-qq", *arguments], cwd)

    def depends(self, package: str, pattern: str) -> list[str]:
        """Returns the dependencies of a package that match a pattern."""
        printed = run(["apt-cache", *self._flags, "depends", "--important", package])
        found = [re.fullmatch(rf"\s+(?:Pre)?Depends: ({pattern})", line) for line in printed.splitlines()]
        return [match[1] for match in found if match]

    def versions(self, package: str) -> list[str]:
        """Returns the available versions of a package; empty if the archive does not have the package."""
        printed = run(["apt-cache", *self._flags, "madison", package])
        return [line.split("|")[1].strip() for line in printed.splitlines()]

    def closure(self, packages: list[str]) -> list[Path]:
        """Downloads packages with all their dependencies and returns the files."""
        self.get("install", "--yes", "--no-install-recommends", "--download-only", *packages)
        return sorted(self._downloads.glob("*.deb"))
