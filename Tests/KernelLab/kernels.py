# SPDX-License-Identifier: GPL-2.0-or-later
#
# Kernels of the matrix, from Debian's packages. They are downloaded with apt from this machine's own mirror, verified against the
# installed keyring, and unpacked into the cache. They are never installed.

from __future__ import annotations

import fcntl
import lzma
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import archive


@dataclass(frozen=True)
class Origin:
    """Source of a kernel: a suite, and the package in it. Without a package name, the kernel is the one that linux-image-amd64
    (linux-image-arm64 for ARM) depends on."""

    suite: str
    package: str = ""  # package name without `linux-image-` and the architecture
    version: str = ""  # package version
    is_stand_in_welcome: bool = False  # if unavailable, use the dependency of linux-image-amd64 and report it

    def named(self, architecture: str) -> str:
        return f"linux-image-{self.package}-{architecture}"


# Debian 12 has two such kernels: the one from its point release is sound, the last update (listed in FAULTY) is not. The lab uses
# the sound one as 6.1, because it can run every scenario. On the other one, a scenario that triggers the fault crashes the
# machine.
ORIGINS = {
    "6.1": Origin("bookworm", "6.1.0-50", "6.1.176-1", is_stand_in_welcome=True),
    "6.1.192": Origin("bookworm-security", "6.1.0-56", "6.1.192-2"),
    "6.12": Origin("trixie"),
    "5.10": Origin("bullseye"),
    "7.2": Origin("sid"),
}
# Kernels that free the channel of a link twice (scenarios/keyless.py).
FAULTY = {"6.1.192"}

# Modules that the lab requires. All other modules are built in, renamed or not needed in some releases.
REQUIRED = ["9p", "9pnet_virtio", "virtio_pci", "overlay", "virtio_console", "bluetooth", "hci_vhci", "uinput", "evdev"]
WANTED = [
    "virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console",
    # The emulator uses AF_ALG for its cryptography; pairing in the kernel needs a random generator and ECDH.
    "aes_generic", "ecb", "cbc", "cmac", "hmac", "sha256_generic", "sha512_generic", "ctr",
    "jitterentropy_rng", "drbg", "ecdh_generic", "algif_hash", "algif_skcipher",
    "bluetooth", "hci_vhci", "uinput", "evdev", "uhid", "hid_generic",
]  # fmt: skip


class KernelError(Exception):
    """The kernel package cannot be downloaded."""


@dataclass(frozen=True)
class Kernel:
    name: str
    release: str
    package: str  # name and version of the package, and why it is not the intended one
    folder: Path

    @property
    def series(self) -> str:
        """Major and minor version: "6.1" for 6.1.192."""
        return ".".join(self.name.split(".")[:2])

    @property
    def is_faulty(self) -> bool:
        return self.name in FAULTY

    @property
    def image(self) -> Path:
        return self.folder / "vmlinuz"


@dataclass(frozen=True)
class Target:
    """Architecture of the machines, the modules that they require, and further modules to copy."""

    architecture: str
    required: list[str]
    wanted: list[str]


LAB = Target("amd64", REQUIRED, WANTED)


def number(name: str) -> list[int]:
    """Returns the sort key of a kernel's version."""
    return [int(part) for part in name.split(".")]


