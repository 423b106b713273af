# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's Swift as a cross compiler for aarch64, in a cache folder: the unstable suite's compiler for this machine, its library
# for aarch64, and the headers and libraries for aarch64 of each target suite. Nothing is installed.

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "KernelLab"))

from archive import Archive, ArchiveError, run  # noqa: E402

TRIPLE = "aarch64-unknown-linux-gnu"
SUITES = {"12": "bookworm", "13": "trixie", "sid": "sid"}
OLDEST = (6, 2, 3)
# Packages that the product is built with (Tests/run installs the same ones for this machine). The name of the C++ library's
# package contains a version number.
HEADERS = ["libc6-dev", "libbluetooth-dev", "libcap-dev", "libjansson-dev", "libmbedtls-dev", "libtomlplusplus-dev"]
# Not unpacked: debuggers, editors, modules for processors without an operating system, and a part of Swift Testing whose library
# is missing from the package.
LEFT_OUT = [
    "*/lib/swift/embedded", "*/FrameworkABIBaseline", "*/liblldb*", "*/bin/lldb*", "*libsourcekitd*", "*/sourcekit-lsp", "*/bin/clangd",
    "*/libLTO*", "*/libclang.so*", "*/usr/share/doc", "*/usr/share/man", "*/usr/share/locale", "*/bin/docc", "*/llvm-objdump",
    "*/Testing.swiftcrossimport",
]  # fmt: skip
SWIFT = "/usr/libexec/swift"
# Libraries that the program loads at run time.
LOADED = ["libxkbcommon0", "libcurl4t64"]


