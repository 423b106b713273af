# SPDX-License-Identifier: GPL-2.0-or-later
#
# Comparison of our verdicts on HID report descriptors and input reports (hidcases) with the kernel's (hidjudge.c).

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from waiting import LabError

ACCEPTED = Path(__file__).resolve().parent / "hid-differences.txt"
UNJUDGED = ["?"]
LAST_DEFINED = 0xFF  # of the keyboard page


@dataclass
class Case:
    """A descriptor with the verdict on it, and reports with the held usages after each."""

    name: str
    words: str
    verdict: str = ""
    reports: list[str] = field(default_factory=list)
    keys: list[list[str]] = field(default_factory=list)


def cases(text: str) -> Iterator[Case]:
    """Parses the output of hidcases or hidjudge."""
    case = None
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "map":
            if case:
                yield case
            name, _, words = rest.partition(" ")
            case = Case(name, words)
        elif case and word == "ours":
            case.verdict = rest
        elif case and word == "report":
            case.reports.append(rest)
        elif case and word == "keys":
            case.keys.append(rest.split())
    if case:
        yield case


def accepted() -> set[str]:
    """Returns the names of the accepted differences."""
    return {line.split()[0] for line in ACCEPTED.read_text().splitlines() if line.strip() and not line.startswith("#")}


class Comparison:
    """Counts of what was compared, and the differences."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.by_name: Counter[str] = Counter()  # accepted differences
        self.faults: list[str] = []

    def add(self, ours: str, kernel: str) -> None:
        """Compares the outputs of both programs for the same cases."""
        left, right = list(cases(ours)), list(cases(kernel))
        if [case.name for case in left] != [case.name for case in right]:
            raise LabError(f"{len(left)} descriptors for hidjudge, {len(right)} verdicts")
        for one, other in zip(left, right, strict=True):
            self._compare(one, other)

    def _compare(self, ours: Case, kernel: Case) -> None:
        verdict = kernel.words.split()[0]
        self.counts["maps"] += 1
        self.counts[verdict] += 1
        if ours.verdict.split()[0] != verdict:
            self.faults.append(f"{ours.name}: ours {ours.verdict}, the kernel's {kernel.words}: {ours.words}")
            return
        before: list[str] = []
        for number, (report, mine, its) in enumerate(zip(ours.reports, ours.keys, kernel.keys, strict=True)):
            if its == UNJUDGED:
                self.counts["reports not judged"] += 1
                continue
            self.counts["reports"] += 1
            self.counts["with keys"] += bool(its)
            if mine != its:
                name = self._name(report, mine, its, before)
                self.by_name[name] += 1
                if name not in accepted():
                    self.faults.append(
                        f"{ours.name}, report {number} ({report}): ours {' '.join(mine) or 'none'}, "
                        f"the kernel's {' '.join(its) or 'none'}: {ours.words}"
                    )
                    return
            before = its

    def _name(self, report: str, mine: list[str], its: list[str], before: list[str]) -> str:
        """Returns the name of a difference."""
        if report.endswith("short") and its == before:
            return "short-report"
        if [key for key in mine if int(key, 16) <= LAST_DEFINED] == [key for key in its if int(key, 16) <= LAST_DEFINED]:
            return "reserved-usage"
        return "keys"

    def summary(self) -> str:
        kinds = ("maps", "accepted", "refused", "reports", "with keys", "reports not judged")
        parts = [f"{self.counts[kind]} {kind}" for kind in kinds]
        return ", ".join(parts + [f"{name} {number}" for name, number in sorted(self.by_name.items())])
