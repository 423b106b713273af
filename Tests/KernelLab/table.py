# SPDX-License-Identifier: GPL-2.0-or-later
#
# Table of kernels and controllers in Markdown (`lab --table`, matrix.md).

from __future__ import annotations

from dataclasses import dataclass, field

OVER_A_LINE = "H4, no kernel"


@dataclass
class Table:
    """Results of the main job by controller and kernel."""

    columns: list[str] = field(default_factory=list)
    releases: dict[str, str] = field(default_factory=dict)  # for the columns that are kernels
    rows: dict[str, str] = field(default_factory=dict)  # description of each controller
    _cells: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, row: str, about: str, column: str, text: str, release: str = "") -> None:
        if column not in self.columns:
            self.columns.append(column)
        self.rows.setdefault(row, about)
        self.releases[column] = release or self.releases.get(column, "")
        self._cells[row, column] = text

    def markdown(self) -> str:
        """Returns the table. Cells that were not run are empty."""
        heads = [f"{column} ({release})" if (release := self.releases[column]) else column for column in self.columns]
        lines = ["| controller | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
        for row, about in self.rows.items():
            cells = [self._cells.get((row, column), "").replace("|", "\\|") for column in self.columns]
            lines.append(f"| {row}: {about} | " + " | ".join(cells) + " |")
        return "\n".join(lines)
