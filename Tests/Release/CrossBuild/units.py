# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unit tests of aarch64 under the emulator of single programs: built, run target by target, and those that are known not to hold
# there, by name and cause (exceptions.txt).

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 1800  # that a target may take
ALONE_SECONDS = 120  # that an exception may take, which may hang
SLOW_SECONDS = 60  # a test that takes longer is named, if it is one of the slowest
SLOWEST = 3


@dataclass(frozen=True)
class Exceptions:
    """The tests that do not pass under the emulator, and those that are not in an optimised build, each with its cause."""

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
        """What is wrong with the list, by the tests that the program has, and those that the sources have."""
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
    """A test's target and function, since a suite may be in a file of another name."""
    return f"{name.partition('.')[0]}.{re.sub(r'.*[./]', '', name.partition('(')[0])}"


def written(tests: Path, targets: list[str]) -> list[str]:
    """The tests of the sources, each in the suite that its file is named after."""
    return [
        f"{target}.{path.stem}/{name}()"
        for target in targets
        for path in sorted((tests / target).rglob("*.swift"))
        for name in re.findall(r"^ *@Test\b.*?\bfunc (\w+)", path.read_text(), re.MULTILINE | re.DOTALL)
    ]


def passed(printed: str) -> tuple[int, bool]:
    """How many tests ran, and whether all passed that there are."""
    end = re.findall(r"Test run with (\d+) tests?(?: in \d+ suites?)? (passed|failed)", printed)
    count = int(end[-1][0]) if end else 0
    return count, count > 0 and end[-1][1] == "passed"


class Runner:
    """The program with all the tests; the command runs it with any arguments."""

    def __init__(self, command: list[str], root: Path) -> None:
        self._command = [*command, "--testing-library", "swift-testing"]
        self._root = root

    def listed(self) -> list[str]:
        """Every test, by its name."""
        done = self._run(["--list-tests"], ALONE_SECONDS)
        return [line.strip() for line in done.splitlines() if re.match(r"\w+\.", line)]

    def target(self, target: str, exceptions: Exceptions, report) -> None:
        """All tests of a target but the exceptions; and each exception, which has to fail."""
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
        # They begin together: the last ones to end are the slow ones.
        for name, seconds in sorted(ended, key=lambda each: -float(each[1]))[:SLOWEST]:
            if float(seconds) > SLOW_SECONDS:
                print(f"      slow: {name} {float(seconds):.0f} s", flush=True)
        for name, cause in known.items():
            self._exception(name, cause, report)

    def _exception(self, name: str, cause: str, report) -> None:
        printed = self._run(["--filter", f"^{re.escape(name)}"], ALONE_SECONDS)
        report.check(not passed(printed)[1], f"{name} does not pass: {cause}")

    def _run(self, arguments: list[str], seconds: float) -> str:
        """What it prints until its end, or the end of its time."""
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
    """With what a test has started, which may have the pipe too."""
    os.killpg(running.pid, signal.SIGKILL)