def get(name: str, cache: Path, target: Target = LAB) -> Kernel:
    """Returns the unpacked kernel. Downloads it if it is not in the cache."""
    origin, folder = ORIGINS[name], cache / "kernels" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (cache / "kernels" / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two workers of the lab may need the same kernel
        # Download again if the cached kernel has another origin or other modules, or if an older lab did not record them.
        record = f"{origin} {' '.join(target.wanted)}\n"
        if not ((folder / "origin").exists() and (folder / "origin").read_text() == record):
            scratch = cache / "kernels" / f"{name}.new"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            packages, remark = _download(origin, target.architecture, scratch)
            image = next(package for package in packages if package.name.startswith("linux-image-"))
            told = _run(["dpkg-deb", "--show", "--showformat=${Package} ${Version}", str(image)])
            release = _unpack(packages, target, scratch)
            (scratch / "release").write_text(release + "\n")
            (scratch / "package").write_text(told + remark + "\n")
            (scratch / "origin").write_text(record)
            shutil.rmtree(folder, ignore_errors=True)
            scratch.rename(folder)
    release, package = ((folder / file).read_text().strip() for file in ("release", "package"))
    return Kernel(name, release, package, folder)


def _run(argv: list[str], cwd: Path | None = None) -> str:
    try:
        return archive.run(argv, cwd)
    except archive.ArchiveError as error:
        raise KernelError(str(error)) from error


def _download(origin: Origin, architecture: str, scratch: Path) -> tuple[list[Path], str]:
    """Downloads the packages. Returns them, and how they differ from the intended ones."""
    apt = scratch / "apt"
    try:
        source = archive.Archive(origin.suite, apt, [architecture])
        packages, remark = wanted(origin, architecture, source)
        source.get("download", *packages, cwd=scratch)
    except archive.ArchiveError as error:
        raise KernelError(str(error)) from error
    shutil.rmtree(apt)
    return sorted(scratch.glob("*.deb")), remark


def wanted(origin: Origin, architecture: str, source: archive.Archive) -> tuple[list[str], str]:
    """Returns the packages to download, and why they differ from the intended ones."""
    remark = ""
    if origin.package:
        named = origin.named(architecture)
        if origin.version in source.versions(named):
            return [f"{named}={origin.version}"], ""
        remark = f"{named} {origin.version} is not served by {origin.suite} any more"
        if not origin.is_stand_in_welcome:
            raise KernelError(f"{remark}, and no other will do: kernels.py wants another one with the same fault")
        remark = f" ({remark})"
    left, packages = [f"linux-image-{architecture}"], []
    while left:  # newer releases split the image, the binary and the modules into separate packages
        for package in source.depends(left.pop(), r"linux-(?:image|binary|modules)-\d\S*"):
            if package not in packages:
                packages.append(package)
                left.append(package)
    if not packages:
        raise KernelError(f"linux-image-{architecture} of {origin.suite} names no kernel package{remark}")
    return packages, remark


def _unpack(packages: list[Path], target: Target, scratch: Path) -> str:
    root = scratch / "root"
    for package in packages:
        _run(["dpkg-deb", "-x", str(package), str(root)])
        package.unlink()
    images = list(root.glob("boot/vmlinuz-*")) + list(root.glob("usr/lib/modules/*/vmlinuz"))
    if not images:
        raise KernelError(f"no vmlinuz in {[p.name for p in packages]}")
    trees = [tree for tree in (root / "lib/modules", root / "usr/lib/modules") if tree.is_dir()]
    release = next(trees[0].iterdir()).name
    shutil.copy(images[0], scratch / "vmlinuz")
    if not (root / "lib/modules").is_dir():  # depmod searches lib/modules only
        (root / "lib").mkdir(exist_ok=True)
        (root / "lib/modules").symlink_to("../usr/lib/modules")
    _run(["depmod", "-b", str(root), release])
    _collect_modules(target, root / "lib/modules" / release, scratch / "modules")
    shutil.rmtree(root)
    return release


def _plain_name(path: str) -> str:
    return re.sub(r"\.ko(\.\w+)?$", "", os.path.basename(path)).replace("-", "_")


def _collect_modules(target: Target, tree: Path, folder: Path) -> None:
    """Copies the required modules and their dependencies, uncompressed, and writes the order in which to load them."""
    files: dict[str, tuple[str, list[str]]] = {}
    for line in (tree / "modules.dep").read_text().splitlines():
        path, _, dependencies = line.partition(":")
        files[_plain_name(path)] = (path, [_plain_name(d) for d in dependencies.split()])
    builtin_list = tree / "modules.builtin"  # some releases do not have this file
    builtin = {_plain_name(line) for line in builtin_list.read_text().splitlines()} if builtin_list.exists() else None
    order: list[str] = []

    def add(name: str) -> None:
        if name in order or name not in files:
            return
        for dependency in files[name][1]:
            add(dependency)
        order.append(name)

    for name in target.wanted:
        add(name)
        if name in target.required and name not in order and builtin is not None and name not in builtin:
            raise KernelError(f"the kernel package has no module {name}")
    folder.mkdir()
    for name in order:
        path = tree / files[name][0]
        data = path.read_bytes()
        (folder / f"{name}.ko").write_bytes(lzma.decompress(data) if path.suffix == ".xz" else data)
    (folder / "order").write_text("".join(f"{name}.ko\n" for name in order))
