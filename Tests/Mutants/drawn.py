# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a sample of the generated mutants with the unit tests, and the controls of that."""

from __future__ import annotations

import concurrent.futures
import hashlib
import math
import pathlib
import re
import threading
import time
from collections.abc import Callable

import lists
from coverage import Coverage
from generated import GENERATOR, Generated, dependents, draw, excuses, near
from lists import REPOSITORY, TESTS, ListError
from objects import NotCompiled, Objects, filter_of
from product import Outcome
from results import Result, Results

# A sample fails if even the upper bound of its confidence interval is below this share of detected mutants. This applies to all
# tests together, and to the tests that name the mutant's type.
AIM = 0.85
NEAR_AIM = 0.5
BESIDE = 4
Group = tuple[str, list[str], list[str]]  # label in the report, filters, and filters of the tests to skip


def wilson(hits: int, number: int) -> tuple[float, float]:
    """Returns the 95 % confidence interval of a proportion (Wilson score interval)."""
    if not number:
        return 0, 1
    z = 1.959964
    middle = (hits + z * z / 2) / (number + z * z)
    half = z / (number + z * z) * math.sqrt(hits * (number - hits) / number + z * z / 4)
    return middle - half, middle + half


def groups(mutant: Generated, own: list[str], coverage: Coverage | None) -> list[list[Group]]:
    """Returns the unit tests that run for a mutant: first the suites of its module that name its type, then all others that run
    its line. Without coverage, only the first, or all of its module if no suite names its type."""
    close = {suite for suite in near(mutant).get(mutant.suite, set()) if suite.rpartition(".")[2] not in own}
    if not coverage:
        filters = [_filter(suite) for suite in sorted(close)] or [rf"^{mutant.suite}\."]
        return [[(mutant.suite, filters, [] if close else own)]]
    rest: dict[str, list[str]] = {}
    for suite in sorted(coverage.suites(mutant.file, mutant.line) - close):
        is_alone = suite.rpartition(".")[2] in own
        label = "tests with processes of their own" if is_alone else suite.partition(".")[0]
        rest.setdefault(label, []).append(_filter(suite))
    first: list[Group] = [(mutant.suite, [_filter(suite) for suite in sorted(close)], [])] if close else []
    return [first, [(label, filters, []) for label, filters in rest.items()]]


def _filter(suite: str) -> str:
    """Returns the filter for all tests of a suite."""
    return rf"^{re.escape(suite)}/"


class Run:
    """Runs mutants one after another."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.objects = Objects(folder / "objects", folder / "log.txt")
        self._sound: dict[str, Outcome] = {}

    def noticed(self, put: Callable[[], None], asked: list[list[Group]]) -> tuple[str, str, str]:
        """Runs the tests on a change. Returns the result (`noticed`, `alive`, `error` or `refused`), the test that detected it,
        and that test's output."""
        try:
            put()
            for together in asked:
                for (by, filters, skips), outcome in self._together(together):
                    if outcome.end == "failed":
                        fault = self._fault(outcome, filters, skips)
                        return ("error", by, fault) if fault else ("noticed", by, outcome.text)
                    if outcome.end == "error" and not skips:
                        return "error", by, outcome.text
        except NotCompiled as error:
            return "refused", "the compiler", str(error)
        except ListError as error:
            return "error", "nobody", str(error)
        return "alive", "nobody", ""

    def _together(self, asked: list[Group]) -> list[tuple[Group, Outcome]]:
        """Runs groups of tests in parallel until the first failure. Many of them only wait for programs and timers."""
        stop = threading.Event()
        self.objects.link([expression for _, filters, _ in asked for expression in filters])

        def one(group: Group) -> tuple[Group, Outcome]:
            outcome = self.objects.tests(group[1], group[2], stop)
            if outcome.end == "failed":
                stop.set()
            return group, outcome

        with concurrent.futures.ThreadPoolExecutor(max_workers=BESIDE) as pool:
            return list(pool.map(one, asked))

    def _fault(self, outcome: Outcome, filters: list[str], skips: list[str]) -> str:
        """Runs the tests that failed on the unmodified product. Returns their error; empty if they pass."""
        if alone := filter_of(outcome.text):
            filters, skips = [alone], []
        key = repr((filters, skips))
        if key not in self._sound:
            self.objects.clear()
            self._sound[key] = self.objects.tests(filters, skips)
        last = self._sound[key]
        return "" if last.end == "passed" else f"{outcome.text} fails without the mutant: {last.text}"


