# SPDX-License-Identifier: GPL-2.0-or-later
"""The lists of mutants, and the tests that they name."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pathlib
import re
from collections.abc import Iterable

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
TESTS = REPOSITORY / "Tests"
ROW = re.compile(r"^([A-Z]{1,2}-\d+[a-z]?|T\d+) ", re.MULTILINE)
KERNEL = re.compile(r"^\d+\.\d+(\.\d+)?$")
STANDARD_KERNEL = "6.12"
# Maximum number of mutants without a requirement that may stay undetected, each for a stated reason.
MOST_ALIVE = 3
# Modules that are tested by another module's test target.
SUITES = {
    "BluetoothAdapters": "BluetoothLETests",
    "VirtualAdapters": "BluetoothLETests",
    "VirtualTransport": "BluetoothLETests",
    "blewedge": "CommandLineTests",
    "CCurl": "BeaconServerTests",
    "CLinux": "LinuxIOTests",
    "CMbedTLS": "CryptographyTests",
    "CTOML": "WedgeTests",
    "Configuration": "WedgeTests",
    "Control": "WedgeTests",
    "Daemon": "WedgeTests",
    "Devices": "WedgeTests",
    "Link": "WedgeTests",
    "Printable": "TextsTests",
    "Rehearsal": "WedgeTests",
}


class ListError(Exception):
    """An entry cannot be parsed or applied, or it names a test that does not exist."""


@dataclasses.dataclass(frozen=True)
class Test:
    """A test that must detect a mutant."""

    kind: str  # `unit`, `lab` or `pages`
    name: str  # a filter of `swift test`, the name of a scenario, or a part of the names of page checks
    kernel: str  # kernel on which to run the scenario

    def __str__(self) -> str:
        return " ".join(word for word in (self.kind, self.name, self.kernel) if word)


class InModule:
    """A change of one file."""

    file: str

    @property
    def module(self) -> str:
        """Module that contains the changed file."""
        return pathlib.PurePath(self.file).parts[1]

    @property
    def suite(self) -> str:
        """Test target of the module."""
        return SUITES.get(self.module, f"{self.module}Tests")


@dataclasses.dataclass
class Mutant(InModule):
    """A fault in one line."""

    name: str
    place: str  # file name and line number of the entry
    rows: list[str] = dataclasses.field(default_factory=list)
    file: str = ""
    line: str = ""
    replacement: str = ""
    after: str = ""
    reason: str = ""  # reason why the mutant may stay undetected
    tests: list[Test] = dataclasses.field(default_factory=list)

    def tests_of(self, kind: str) -> list[Test]:
        """Returns the tests of one kind."""
        return [test for test in self.tests if test.kind == kind]

    def place_in(self, text: str) -> int:
        """Returns the index of the mutant's line in the text of its file."""
        lines = text.split("\n")
        start = 0
        if self.after:
            places = [number for number, line in enumerate(lines) if line.strip() == self.after]
            places = places or [number for number, line in enumerate(lines) if self.after in line]
            if len(places) != 1:
                raise ListError(f"`after {self.after}` is {len(places)} times in {self.file}")
            start = places[0] + 1
        places = [number for number, line in enumerate(lines) if line.strip() == self.line and number >= start]
        if not places or len(places) > 1 and not self.after:
            raise ListError(f"`- {self.line}` is {len(places)} times in {self.file}")
        return places[0]

    def applied(self, text: str) -> str:
        """Returns the text of the mutant's file with the line replaced."""
        lines = text.split("\n")
        place = self.place_in(text)
        indent = lines[place][: -len(lines[place].lstrip())]
        lines[place] = indent + self.replacement if self.replacement else ""
        return "\n".join(lines)

    @functools.cached_property
    def key(self) -> str:
        """Hash of the inputs of a result at the start of the run: the entry, its file, and the files of its tests."""
        digest = hashlib.sha256(repr((self.file, self.line, self.replacement, self.after, self.tests)).encode())
        files = {REPOSITORY / self.file}
        for test in self.tests:
            files |= test_files(test)
        for file in sorted(files):
            digest.update(str(file.relative_to(REPOSITORY)).encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()[:16]


def read(path: pathlib.Path) -> list[Mutant]:
    """Reads the entries of a list."""
    mutants: list[Mutant] = []
    for number, text in enumerate(path.read_text().split("\n"), start=1):
        place = f"{path.name}:{number}"
        if not text.strip() or text.startswith("#"):
            continue
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if word == "mutant":
            mutants.append(Mutant(rest, place))
        elif not mutants:
            raise ListError(f"{place}: before the first `mutant NAME`")
        else:
            _fill(mutants[-1], word, rest, place)
    return mutants


def _fill(mutant: Mutant, word: str, rest: str, place: str) -> None:
    if word == "row":
        mutant.rows = [] if rest == "-" else re.split(r"[, ]+", rest)
    elif word == "file":
        mutant.file = rest
    elif word == "-":
        mutant.line = rest
    elif word == "+":
        mutant.replacement = rest
    elif word == "after":
        mutant.after = rest
    elif word == "noticed" and (match := re.match(r"by (?:(unit) (\S.*)|(lab) (\S+)(?: (\S+))?|pages (\S.*))$", rest)):
        if match[1]:
            test = Test("unit", match[2], "")
        elif match[3]:
            test = Test("lab", match[4], match[5] or STANDARD_KERNEL)
        else:
            test = Test("pages", match[6], "")
        mutant.tests.append(test)
    elif word == "alive" and rest.startswith("because "):
        mutant.reason = rest.removeprefix("because ")
    else:
        raise ListError(f"{place}: `{word} {rest}` is no line of an entry")


def read_all() -> list[Mutant]:
    """Reads all lists and groups the mutants by file."""
    mutants = [mutant for path in sorted(HERE.glob("*.txt")) for mutant in read(path)]
    return sorted(mutants, key=lambda mutant: (mutant.suite, mutant.file, mutant.line, mutant.name))


@functools.cache
def unit_tests() -> dict[str, pathlib.Path]:
    """Returns each unit test in the notation of `swift test --filter` with its file: `Target.Suite/function(…)/File.swift`."""
    found = {}
    for path in sorted((TESTS / "Unit").glob("*Tests/**/*.swift")):
        target = path.relative_to(TESTS / "Unit").parts[0]
        types: list[tuple[int, str]] = []
        is_test = False
        for line in path.read_text().split("\n"):
            depth = len(line) - len(line.lstrip())
            if match := re.match(r"\s*(?:@\S+(?:\(.*\))? )*(?:\w+ )*?(?:struct|class|enum|actor|extension) ([\w.]+)", line):
                types = [entry for entry in types if entry[0] < depth] + [(depth, match[1])]
            if line.lstrip().startswith("@Test"):
                is_test = True
            if is_test and (match := re.search(r"\bfunc `?(\w+)`?\((.*)", line)):
                names = "/".join(name for at, name in types if at < depth)
                labels = "_:" if match[2] and not match[2].startswith(")") else ""
                found[f"{target}.{names}/{match[1]}({labels})/{path.name}"] = path
                is_test = False
    return found


@functools.cache
def matching(expression: str) -> dict[str, pathlib.Path]:
    """Returns the unit tests that match a filter."""
    pattern = re.compile(expression)
    return {name: path for name, path in unit_tests().items() if pattern.search(name)}


@functools.cache
def scenarios() -> list[tuple[re.Pattern[str], pathlib.Path]]:
    """Returns a pattern for the names of the lab's scenarios in each file, with the file."""
    found = []
    for path in sorted((TESTS / "KernelLab/scenarios").glob("*.py")):
        for name in re.findall(r'^\s*@?scenario\(\s*f?"([^"]+)"', path.read_text(), re.MULTILINE):
            expression = ".+".join(re.escape(part) for part in re.split(r"\{[^}]*\}", name))
            found.append((re.compile(expression), path))
    return found


@functools.cache
def page_checks() -> list[str]:
    """Returns the names of the page checks."""
    return re.findall(r'^        \("([^"]+)", [\w.]+(?:, \{.*\})?\),$', (TESTS / "Terminal/run").read_text(), re.MULTILINE)


def test_files(test: Test) -> set[pathlib.Path]:
    """Returns the files that contain a test."""
    if test.kind == "unit":
        return set(matching(test.name).values())
    if test.kind == "lab":
        return {path for pattern, path in scenarios() if pattern.fullmatch(test.name)}
    files = {path for path in (TESTS / "Terminal").iterdir() if path.is_file()}
    return files if any(test.name in name for name in page_checks()) else set()


def state(tests: list[Test]) -> str:
    """Returns a hash of all sources of the product and its tests, and of the names of these tests."""
    digest = hashlib.sha256(", ".join(map(str, tests)).encode())
    files = [path for folder in ("Sources", "Tests") for path in (REPOSITORY / folder).rglob("*") if path.is_file()]
    for path in sorted(files):
        if path.parent != HERE and "__pycache__" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def targets(tests: Iterable[Test]) -> set[str]:
    """Returns the test targets of unit tests."""
    return {name.partition(".")[0] for test in tests if test.kind == "unit" for name in matching(test.name)}


def faults(mutants: list[Mutant]) -> list[str]:
    """Returns all errors in the lists, one line each."""
    known = set(ROW.findall((TESTS / "Vectors/requirements.txt").read_text()))
    found = []
    names: set[str] = set()
    for mutant in mutants:
        problems = _faults(mutant, known)
        if mutant.name in names:
            problems.append("the name is another's too")
        names.add(mutant.name)
        found += [f"{mutant.place}: {mutant.name}: {problem}" for problem in problems]
    reasons = [mutant.name for mutant in mutants if mutant.reason]
    if len(reasons) > MOST_ALIVE:
        found.append(f"{len(reasons)} mutants may stay alive, and no more than {MOST_ALIVE} should: {', '.join(reasons)}")
    return found


def _faults(mutant: Mutant, known: set[str]) -> list[str]:
    problems = [f"no row {row} in requirements.txt" for row in mutant.rows if row not in known]
    path = REPOSITORY / mutant.file
    if not re.fullmatch(r"[a-z0-9][a-z0-9'-]*", mutant.name):
        problems.append("a name has small letters, digits and hyphens")
    if mutant.reason and mutant.rows:
        problems.append("a mutant of a row has no reason to stay alive")
    if not mutant.file.startswith("Sources/") or not path.is_file():
        problems.append(f"no file {mutant.file} of the product")
    elif mutant.line == mutant.replacement:
        problems.append("nothing is changed")
    else:
        try:
            mutant.applied(path.read_text())
        except ListError as error:
            problems.append(str(error))
        if not (TESTS / "Unit" / mutant.suite).is_dir():
            problems.append(f"no test target {mutant.suite} of its module")
    if not mutant.tests:
        problems.append("no test has to notice it")
    for test in mutant.tests:
        try:
            if not test_files(test):
                problems.append(f"there is no test `{test}`")
        except re.error as error:
            problems.append(f"`{test.name}` is no expression: {error}")
        if test.kernel and not KERNEL.match(test.kernel):
            problems.append(f"`{test.kernel}` is no kernel")
    return problems
