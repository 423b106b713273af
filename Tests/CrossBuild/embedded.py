# SPDX-License-Identifier: GPL-2.0-or-later
#
# Modules that ask no system, and their tests, compiled for a processor of 32 bits with the toolchain's embedded library, and
# linked with Debian's C library of that processor, as programs of Linux.

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

import plaintests
from toolchain import Archive, ArchiveError, lead_within, run, unpack

ROOT = Path(__file__).resolve().parents[2]
OWN = Path(__file__).resolve().parent / "Embedded"
# The library's calls give floating-point numbers in integer registers, as Debian's `armel` does.
SWIFT_TRIPLE = "armv7-none-none-eabi"
C_TRIPLE = "arm-linux-gnueabi"
SUITE, ARCHITECTURE = "bookworm", "armel"
PACKAGES = ["libc6-dev", "libgcc-12-dev", "libmbedtls-dev"]


@dataclass
class Module:
    """A module by its name, its files, and the modules that it imports; C files besides, and the libraries for these."""

    name: str
    files: list[Path]
    imports: list[str] = field(default_factory=list)
    c_files: list[Path] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    # Whether it throws errors of any type, as tests may.
    is_of_tests: bool = False
    # A module of test functions takes the compiler much longer to optimise than it then saves.
    is_optimised: bool = True


class BuildError(Exception):
    """What a compiler or a linker has printed."""


def source(name: str, imports: list[str] | None = None, besides: list[Path] | None = None) -> Module:
    """A module of the product, with files besides its own."""
    return Module(name, [*sorted((ROOT / "Sources" / name).rglob("*.swift")), *(besides or [])], imports or [])


