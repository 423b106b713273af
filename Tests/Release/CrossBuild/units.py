# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unit tests for aarch64 in an emulator for single programs. They are built and run one target at a time. The tests that are known
# to fail there are listed by name and cause (exceptions.txt).

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 1800  # time limit in seconds for a target
ALONE_SECONDS = 120  # time limit in seconds for an exception, which may hang
SLOW_SECONDS = 60  # the slowest tests are printed if they take longer than this, in seconds
SLOWEST = 3


@dataclass(frozen=True)
class Exceptions:
    """Tests that fail under the emulator, and tests that are missing from an optimized build, each with its cause."""

    failing: dict[str, str]
    unbuilt: dict[str, str]

    @classmethod
    def read(cls, path: Path = HERE / "exceptions.txt") -> Exceptions:
        found = cls({}, {})
        cause = ""
        for line in path.read_text().splitlines():
            if line.startswith(" "):
                (found.unbuilt if cause.startswith("not built: ") else found.failing)[line.strip()] = cause
            elif not line.startswith("#"):
                cause = line
        return found

    def of(self, target: str) -> dict[str, str]:
        return {name: cause for name, cause in self.failing.items() if name.startswith(f"{target}.")}

    def faults(self, listed: list[str], written: list[str]) -> list[str]:
        """Returns the errors in the list of exceptions, by comparing it with the tests in the program and in the sources."""
        functions = {_by_function(name) for name in listed}
        built = [name for name in self.unbuilt if any(each == name or each.startswith(f"{name}/") for each in listed)]
        missing = [
            name for name in written
            if _by_function(name) not in functions and not {name, name.partition("/")[0]} & set(self.unbuilt)
        ]  # fmt: skip
        sources = {part for name in written for part in (name, name.partition("/")[0])}
        return [
            *(f"{name} is no test" for name in self.failing if name not in listed),
            *(f"{name} is built" for name in built),
            *(f"{name} is not built, and no exception" for name in missing),
            *(f"{name} is no test" for name in self.unbuilt if name not in sources),
        ]


def _by_function(name: str) -> str:
    """Returns the target and the function of a test, because a suite may be in a file with another name."""
    return f"{name.partition('.')[0]}.{re.sub(r'.*[./]', '', name.partition('(')[0])}"


def written(tests: Path, targets: list[str]) -> list[str]:
    """Returns the tests in the sources. The suite is assumed to have the name of its file."""
    return [
        f"{target}.{path.stem}/{name}()"
        for target in targets
        for path in sorted((tests / target).rglob("*.swift"))
        for name in re.findall(r"^ *@Test\b.*?\bfunc (\w+)", path.read_text(), re.MULTILINE | re.DOTALL)
    ]


def passed(printed: str) -> tuple[int, bool]:
    """Returns the number of tests that ran, and whether all of them passed."""
    end = re.findall(r"Test run with (\d+) tests?(?: in \d+ suites?)? (passed|failed)", printed)
    count = int(end[-1][0]) if end else 0
    return count, count > 0 and end[-1][1] == "passed"


class Runner:
    """The program with all tests. `command` runs it with any arguments."""

    def __init__(self, command: list[str], root: Path) -> None:
        self._command = [*command, "--testing-library", "swift-testing"]
        self._root = root

    def listed(self) -> list[str]:
        """Returns the names of all tests."""
        done = self._run(["--list-tests"], ALONE_SECONDS)
        return [line.strip() for line in done.splitlines() if re.match(r"\w+\.", line)]

    def target(self, target: str, exceptions: Exceptions, report) -> None:
        """Runs all tests of a target except the exceptions, and then each exception, which must fail."""
        known = exceptions.of(target)
        skipped = [word for name in known for word in ("--skip", f"^{re.escape(name)}")]
        start = time.monotonic()
        printed = self._run(["--filter", rf"^{target}\.", *skipped], SECONDS)
        took = time.monotonic() - start
        count, good = passed(printed)
        report.check(good, f"{target}: {count} tests {'pass' if good else 'ran'} on aarch64")
        print(f"      {took:.0f} s", flush=True)
        if good:
            report.add(count, 0)
        else:
            failed = [line for line in printed.splitlines() if "✘" in line or "Fatal error" in line]
            print("\n".join(failed[:60] or printed.splitlines()[-20:]), flush=True)
        ended = re.findall(r'Test (".*?"|\w+\(\)) (?:with .*? )?(?:passed|failed) after ([\d.]+) seconds', printed)
        for name in {name for name in re.findall(r'Test (".*?"|\w+\(\)) started', printed)} - {name for name, _ in ended}:
            print(f"      not over: {name}", flush=True)
        # All tests start together, so the ones that end last are the slow ones.
        for name, seconds in sorted(ended, key=lambda each: -float(each[1]))[:SLOWEST]:
            if float(seconds) > SLOW_SECONDS:
                print(f"      slow: {name} {float(seconds):.0f} s", flush=True)
        for name, cause in known.items():
            self._exception(name, cause, report)

    def _exception(self, name: str, cause: str, report) -> None:
        printed = self._run(["--filter", f"^{re.escape(name)}"], ALONE_SECONDS)
        report.check(not passed(printed)[1], f"{name} does not pass: {cause}")

    def _run(self, arguments: list[str], seconds: float) -> str:
        """Runs the tests and returns their output until the end or the time limit."""
        settings = {"cwd": self._root, "env": os.environ | {"NO_COLOR": "1", "BLEWEDGE_EMULATED": "1"}, "start_new_session": True}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen([*self._command, *arguments], **settings, **pipes) as running:
            try:
                return running.communicate(timeout=seconds)[0].decode(errors="replace")
            except subprocess.TimeoutExpired:
                kill(running)
                return running.communicate()[0].decode(errors="replace") + f"\nnot over within {seconds:g} s"
            except KeyboardInterrupt:
                kill(running)
                raise


def kill(running: subprocess.Popen) -> None:
    """Kills the program and all processes started by its tests, which may keep the pipe open."""
    os.killpg(running.pid, signal.SIGKILL)