def tests_key(mutant: Generated) -> str:
    """Returns a hash of the tests that can detect a mutant. An undetected mutant is run again if the hash changes."""
    digest = hashlib.sha256()
    for target in dependents()[mutant.module]:
        for path in sorted((TESTS / "Unit" / target).rglob("*.swift")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def run_sample(
    drawn: list[Generated], folder: pathlib.Path, size: int, part: tuple[int, int], seconds: float, is_near: bool = False
) -> int:
    """Runs the first mutants of a sample, or a part of them, prints the score, and returns the exit status.

    With `is_near`, only the tests of the mutant's module that name its type run, or all tests of the module if none does.
    """
    end = time.monotonic() + seconds
    excused = excuses()
    results = Results(folder / ("near.txt" if is_near else "drawn.txt"), set())
    run = Run(folder)
    coverage = None if is_near else Coverage(folder)
    ends: list[tuple[Generated, Result]] = []
    refused = 0
    for number, mutant in enumerate(drawn):
        if len(ends) == size // part[1] + (part[0] <= size % part[1]) or time.monotonic() >= end:
            break
        if number % part[1] != part[0] - 1:
            continue
        last = results.of(mutant)
        if last and last.end == "alive" and last.what != tests_key(mutant):
            last = None
        if not last:
            start = time.monotonic()
            asked = groups(mutant, run.objects.own, coverage)
            how, by, what = run.noticed(lambda: run.objects.put(mutant.file, text(mutant)), asked)
            what = tests_key(mutant) if how == "alive" else what
            last = Result(mutant.name, mutant.key, how, by, what, time.monotonic() - start)
            results.add(last)
            reason = next((excuse.reason for excuse in excused if excuse.fits(mutant)), "")
            print(line(mutant, last, reason), flush=True)
        if last.end == "refused":
            refused += 1
        else:
            ends.append((mutant, last))
    run.objects.remove()
    return report(ends, refused, is_near)


def text(mutant: Generated) -> str:
    """Returns the text of the mutant's file with the change applied."""
    return mutant.applied((REPOSITORY / mutant.file).read_text())


def line(mutant: Generated, result: Result, reason: str) -> str:
    """Returns one line that describes the result of a mutant."""
    place = f"{mutant.file}:{mutant.line}"
    if result.end == "noticed":
        return f"ok    {mutant.name} noticed by {result.by}: {result.what} ({result.seconds:.0f} s)"
    if result.end == "alive":
        return f"alive {mutant.name} {place} {f'equivalent: {reason}' if reason else ''} ({result.seconds:.0f} s)"
    return f"{'-    ' if result.end == 'refused' else 'FAIL '} {mutant.name} {place}: {result.by}: {result.what}"


def report(ends: list[tuple[Generated, Result]], refused: int, is_near: bool) -> int:
    """Prints the score of each module and the surviving mutants, and returns the exit status.

    A near run shares the machine with other runs, so a test that fails without the mutant too is reported but does not fail the
    run.
    """
    excused = excuses()
    reasons = {mutant.name: next((excuse.reason for excuse in excused if excuse.fits(mutant)), "") for mutant, _ in ends}
    counted = [(mutant, result) for mutant, result in ends if result.end in ("noticed", "alive")]
    alive = [mutant for mutant, result in counted if result.end == "alive"]
    wrong = [(mutant, result) for mutant, result in ends if result.end == "error"]
    real = [(mutant, result) for mutant, result in counted if not reasons[mutant.name] or result.end == "noticed"]

    def score(name: str, chosen: list[tuple[Generated, Result]]) -> None:
        hits = sum(result.end == "noticed" for _, result in chosen)
        low, high = wilson(hits, len(chosen))
        share = hits / len(chosen) if chosen else 0
        print(f"{name:<18} {hits:>4} of {len(chosen):>4} noticed  {share:>5.0%}  ({low:.0%} to {high:.0%})")

    print()
    for module in sorted({mutant.module for mutant, _ in real}):
        score(module, [(mutant, result) for mutant, result in real if mutant.module == module])
    score("all", real)
    seconds = [result.seconds for _, result in counted]
    each = sum(seconds) / max(1, len(seconds))
    print(f"{len(counted) - len(real)} equivalent, {refused} refused by the compiler, {each:.0f} s each")
    for mutant in alive:
        print(f"  alive: {mutant.name} ({mutant.file}:{mutant.line}:{mutant.column}) {reasons[mutant.name]}")
        print(f"    - {mutant.lines_before}\n    + {mutant.lines_after}")
    for mutant, result in wrong:
        print(f"  error: {mutant.name} ({mutant.file}:{mutant.line}) {result.by}: {result.what}")
    hits = sum(result.end == "noticed" for _, result in real)
    is_low = wilson(hits, len(real))[1] < (NEAR_AIM if is_near else AIM)
    failed = int(is_low) + (0 if is_near else len(wrong))
    print(f"{len(counted)} passed, {failed} failed")
    return 1 if failed or not counted else 0


def run_controls(folder: pathlib.Path) -> int:
    """Runs changes with a known result as negative controls, and returns the exit status."""
    equivalent = lists.read(GENERATOR / "controls.txt")
    run = Run(folder)
    passed, failed = 0, 0

    def check(name: str, expected: str, put: Callable[[], None], asked: list[list[Group]]) -> None:
        nonlocal passed, failed
        how, by, what = run.noticed(put, asked)
        passed, failed = passed + (how == expected), failed + (how != expected)
        print(f"{'ok   ' if how == expected else 'FAIL '} {name} is {how} {f'by {by}: {what}' if what else ''}", flush=True)

    for mutant in equivalent:
        path = REPOSITORY / mutant.file
        asked: list[list[Group]] = [[(mutant.suite, [rf"^{mutant.suite}\."], run.objects.own)]]
        changed = mutant.applied(path.read_text())
        check(f"{mutant.name}, equivalent,", "alive", lambda: run.objects.put(mutant.file, changed), asked)
    first = draw(5, "controls", "Setup")
    again = draw(5, "controls", "Setup")
    other = draw(5, "others", "Setup")
    longer = draw(9, "controls", "Setup")
    for name, holds in (
        ("the same seed gives the same sample", first == again),
        ("another seed gives another one", first != other),
        ("a smaller sample is the beginning of a larger one", first == longer[:5]),
    ):
        passed, failed = passed + holds, failed + (not holds)
        print(f"{'ok   ' if holds else 'FAIL '} {name}")
    mutant = first[0]
    same = (REPOSITORY / mutant.file).read_text()
    check("a mutant that changes nothing", "error", lambda: run.objects.put(mutant.file, same), [])
    check("a mutant that is no Swift", "refused", lambda: run.objects.put(mutant.file, same + "\nfunc (\n"), [])
    run.objects.remove()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or len(equivalent) < 20 else 0