class EmbeddedBuild:
    """Builds in a folder beside a sysroot."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.sysroot = cache / f"sysroot-{ARCHITECTURE}"
        self.folder = cache / "build-arm32"
        self.modules: dict[str, Module] = {}
        self.compiler = run(["swiftc", "--version"])

    def get(self) -> None:
        """Makes the sysroot, if it is not there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.sysroot.exists():
            return
        scratch, apt = self.sysroot.with_name(f"{self.sysroot.name}.new"), self.sysroot.with_name(f"{self.sysroot.name}.apt")
        for each in (scratch, apt):
            shutil.rmtree(each, ignore_errors=True)
        (scratch / "usr/lib").mkdir(parents=True)
        (scratch / "lib").symlink_to("usr/lib")
        for package in Archive(SUITE, apt, [ARCHITECTURE]).closure(PACKAGES):
            unpack(package, scratch, "--exclude=./usr/share")
        lead_within(scratch)
        shutil.rmtree(apt)
        scratch.rename(self.sysroot)

    def library(self) -> Path:
        """The folder of the toolchain's embedded library."""
        paths = json.loads(run(["swiftc", "-print-target-info"]))["paths"]
        folder = Path(paths["runtimeResourcePath"]) / "embedded" / SWIFT_TRIPLE
        if not folder.is_dir():
            raise ArchiveError(f"the toolchain has no embedded library for {SWIFT_TRIPLE}")
        return folder

    def add(self, module: Module) -> None:
        """Compiles a module; whatever it imports was added before."""
        self.modules[module.name] = module
        stamp = self.folder / f"{module.name}.stamp"
        state = self._state(module)
        if stamp.exists() and stamp.read_text() == state:
            return
        stamp.unlink(missing_ok=True)
        compile_c = ["clang", "-target", C_TRIPLE, f"--sysroot={self.sysroot}", "-march=armv7-a", "-O2", "-std=gnu11", "-Wall", "-Werror"]
        for file in module.c_files:
            _compile([*compile_c, "-c", file, "-I", file.parent, "-I", file.parent / "include", "-o", self._object(file.stem)])
        if module.files:
            names = self.folder / f"{module.name}Names.swift"
            names.write_text(self._names(module))
            files = self._translated(module) if module.is_of_tests else module.files
            _compile([*self._swiftc(module), *files, names])
        stamp.write_text(state)

    def _translated(self, module: Module) -> list[Path]:
        folder = self.folder / f"{module.name}Translated"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in module.files:
            (folder / file.name).write_text(plaintests.translated(file.read_text(), str(file), "none", [])[0])
        return sorted(folder.iterdir())

    @staticmethod
    def _names(module: Module) -> str:
        return plaintests.case_names([file.read_text() for file in module.files])

    def _state(self, module: Module) -> str:
        """What a module is compiled of and with: its object stands as long as this is the same."""
        state = hashlib.sha256("\n".join(map(str, [self.compiler, Path(plaintests.__file__).read_text(), self._names(module), *self._swiftc(module)])).encode())
        files = [*module.files, *module.c_files, *(file for each in module.c_files for file in each.parent.rglob("*.h"))]
        for file in files:
            state.update(f"\n{file}\n".encode() + file.read_bytes())
        for each in self._closure(module)[1:]:
            state.update((self.folder / f"{each.name}.stamp").read_bytes())
        return state.hexdigest()

    def _object(self, name: str) -> Path:
        return self.folder / f"{name}.o"

    def _swiftc(self, module: Module) -> list[str | Path]:
        words: list[str | Path] = [
            "swiftc", "-target", SWIFT_TRIPLE, "-enable-experimental-feature", "Embedded", "-O" if module.is_optimised else "-Onone", "-wmo", "-swift-version", "6",
            "-parse-as-library", "-package-name", "blewedge", "-enable-testing", "-suppress-warnings",
            "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "InternalImportsByDefault",
            "-enable-upcoming-feature", "MemberImportVisibility", "-enable-experimental-feature", "Lifetimes",
            # The numbers of repetitions are those of a build that is not optimised: an emulated processor is as slow.
            "-D", "DEBUG", "-module-name", module.name, "-I", self.folder, "-I", OWN / "Glibc",
        ]  # fmt: skip
        for folder in ("usr/include", f"usr/include/{C_TRIPLE}"):
            words += ["-Xcc", "-isystem", "-Xcc", self.sysroot / folder]
        words += ["-Xcc", "-D__linux__"]
        for other in self._closure(module):
            for file in other.c_files:
                header = file.parent / "include" / f"{file.stem}.h"
                if header.exists():
                    map_ = self.folder / f"{file.stem}.modulemap"
                    map_.write_text(f'module {file.stem} {{\n    header "{header}"\n    export *\n}}\n')
                    words += ["-Xcc", f"-fmodule-map-file={map_}"]
        interface = self.folder / f"{module.name}.swiftmodule"
        return [*words, "-emit-module", "-emit-module-path", interface, "-c", "-o", self._object(module.name)]

    def tests(self, target: str, imports: list[str], left_out: Container[str], slow: list[str]) -> tuple[Path, int]:
        """The program of a test target without some files and some tests, and the number of its tests."""
        folder = self.folder / target
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        files, calls, count, omitted = [], [], 0, 0
        for path in sorted((ROOT / "Tests" / target).glob("*.swift")):
            if path.name in left_out:
                continue
            name = f"run{path.stem}"
            text, tests = plaintests.translated(path.read_text(), str(path), name, slow)
            files.append(folder / path.name)
            files[-1].write_text(text)
            chosen = [test for test in tests if test.name not in slow]
            count, omitted = count + len(chosen), omitted + len(tests) - len(chosen)
            calls += [f"{name}()"] if chosen else []
        if omitted != len(slow):
            raise BuildError(f"{target}: of the {len(slow)} names of slow tests {omitted} are found")
        main = "\n".join(["import Testing", "@main enum Main {", "static func main() {", *calls, "exit(Testing.finish())", "}", "}", ""])
        files.append(folder / "Main.swift")
        files[-1].write_text(f"import Glibc\n{main}")
        module = Module(target, files, imports, is_optimised=False)
        self.add(module)
        program = self.folder / f"{target}.program"
        used = self._closure(module)
        objects = [self._object(stem) for each in used for stem in (*([each.name] if each.files else []), *(file.stem for file in each.c_files))]
        libraries = [f"-l{library}" for each in used for library in each.libraries]
        _compile([
            "clang", "-target", C_TRIPLE, f"--sysroot={self.sysroot}", "-static", "-fuse-ld=lld", "-Wl,--gc-sections", "-o", program, *objects,
            self.library() / "libswiftUnicodeDataTables.a", *libraries, "-lm",
        ])  # fmt: skip
        return program, count

    def _closure(self, module: Module) -> list[Module]:
        found = [module]
        for each in found:
            found += [self.modules[name] for name in each.imports if self.modules[name] not in found]
        return found


def _compile(argv: list[str | Path]) -> None:
    done = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        lines = done.stdout.splitlines()
        errors = [line for line in lines if re.search(r"^\S.*\berror:|Assertion failed|^\d+\.\t", line) and "Program arguments" not in line]
        raise BuildError("\n".join((errors or lines)[:40]))
