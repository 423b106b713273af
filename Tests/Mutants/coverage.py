# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of the product that each suite of unit tests runs, so that a mutant is run with the suites that reach it."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import lists
from lists import REPOSITORY, TESTS, ListError
from product import SUITE_LIMIT

BESIDE = 3
# The tools of the compiler; other versions may not be able to read its files.
TOOLS = pathlib.Path(shutil.which("swift") or "swift").resolve().parent


class Coverage:
    """The suites that run each line of the product, kept in a file until a source file or a unit test changes."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.scratch = REPOSITORY / ".build/coverage"
        kept = folder / "coverage.json"
        state = self._state()
        found = json.loads(kept.read_text()) if kept.is_file() else {}
        if found.get("state") != state:
            found = {"state": state, "suites": self._collect()}
            kept.write_text(json.dumps(found))
        self._lines: dict[tuple[str, int], set[str]] = {}
        self._files: dict[str, set[str]] = {}
        for suite, files in found["suites"].items():
            for file, lines in files.items():
                self._files.setdefault(file, set()).add(suite)
                for line in lines:
                    self._lines.setdefault((file, line), set()).add(suite)

    def suites(self, file: str, line: int) -> set[str]:
        """Returns the suites that run a line or, if it has no counter, like that of a constant, any line of its file."""
        return self._lines.get((file, line)) or self._files.get(file, set())

    @staticmethod
    def _state() -> str:
        digest = hashlib.sha256()
        for folder in (REPOSITORY / "Sources", TESTS / "Unit"):
            for path in sorted(folder.rglob("*.swift")):
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def _collect(self) -> dict[str, dict[str, list[int]]]:
        """Builds the unit tests with counters, and runs each suite in a process of its own."""
        command = ["swift", "build", "--build-tests", "--enable-code-coverage", "--scratch-path", self.scratch]
        result = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode:
            raise ListError("the unit tests do not build with coverage: " + result.stdout[-2000:])
        # The program ends with _exit(), which writes no counters.
        (self.folder / "exit.c").write_text("#include <stdlib.h>\nvoid _exit(int status) { exit(status); }\n")
        subprocess.run([TOOLS / "clang", "-shared", "-fPIC", "-o", self.folder / "exit.so", self.folder / "exit.c"], check=True)
        suites = sorted({name.partition("/")[0] for name in lists.unit_tests()})
        with concurrent.futures.ThreadPoolExecutor(max_workers=BESIDE) as pool:
            return dict(zip(suites, pool.map(self._of, suites), strict=True))

    def _of(self, suite: str) -> dict[str, list[int]]:
        """Returns the lines that a suite runs, in its own process and in the programs that it starts."""
        place = self.folder / "coverage" / suite
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        bundle, program = (self.scratch / "debug" / name for name in ("blewedgePackageTests.xctest", "blewedge"))
        subprocess.run(
            ["timeout", "-s", "KILL", str(SUITE_LIMIT), bundle, "--testing-library", "swift-testing", "--filter", rf"^{re.escape(suite)}/"],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LLVM_PROFILE_FILE": f"{place}/%p-%m.profraw", "LD_PRELOAD": str(self.folder / "exit.so")},
            check=False,
        )
        raw = sorted(place.glob("*.profraw"))
        found: dict[str, set[int]] = {}
        # A program that is killed leaves a file that cannot be read.
        merge = [TOOLS / "llvm-profdata", "merge", "--failure-mode=all", "-sparse", "-o", place / "data", *raw]
        if raw and not subprocess.run(merge, stderr=subprocess.DEVNULL, check=False).returncode:
            export = [TOOLS / "llvm-cov", "export", "-format=lcov", "-instr-profile", place / "data", bundle, "-object", program]
            output = subprocess.run([*export, REPOSITORY / "Sources"], stdout=subprocess.PIPE, text=True, check=True).stdout
            lines: set[int] = set()
            for word, _, rest in (line.partition(":") for line in output.splitlines()):
                if word == "SF":
                    lines = found.setdefault(str(pathlib.Path(rest).relative_to(REPOSITORY)), set())
                elif word == "DA" and not rest.endswith(",0"):
                    lines.add(int(rest.partition(",")[0]))
        shutil.rmtree(place)
        return {file: sorted(lines) for file, lines in found.items() if lines}