class Toolchain:
    """The tree of the compiler, and the sysroots."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.tree = cache / "toolchain"
        self.resources = self.tree / "aarch64"

    def sysroot(self, suite: str) -> Path:
        return self.cache / f"sysroot-{suite}"

    @property
    def libraries(self) -> Path:
        """Libraries for aarch64 from the unstable suite that the unit tests load."""
        return self.cache / "libraries/usr/lib/aarch64-linux-gnu"

    def get(self, suites: list[str]) -> None:
        """Creates the missing trees in parallel, because each of them uses only one core."""
        with ThreadPoolExecutor() as pool:
            made = [pool.submit(self._once, self.tree, self._make_tree)]
            made += [pool.submit(self._once, self.sysroot(suite), self._make_sysroot, suite) for suite in suites]
            if "sid" in suites:
                made.append(pool.submit(self._once, self.cache / "libraries", self._make_libraries))
            for each in made:
                each.result()
        self._write_bundle()

    @staticmethod
    def _once(folder: Path, make, *arguments) -> None:
        if folder.exists():
            return
        scratch, apt = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".apt")
        for each in (scratch, apt):
            shutil.rmtree(each, ignore_errors=True)
        scratch.mkdir(parents=True)
        make(scratch, apt, *arguments)
        shutil.rmtree(apt)
        scratch.rename(folder)

    def _make_tree(self, scratch: Path, apt: Path) -> None:
        archive = Archive("sid", apt, ["amd64", "arm64"])
        foreign = apt / "arm64"
        foreign.mkdir()
        archive.get("download", "swiftlang:arm64", "libswiftlang:arm64", cwd=foreign)
        resources = scratch / self.resources.name
        resources.mkdir()
        folders = [f".{SWIFT}/lib/{name}" for name in ("swift", "swift_static")]
        with ThreadPoolExecutor() as pool:
            made = [
                pool.submit(unpack, package, resources, "--strip-components=5", "--exclude=*/lib/swift/host", "--wildcards", *members)
                for package in sorted(foreign.glob("*.deb"))
                for members in ([f"{folder}/*" for folder in (folders[:1] if package.name.startswith("lib") else folders)],)
            ]
            for package in archive.closure(["swiftlang", "g++", "lld"]):
                unpack(package, scratch)
            for each in made:
                each.result()
        # The compiler's own headers are the same for all processors. The path is the one inside the namespace.
        (resources / "clang").symlink_to(f"{SWIFT}/lib/clang")

    def _make_sysroot(self, scratch: Path, apt: Path, suite: str) -> None:
        archive = Archive(SUITES[suite], apt, ["arm64"])
        compilers = archive.depends("g++", r"g\+\+-\d+\S*")
        number = re.match(r"g\+\+-(\d+)", compilers[0] if compilers else "")
        if not number:
            raise ArchiveError(f"g++ of {SUITES[suite]} names no version")
        # In newer suites, `lib` is a link to `usr/lib` that comes in a separate package.
        for name in ("usr/lib", "usr/bin", "usr/sbin"):
            (scratch / name).mkdir(parents=True)
            (scratch / Path(name).name).symlink_to(name)
        # The linker looks here for the startup files of a program.
        for name in ("swift", "swift_static"):
            (scratch / "usr/lib" / name).symlink_to(f"../../../{self.tree.name}/{self.resources.name}/{name}")
        for package in archive.closure([*HEADERS, f"libstdc++-{number[1]}-dev"]):
            unpack(package, scratch, "--exclude=./usr/share")
        lead_within(scratch)

    def _make_libraries(self, scratch: Path, apt: Path) -> None:
        for package in Archive("sid", apt, ["arm64"]).closure(LOADED):
            unpack(package, scratch, "--exclude=./usr/share")

    def _write_bundle(self) -> None:
        """Writes a Swift SDK for each sysroot, for `swift build --swift-sdk NAME`."""
        version = self.version()
        bundle = self.cache / "sdks" / "blewedge.artifactbundle"
        bundle.mkdir(parents=True, exist_ok=True)
        artifacts = {}
        for suite in SUITES:
            folder = bundle / suite
            folder.mkdir(exist_ok=True)
            places = {
                "sdkRootPath": str(self.sysroot(suite)), "swiftResourcesPath": str(self.resources / "swift"),
                "swiftStaticResourcesPath": str(self.resources / "swift_static"), "toolsetPaths": ["../toolset.json"],
            }  # fmt: skip
            _write(folder / "swift-sdk.json", {"schemaVersion": "4.0", "targetTriples": {TRIPLE: places}})
            artifacts[f"debian-{suite}"] = {"type": "swiftSDK", "version": version, "variants": [{"path": suite}]}
        toolset = {"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}}
        _write(bundle / "toolset.json", toolset)
        _write(bundle / "info.json", {"schemaVersion": "1.0", "artifacts": artifacts})

    def version(self) -> str:
        """Returns the compiler's version. Raises an error if it is too old for the package or does not run."""
        printed = run(self.command("swift", "--version"))
        found = re.search(r"Swift version (\d+)\.(\d+)(?:\.(\d+))?", printed)
        if not found or tuple(int(part or 0) for part in found.groups()) < OLDEST:
            raise ArchiveError(f"Debian's Swift is too old: {printed.splitlines()[0]}")
        return ".".join(part for part in found.groups() if part)

    def command(self, *argv: str | Path, **environment: str) -> list[str]:
        """Returns a command that runs with the tree's /usr over the machine's own, in a separate mount namespace."""
        # Without root, the mount namespace needs a user namespace that owns it.
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        mount = f"mount -t overlay -o ro,lowerdir={shlex.quote(str(self.tree / 'usr'))}:/usr overlay /usr"
        names = {"PATH": f"{SWIFT}/bin:/usr/bin:/bin:/usr/sbin:/sbin", **environment}
        words = ["env", *(f"{name}={value}" for name, value in names.items()), *(str(word) for word in argv)]
        return ["unshare", *rights, "--mount", "sh", "-ec", f'{mount} && exec "$@"', "sh", *words]

    def build_flags(self, suite: str, scratch: Path) -> list[str]:
        """Returns the arguments of `swift build` for a suite."""
        return ["--swift-sdks-path", str(self.cache / "sdks"), "--swift-sdk", f"debian-{suite}", "--scratch-path", str(scratch)]


def unpack(package: Path, folder: Path, *options: str) -> None:
    """Extracts a package's files into a folder, and deletes the package."""
    excluded = [f"--exclude={pattern}" for pattern in LEFT_OUT]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as reading:
        command = ["tar", "-x", "-C", folder, "--keep-directory-symlink", "--no-same-owner", *excluded, *options]
        writing = subprocess.run(command, stdin=reading.stdout, capture_output=True, text=True)
        reading.stdout.close()
    if writing.returncode != 0 or reading.returncode != 0:
        raise ArchiveError(f"{package.name} cannot be unpacked: {writing.stderr.strip()[-400:]}")
    package.unlink()


def lead_within(root: Path) -> None:
    """Changes absolute links to point into this root, so that a linker finds their targets."""
    for folder, folders, files in os.walk(root):
        for link in (Path(folder) / name for name in (*folders, *files)):
            if link.is_symlink() and (aim := os.readlink(link)).startswith("/"):
                link.unlink()
                link.symlink_to(os.path.relpath(f"{root}{aim}", folder))


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")
