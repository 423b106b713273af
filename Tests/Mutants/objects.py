# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit tests as they were last built, linked with one object that is compiled anew."""

from __future__ import annotations

import json
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import subprocess
import threading
import time

from lists import REPOSITORY, TESTS, ListError
from product import NO_TESTS, SUITE_LIMIT, Outcome

# Seconds without output after which tests count as hung: in the first run, and when they are repeated.
SILENCE = (60, 180)
TEST = re.compile(r'^✘ Test (?:"(.*?)"|(\S+)) (?:with \d+ arguments? .*)?(?:recorded an issue|failed)')


def filter_of(text: str) -> str:
    """Returns the filter for a test by the name that it prints: `function()` or a title. Returns an empty string if the text is
    not the name of a test."""
    if match := re.match(r"(\w+)\(", text):
        return rf"/{match[1]}\("
    for path in sorted((TESTS / "Unit").glob("*Tests/**/*.swift")):
        if match := re.search(rf'"{re.escape(text)}"(?s:.*?)\bfunc (\w+)', path.read_text()):
            return rf"/{match[1]}\("
    return ""


class NotCompiled(Exception):
    """The compiler rejected a change."""


class Objects:
    """The output of `swift build --build-tests` in .build/debug. No file in that folder is changed."""

    def __init__(self, folder: pathlib.Path, log: pathlib.Path) -> None:
        self.folder = folder  # folder for the mutant's object file and the programs linked with it
        self.log = log
        self.products = REPOSITORY / ".build/debug"
        self._jobs: dict[str, list[list[str]]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        command = ["swift", "build", "--build-tests", "--explicit-target-dependency-import-check", "error"]
        if status := self._run(command)[0]:
            raise ListError(f"the unit tests do not build ({status}); {log} says why")
        self._plan = (REPOSITORY / ".build/debug.yaml").read_text()
        own = (REPOSITORY / "Tests/Tools/own-processes").read_text().splitlines()
        self.own = [line for line in own if not line.startswith("#")]
        self._replaced: tuple[str, pathlib.Path] | None = None
        self._linked: set[str] = set()

    def _run(self, command: list[str]) -> tuple[int, str]:
        start = time.monotonic()
        result = subprocess.run(
            command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        text = result.stdout.decode(errors="replace")
        self._note(f"$ {shlex.join(command)[:300]}\n{text}\n({result.returncode}, {time.monotonic() - start:.1f} s)\n\n")
        return result.returncode, text

    def _note(self, text: str) -> None:
        with self.log.open("a") as log:
            log.write(text)

    def _arguments(self, command: str) -> list[str]:
        """Returns the arguments of a command in the build plan."""
        found = re.search(rf'^  "C\.{command}":\n(?:    .*\n)*?    args: (.*)$', self._plan, re.MULTILINE)
        if not found:
            raise ListError(f"no command {command} in .build/debug.yaml")
        return json.loads(found[1])

    def _compilation(self, file: str) -> list[str]:
        """Returns the compiler command that creates the object file of one source file."""
        module = pathlib.PurePath(file).parts[1]
        if module not in self._jobs:
            command = [*self._arguments(rf"{module}-[^\"]*-debug\.module"), "-driver-print-jobs", "-disable-batch-mode"]
            result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
            self._jobs[module] = [shlex.split(line) for line in result.stdout.splitlines()]
        path = str(REPOSITORY / file)
        for job in self._jobs[module]:
            if "-primary-file" in job and job[job.index("-primary-file") + 1] == path:
                return job
        raise ListError(f"no compilation of {file}")

    def put(self, file: str, text: str) -> None:
        """Compiles a file with another text. Raises `NotCompiled` if the compiler rejects it."""
        if text == (REPOSITORY / file).read_text():
            raise ListError(f"{file} is not changed")
        changed = self.folder / pathlib.PurePath(file).name
        changed.write_text(text)
        command, original = [], ""
        words = iter(self._compilation(file))
        for word in words:
            # Do not write files that the next build would mistake for its own, and do not reject a mutant because of a warning.
            if word in ("-index-store-path", "-serialize-diagnostics-path") or re.fullmatch(r"-emit-.*-path", word):
                next(words)
            elif word == "-o":
                original = next(words)
                command += ["-o", str(self.folder / "mutant.o")]
            elif word not in ("-warnings-as-errors", "-index-system-modules"):
                command.append(str(changed) if word == str(REPOSITORY / file) else word)
        self._linked.clear()
        self._replaced = (original, self.folder / "mutant.o")
        status, output = self._run(command)
        changed.unlink()
        if status:
            errors = re.findall(r"error: (.*)", output)
            raise NotCompiled(errors[0] if errors else output[-200:])

    def clear(self) -> None:
        """Restores the unmodified product."""
        self._replaced = None

    def _program(self, name: str) -> pathlib.Path:
        """Returns a program linked with the mutant's object file, or the program of the build if there is no mutant."""
        if not self._replaced:
            return self.products / name
        if name not in self._linked:
            product = name.removesuffix(".xctest")
            kind = "test" if name.endswith(".xctest") else "exe"
            objects = (self.products / f"{product}.product/Objects.LinkFileList").read_text()
            original, changed = self._replaced
            if original not in objects:
                raise ListError(f"{original} is no part of {name}")
            (self.folder / "objects").write_text(objects.replace(original, str(changed)))
            command = self._arguments(rf"{product}-[^\"]*-debug\.{kind}")
            command[command.index("-o") + 1] = str(self.folder / name)
            command = [f"@{self.folder}/objects" if word.endswith("LinkFileList") else word for word in command]
            status, output = self._run([*command, "-use-ld=lld", "-Xlinker", "--strip-debug"])
            if status:
                raise ListError(f"{name} is not linked: {output[-300:]}")
            self._linked.add(name)
        return self.folder / name

    def link(self, filters: list[str]) -> pathlib.Path:
        """Links the test bundle, and also the program if the selected tests run it."""
        if any("CommandLineTests" in expression for expression in filters):
            self._program("blewedge")
        return self._program("blewedgePackageTests.xctest")

    def tests(self, filters: list[str], skips: list[str], stop: threading.Event | None = None) -> Outcome:
        """Runs tests until the first failure, or until `stop` is set. Hung tests are repeated once with more time."""
        command = [str(self.link(filters)), "--testing-library", "swift-testing"]
        words = [word for expression in filters for word in ("--filter", expression)]
        words += [word for name in skips for word in ("--skip", name)]
        stop = stop or threading.Event()
        outcome = Outcome("failed", "hung")
        for silence in SILENCE:
            outcome = self._until_failure([*command, *words], silence, stop)
            # A test that fails only sometimes has not detected the mutant, so repeat it.
            alone = filter_of(outcome.text) if outcome.end == "failed" else ""
            is_rare = alone and self._until_failure([*command, "--filter", alone], silence, stop).end == "passed"
            if outcome.text != "hung" and not is_rare:
                break
        return outcome

    def _until_failure(self, command: list[str], silence: float, stop: threading.Event) -> Outcome:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no"},
        )
        try:
            end, text = self._watch(process, silence, start + SUITE_LIMIT, stop)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            assert process.stdout
            process.stdout.close()
        self._note(f"$ {shlex.join(command)[:600]}\n({end}: {text}, {time.monotonic() - start:.1f} s)\n\n")
        return Outcome(end, text)

    @staticmethod
    def _watch(process: subprocess.Popen[bytes], silence: float, end: float, stop: threading.Event) -> tuple[str, str]:
        """Reads the output of the tests and returns their result."""
        assert process.stdout
        output = process.stdout.fileno()
        rest, count = b"", ""
        last = time.monotonic()
        while True:
            if stop.is_set():
                return "passed", "stopped"
            if not select.select([output], [], [], 1)[0]:
                if time.monotonic() >= min(end, last + silence):
                    return "failed", "hung"
                continue
            last = time.monotonic()
            if not (read := os.read(output, 65536)):
                break
            *lines, rest = (rest + read).split(b"\n")
            for line in (re.sub(r"\x1b\[[0-9;]*m", "", line.decode(errors="replace")) for line in lines):
                if failed := TEST.match(line):
                    return "failed", failed[1] or failed[2]
                if ran := re.search(r"Test run with (\d+) tests?", line):
                    count = ran[1]
        status = process.wait()
        if status < 0:
            return "failed", f"crashed, signal {-status}"
        if status == 0 and count not in ("", "0"):
            return "passed", f"{count} tests"
        return ("error", "no test is found") if status in (0, NO_TESTS) else ("failed", f"exit status {status}")

    def remove(self) -> None:
        """Removes the linked programs."""
        shutil.rmtree(self.folder, ignore_errors=True)
