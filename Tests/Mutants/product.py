# SPDX-License-Identifier: GPL-2.0-or-later
"""A copy of the repository that is broken on purpose, built, and tested."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shlex
import shutil
import subprocess
import time

from lists import REPOSITORY, ListError, Mutant, Test, test_files

FLAGS = ["--explicit-target-dependency-import-check", "error", "-debug-info-format", "none"]
# Time limits in seconds for a build, a named test, the test suite of a module, and the lab or the pages.
BUILD_LIMIT = 1800
NAMED_LIMIT = 60
SUITE_LIMIT = 900
LAB_LIMIT = 900
KILLED = 137
NO_TESTS = 69
# Build and link only these test targets, which takes seconds instead of minutes.
PRUNED = "\npackage.targets.removeAll {{ $0.type == .test && ![{}].contains($0.name) }}\n"
# Errors that a scenario reports if the machine is too slow, whatever the product does. The scenario is then repeated once.
HASTE = re.compile(r"did not boot|the controllers appear: not within|the keyboard is created: not within|subscribes: not within")
# Scenario files, each with the program of ours that it expects next to the product.
PEERS = {"adapters.py": "gattpeer", "conformance.py": "conformance", "roles.py": "gattpeer"}


@dataclasses.dataclass
class Outcome:
    """Result of a test (`passed`, `failed`, or `error` if it says nothing about the product), and its output."""

    end: str
    text: str


class Copy:
    """The copy of the repository. Files that did not change keep their modification times, so that builds are incremental."""

    def __init__(self, folder: pathlib.Path, prefix: str, log: pathlib.Path) -> None:
        self.folder = folder
        self.prefix = shlex.split(prefix)
        self.log = log
        self.changed: tuple[str, str] | None = None  # the currently modified file, and its original text
        self.built: dict[str, tuple[str, int]] = {}  # inputs of the last build of each product
        self.serial = 0  # incremented with each change of a source file

    def update(self) -> None:
        """Synchronizes the copy with the working tree of the repository."""
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        files = {name for name in listed.split("\0") if name and (REPOSITORY / name).is_file()}
        if (REPOSITORY / "Package.resolved").is_file():
            files.add("Package.resolved")
        if self.folder.exists():
            for path in sorted(self.folder.rglob("*")):
                name = str(path.relative_to(self.folder))
                if path.is_file() and name not in files and not name.startswith(".build/") and name != "Package.resolved":
                    path.unlink()
        for name in files:
            self._write(name, (REPOSITORY / name).read_bytes(), (REPOSITORY / name).stat().st_mode)

    @staticmethod
    def _git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout

    def _write(self, name: str, content: bytes, mode: int | None = None) -> None:
        path = self.folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if mode is not None:
            path.chmod(mode)

    def put(self, mutant: Mutant | None) -> None:
        """Reverts the last mutant and applies the next one."""
        if self.changed and (not mutant or mutant.file != self.changed[0]):
            self._write(self.changed[0], self.changed[1].encode())
            self.changed = None
            self.serial += 1
        if mutant:
            text = self.changed[1] if self.changed else (self.folder / mutant.file).read_text()
            self.changed = (mutant.file, text)
            self._write(mutant.file, mutant.applied(text).encode())
            self.serial += 1

    def run(self, command: list[str | pathlib.Path], limit: int) -> tuple[int, str]:
        """Runs a command in the copy. Returns its exit status and output. The time limit does not
        include the time that a `--with` command waits before it starts this one."""
        words = [*self.prefix, "timeout", "--signal=KILL", str(limit), *map(str, command)]
        start = time.monotonic()
        result = subprocess.run(
            words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        text = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout.decode(errors="replace"))
        status = result.returncode if result.returncode >= 0 else 128 - result.returncode
        with self.log.open("a") as log:
            log.write(f"$ {shlex.join(words)}\n{text}\n({status}, {time.monotonic() - start:.1f} s)\n\n")
        return status, text

    def _build(self, scratch: str, product: str, what: str = "", *flags: str) -> None:
        if self.built.get(product) == (what, self.serial):
            return
        self.built.pop(product, None)
        command = ["swift", "build", *FLAGS, *flags, "--scratch-path", scratch, "--product", product]
        status, text = self.run(command, BUILD_LIMIT)
        if status:
            errors = [line for line in text.split("\n") if "error:" in line] or text.strip().split("\n")[-3:]
            raise ListError("does not build: " + " | ".join(line.strip()[-200:] for line in errors[:2]))
        self.built[product] = (what, self.serial)

    def unit(self, targets: set[str], filters: list[str], limit: int) -> Outcome:
        """Runs the tests of some targets that match at least one of the filters."""
        names = ", ".join(f'"{name}"' for name in sorted(targets))
        self._write("Package.swift", ((REPOSITORY / "Package.swift").read_text() + PRUNED.format(names)).encode())
        self._build(".build", "blewedgePackageTests", names)
        # The command-line tests run the program in the build folder, so build it too.
        if "CommandLineTests" in targets:
            self._build(".build", "blewedge", names)
        bundle = self.folder / ".build/debug/blewedgePackageTests.xctest"
        words = [word for expression in filters for word in ("--filter", expression)]
        lines = (REPOSITORY / "Tests/Tools/own-processes").read_text().splitlines()
        own = [line for line in lines if not line.startswith("#")]
        if not any(name in expression for name in own for expression in filters):
            words += [word for name in own for word in ("--skip", name)]
        status, text = self.run([bundle, "--testing-library", "swift-testing", *words], limit)
        if status == KILLED:
            return Outcome("failed", f"not over within {limit} s")
        count = re.search(r"Test run with (\d+) tests?", text)
        if status == 0 and count and int(count[1]):
            return Outcome("passed", f"{count[1]} tests")
        if status in (0, NO_TESTS) and not re.search(r"^✘", text, re.MULTILINE):
            return Outcome("error", f"no test is found by {' '.join(filters)}")
        if status > 128:
            return Outcome("failed", f"crashed, signal {status - 128}")
        failed = re.findall(r'^✘ Test "?(.*?)"? (?:recorded|failed|with)', text, re.MULTILINE)
        return Outcome("failed", failed[0] if failed else "failed")

    def program(self, name: str = "blewedge") -> pathlib.Path:
        """Builds a program for the lab, statically linked and in a separate build folder."""
        self._build(".build/lab", name, "", "--static-swift-stdlib")
        return self.folder / ".build/lab/debug" / name

    def lab(self, tests: list[Test]) -> Outcome:
        """Runs scenarios. All scenarios of a kernel share one boot."""
        program = self.program()
        for name in {PEERS[path.name] for test in tests for path in test_files(test) if path.name in PEERS}:
            self.program(name)
        for kernel in sorted({test.kernel for test in tests}):
            names = [test.name for test in tests if test.kernel == kernel]
            command: list[str | pathlib.Path] = ["Tests/KernelLab/lab", "--binary", program, "--kernel", kernel, *names]
            for _ in range(2):
                status, text = self.run(command, LAB_LIMIT + 120 * len(names))
                if not HASTE.search(text):
                    break
            if status == KILLED and " booted " in text:
                return Outcome("failed", f"{' '.join(names)} on {kernel}: not over within the time")
            if failed := re.search(r"^FAIL +(.*)$", text, re.MULTILINE):
                return Outcome("failed", " ".join(failed[1].split())[:200])
            if status or not re.search(rf"^{len(names)} passed, 0 failed$", text, re.MULTILINE):
                return Outcome("error", "the lab did not run: " + text.strip()[-200:].replace("\n", " | "))
        return Outcome("passed", "")

    def pages(self, tests: list[Test]) -> Outcome:
        """Runs page checks in a terminal."""
        program = self.program()
        for name in sorted({test.name for test in tests}):
            status, text = self.run(["Tests/Terminal/run", "--program", program, "--only", name], LAB_LIMIT)
            if status == KILLED:
                return Outcome("failed", "the pages were not through within the time")
            if failed := re.search(r"^FAIL +(.*)$", text, re.MULTILINE):
                return Outcome("failed", failed[1].strip())
            if status or not re.search(r"^[1-9]\d* passed, 0 failed$", text, re.MULTILINE):
                return Outcome("error", "the pages were not driven: " + text.strip()[-200:].replace("\n", " | "))
        return Outcome("passed", "")

