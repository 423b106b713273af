# SPDX-License-Identifier: GPL-2.0-or-later
#
# Outcomes of the scenarios, and the last lines of the lab's output. They are the same for one process and for several.

from __future__ import annotations

from dataclasses import dataclass, field

from losses import PLACES, described
from rows import rows
from table import OVER_A_LINE, Table


@dataclass
class Outcome:
    """Outcome of one scenario on one kernel. A worker sends it as JSON."""

    kernel: str
    scenario: str
    about: str
    cause: str = ""  # cause of the failure; empty if it passed
    figures: str = ""
    note: str = ""
    logs: str = ""
    release: str = ""  # release of the kernel, if it was booted
    seconds: float = 0
    kernel_fault: bool = False  # the kernel has a known fault that occurred
    repeated: int = 0  # repetitions because of faults of the emulator
    given_up: int = 0  # times that the kernel abandoned controllers
    lost: dict[str, int] = field(default_factory=dict)  # by the lab itself
    is_on_purpose: bool = False  # true in a negative control

    def line(self) -> str:
        text = self.figures
        if self.cause:
            text = self.cause + (f" [{text}]" if text else "") + (f"  logs: {self.logs}" if self.logs else "")
        return f"{'FAIL' if self.cause else 'ok  '}  {self.kernel:<5} {self.scenario:<18} {rows(self.about)}{text}  ({self.seconds:.1f} s)"


class Sum:
    """Sum of all outcomes."""

    def __init__(self) -> None:
        self.passed = self.failed = 0
        self.outcomes: list[Outcome] = []
        self._over_lines: list[tuple[str, str, str]] = []

    def add(self, outcome: Outcome) -> None:
        """Counts an outcome and prints its line."""
        self.outcomes.append(outcome)
        self.count(outcome.cause)
        print(outcome.line(), flush=True)

    def over_line(self, name: str, about: str, row: str, cause: str, note: str, seconds: float) -> None:
        """Records a result for the table's column without a kernel."""
        self._over_lines.append((row, about, f"**fails**: {cause}" if cause else note))
        self.count(cause)
        print(f"{'FAIL' if cause else 'ok  '}  H4    {name:<18} {cause or note}  ({seconds:.1f} s)", flush=True)

    def count(self, cause: str) -> None:
        self.failed, self.passed = self.failed + bool(cause), self.passed + (not cause)

    def fail(self, cause: str) -> None:
        """Counts and prints an error that is not the outcome of a scenario."""
        self.failed += 1
        print(f"FAIL  {cause}", flush=True)

    def lost(self, on_purpose: bool = False) -> dict[str, int]:
        """Returns the lab's own losses by place: the real ones, or those caused on purpose by negative controls."""
        counts = dict.fromkeys(PLACES, 0)
        for outcome in self.outcomes:
            if outcome.is_on_purpose == on_purpose:
                for place, number in outcome.lost.items():
                    counts[place] += number
        return counts

    def table(self, prefix: str, kernels: list[str], order: list[str]) -> str:
        """Returns the table of the scenarios whose names begin with `prefix`, sorted by these kernels and this order."""
        table = Table()
        of_table = [one for one in self.outcomes if one.scenario.startswith(prefix)]
        for one in sorted(of_table, key=lambda one: (kernels.index(one.kernel), order.index(one.scenario))):
            text = f"**fails**: {one.cause}" if one.cause else one.note
            table.add(one.scenario.removeprefix(prefix), one.about, one.kernel, text, one.release)
        for row, about, text in self._over_lines:
            table.add(row, about, OVER_A_LINE, text)
        return table.markdown()

    def lines(self, kernels: list[str]) -> list[str]:
        """Returns the lines about the lab's losses, the repetitions and their reasons, and the totals."""
        on_purpose = described(self.lost(on_purpose=True), only_losses=True)
        more = f"; in its controls, on purpose: {on_purpose}" if on_purpose else ""
        repeated, given_up = sum(one.repeated for one in self.outcomes), sum(one.given_up for one in self.outcomes)
        faults = [one for name in kernels for one in self.outcomes if one.kernel == name and one.kernel_fault and not one.cause]
        captured = ", ".join(f"{one.kernel} {one.scenario}" for one in faults)
        return [
            f"the lab's own losses: {described(self.lost())}{more}",
            f"begun again: scenarios for a fault of the emulator {repeated}, controllers that the kernel gave up {given_up}",
            *([f"the kernel's own faults, captured: {captured}"] if captured else []),
            f"{self.passed} passed, {self.failed} failed",
        ]

    def status(self) -> int:
        return 0 if self.passed > 0 and self.failed == 0 and not any(self.lost().values()) else 1
