# SPDX-License-Identifier: GPL-2.0-or-later
"""How mutants ended, in a text file: one line each, the last one of a name counts."""

from __future__ import annotations

import dataclasses
import pathlib

from lists import Mutant


@dataclasses.dataclass
class Result:
    """Result of one mutant."""

    name: str
    key: str  # Mutant.key at the time of the run
    end: str  # `noticed`, `alive` or `error`
    by: str  # the test that detected it
    what: str  # output of that test
    seconds: float


class Results:
    """Saved results. A mutant whose key has changed has no result."""

    def __init__(self, path: pathlib.Path, forget: set[str]) -> None:
        self.path = path
        self._results: dict[str, Result] = {}
        self.sound: set[str] = set()  # keys of mutants whose tests pass on the unmodified product
        lines = path.read_text().split("\n") if path.is_file() else []
        for fields in (line.split("\t") for line in lines):
            if len(fields) == 6:
                self._results[fields[0]] = Result(*fields[:5], float(fields[5]))
            elif len(fields) == 2:
                self.sound.add(fields[1])
        # Errors are not kept, so that those mutants are run again.
        for name in forget | {name for name, result in self._results.items() if result.end == "error"}:
            self._results.pop(name, None)

    def of(self, mutant: Mutant) -> Result | None:
        """Returns the result of a mutant, unless its entry, its file or its tests have changed since."""
        result = self._results.get(mutant.name)
        return result if result and result.key == mutant.key else None

    def add(self, result: Result) -> None:
        """Saves a result."""
        self._results[result.name] = result
        self._write(result.name, result.key, result.end, result.by, result.what, f"{result.seconds:.1f}")

    def add_sound(self, key: str) -> None:
        """Records that the tests of a mutant pass on the unmodified product."""
        self.sound.add(key)
        self._write("sound", key)

    def _write(self, *fields: str) -> None:
        with self.path.open("a") as file:
            file.write("\t".join(" ".join(field.split()) for field in fields) + "\n")
