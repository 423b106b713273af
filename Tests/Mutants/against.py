# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the lists with the generator: whether a mutant by rule near an entry is noticed by the entry's own tests."""

from __future__ import annotations

import pathlib
import random
import time

from drawn import Run, text
from generated import Generated, named
from lists import REPOSITORY, Mutant, read_all, targets
from results import Result, Results

# Maximum number of generated mutants to try for one entry.
MOST = 8


def neighbours(entry: Mutant, mutants: list[Generated]) -> list[Generated]:
    """Returns the generated mutants in the function of an entry, sorted by their distance from its line."""
    place = entry.place_in((REPOSITORY / entry.file).read_text()) + 1
    ordered = sorted(mutants, key=lambda mutant: (abs(mutant.line - place), mutant.column))
    return [mutant for mutant in ordered if mutant.function == ordered[0].function][:MOST]


def compare(run: Run, entry: Mutant, mutants: list[Generated]) -> Result:
    """Runs the unit tests of an entry on the neighboring generated mutants until the tests detect one."""
    start = time.monotonic()
    tests = entry.tests_of("unit")
    asked = [[(", ".join(sorted(targets(tests))), [test.name for test in tests], [])]]
    tried = []
    for mutant in neighbours(entry, mutants):
        how, _, what = run.noticed(lambda: run.objects.put(mutant.file, text(mutant)), asked)
        if how == "noticed":
            return Result(entry.name, entry.key, "noticed", mutant.name, what, time.monotonic() - start)
        if how == "error":
            return Result(entry.name, entry.key, "error", mutant.name, what, time.monotonic() - start)
        tried.append(mutant.name)
    return Result(entry.name, entry.key, "alive", "nobody", ", ".join(tried), time.monotonic() - start)


def run_against(folder: pathlib.Path, size: int, seed: str, part: tuple[int, int], seconds: float) -> int:
    """Compares a sample of the entries, or a part of the sample, and returns the exit status."""
    end = time.monotonic() + seconds
    entries = [entry for entry in read_all() if entry.tests_of("unit") and entry.file.endswith(".swift")]
    random.Random(seed).shuffle(entries)
    by_file: dict[str, list[Generated]] = {}
    for mutant in named([""], None):
        by_file.setdefault(mutant.file, []).append(mutant)
    results = Results(folder / "against.txt", set())
    run = Run(folder)
    ends: list[tuple[Mutant, Result]] = []
    for entry in entries[:size][part[0] - 1 :: part[1]]:
        last = results.of(entry)
        if not last:
            if time.monotonic() >= end:
                continue
            last = compare(run, entry, by_file.get(entry.file, []))
            results.add(last)
            word = {"noticed": "ok   ", "alive": "alone", "error": "FAIL "}[last.end]
            print(f"{word} {entry.name} ({entry.place}): {last.by} ({last.seconds:.0f} s)", flush=True)
        ends.append((entry, last))
    run.objects.remove()
    counts = {how: [entry for entry, last in ends if last.end == how] for how in ("noticed", "alive", "error")}
    print(f"\n{len(counts['noticed'])} of {len(ends)} have a mutant by rule in their function that their tests notice")
    for entry in counts["alive"]:
        print(f"  alone: {entry.name} ({entry.place}) {entry.file}")
    print(f"{len(counts['noticed']) + len(counts['alive'])} passed, {len(counts['error'])} failed")
    return 1 if counts["error"] or not ends else 0
