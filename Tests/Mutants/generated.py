# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants that the generator makes by rule (Tests/Mutants/Generator), and those of them that are equivalent."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pathlib
import re
import subprocess

from lists import HERE, REPOSITORY, TESTS, InModule, ListError, unit_tests

GENERATOR = HERE / "Generator"


@dataclasses.dataclass(frozen=True)
class Generated(InModule):
    """A mutant created by the generator."""

    name: str  # function, operator, and a hash of the changed lines
    file: str
    line: int
    column: int
    function: str
    operator: str
    before: str
    after: str
    lines_before: str
    lines_after: str

    def applied(self, text: str) -> str:
        """Returns the text of the mutant's file with the change applied."""
        content = text.encode()
        start = sum(len(line) + 1 for line in content.split(b"\n")[: self.line - 1]) + self.column - 1
        before, after = self.before.encode(), self.after.encode()
        if content[start : start + len(before)] != before:
            raise ListError(f"{self.file}:{self.line}:{self.column} is not `{self.before}`")
        return (content[:start] + after + content[start + len(before) :]).decode()

    @functools.cached_property
    def key(self) -> str:
        """Hash of the inputs of a result: the change and its file."""
        digest = hashlib.sha256(repr((self.file, self.line, self.column, self.before, self.after)).encode())
        return digest.hexdigest()[:8] + hashlib.sha256((REPOSITORY / self.file).read_bytes()).hexdigest()[:8]

    @property
    def types(self) -> set[str]:
        """Names of the types that contain the mutant."""
        return set(re.findall(r"(?<![\w:(])[A-Z]\w+", self.function))


def draw(size: int, seed: str, module: str | None = None) -> list[Generated]:
    """Returns a random sample of the product's mutants. The same seed gives the same sample."""
    return _generated(["--seed", seed, "--size", str(size)], module)


def named(words: list[str], module: str | None) -> list[Generated]:
    """Returns all mutants whose names contain at least one of the words."""
    return [mutant for mutant in _generated([], module) if any(word in mutant.name for word in words)]


def _generated(options: list[str], module: str | None) -> list[Generated]:
    """Runs the generator, building it if needed, and returns its mutants."""
    scratch = REPOSITORY / ".build/mutants"
    command = ["swift", "build", "--package-path", GENERATOR, "--scratch-path", scratch, "--product", "mutants"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode:
        raise ListError("the generator does not build: " + result.stdout[-2000:])
    under = REPOSITORY / "Sources" / (module or "")
    files = [str(path.relative_to(REPOSITORY)) for path in under.rglob("*.swift")]
    command = [scratch / "debug/mutants", *options, *files]
    lines = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [read_line(line) for line in lines]


def read_line(line: str) -> Generated:
    """Parses a line of the generator's output."""
    fields = json.loads(line)
    names = ("name", "file", "line", "column", "function", "operator", "before", "after", "linesBefore", "linesAfter")
    return Generated(*(fields[name] for name in names))


@dataclasses.dataclass
class Excuse:
    """Reason why mutants of a function and an operator are equivalent to the original code."""

    function: str
    operator: str
    place: str
    before: str = ""  # the changed lines; empty for the whole function
    after: str = ""
    reason: str = ""

    def fits(self, mutant: Generated) -> bool:
        """Returns true if the excuse applies to a mutant."""
        lines = (mutant.lines_before, mutant.lines_after)
        is_line = not self.before or lines == (self.before, self.after)
        return (self.function, self.operator) == (mutant.function, mutant.operator) and is_line


def excuses(path: pathlib.Path = GENERATOR / "excused.txt") -> list[Excuse]:
    """Reads the list of equivalent mutants."""
    found: list[Excuse] = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        word, _, rest = line.strip().partition(" ")
        if not word or line.startswith("#"):
            continue
        place = f"{path.name}:{number}"
        if word == "mutant" and "/" in rest:
            function, _, operator = rest.rpartition("/")
            found.append(Excuse(function, operator, place))
        elif word in ("-", "+") and found:
            setattr(found[-1], "before" if word == "-" else "after", " ".join(rest.split()))
        elif word == "equivalent" and rest.startswith("because ") and found:
            found[-1].reason = rest.removeprefix("because ")
        else:
            raise ListError(f"{place}: `{line}` is no line of an entry")
    for excuse in found:
        if not excuse.reason or excuse.before == excuse.after != "":
            raise ListError(f"{excuse.place}: {excuse.function} has no reason, or changes nothing")
    return found


@functools.cache
def dependents() -> dict[str, list[str]]:
    """Returns the test targets that can detect mutants of each module, shortest first."""
    text = subprocess.run(
        ["swift", "package", "describe", "--type", "json"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    targets = {target["name"]: target for target in json.loads(text)["targets"]}

    def closure(name: str) -> set[str]:
        below = [other for other in targets[name].get("target_dependencies", []) if other in targets]
        return {name}.union(*map(closure, below))

    def size(name: str) -> int:
        return sum(path.stat().st_size for path in (TESTS / "Unit" / name).rglob("*.swift"))

    tests = sorted((name for name, target in targets.items() if target["type"] == "test"), key=size)
    seen = {name: closure(name) for name in tests}
    return {module: [name for name in tests if module in seen[name]] for module in targets}


@functools.cache
def words(path: pathlib.Path) -> set[str]:
    """Returns the set of words in a file."""
    return set(re.findall(r"\w+", path.read_text()))


def near(mutant: Generated) -> dict[str, set[str]]:
    """Returns, for each test target, the suites whose files name a type that contains the mutant."""
    found: dict[str, set[str]] = {}
    for name, path in unit_tests().items():
        suite = name.partition("/")[0]
        if mutant.types & words(path):
            found.setdefault(suite.partition(".")[0], set()).add(suite)
    return found
