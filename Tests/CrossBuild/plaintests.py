# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests' sources for Embedded Swift, which has neither Swift Testing nor `any Error` nor key paths: `@Test` and `@Suite` are
# taken away, `#expect` and `#require` become calls of Embedded/Testing.swift, and each file gets a function that runs its tests.
# What throws errors of any type does not throw there: the test ends instead. What throws one type stays as it is. Every line
# keeps its number.

from __future__ import annotations

import re
from dataclasses import dataclass

CLOSING = {"(": ")", "[": "]", "{": "}"}
TYPE = re.compile(r"\b(struct|class|enum|extension|protocol)\s+([A-Z][\w.]*)([^{};]*)\{")
CASE = re.compile(r"^\s*case\s+((?:[^\n]*,\s*\n)*[^\n]*)$", re.MULTILINE)
ATTRIBUTE = re.compile(r"@(Test|Suite)\b")
FUNCTION = re.compile(r"\s*((?:@\w+\s+|\w+\s+)*)func\s+(\w+)\s*\(")
ARGUMENTS = re.compile(r"\barguments:")
SIGNATURE = re.compile(r"\b(?:func\s+[^\s(<]+|init[?!]?)\s*(?:<[^(){}]*>)?\s*\(")
THROWING = re.compile(r"\bthrows\b(?!\s*[(:])\s?")
TYPED_CLOSURE = re.compile(r"\{[^{}\n]*\bthrows\([^{}\n]*\bin\b")
DO = re.compile(r"\bdo\b(\s*throws\([^)]*\))?\s*\{")
EXPECT_THROWS = re.compile(r"#expect\(\s*throws:\s*")
TRY = re.compile(r"\btry\b(?![?!])")
THROW = re.compile(r"\bthrow\b\s*")
# Also within an interpolation.
KEY_PATH = re.compile(r"(?<=[( ])\\((?:\.\w+)+)(?=[),])")
LABEL = re.compile(r"(\w+)(?:\s+(\w+))?\s*:\s*(.*)", re.DOTALL)


class TranslationError(Exception):
    """A test that is written in a way that is not known here."""


@dataclass
class Test:
    """A test function: the type it is in, its name, its parameters as label and type, and the collections for these."""

    suite: str
    function: str
    title: str
    parameters: list[tuple[str, str]]
    collections: list[str]

    @property
    def name(self) -> str:
        """Its name as it is printed."""
        return self.title[1:-1]

    def call(self) -> list[str]:
        """The lines that run it."""
        begin = f"Testing.run({self.title}) {{"
        target = f"{self.suite}().{self.function}" if self.suite else self.function
        if not self.collections:
            return [f"{begin} try! {target}() }}"]
        if len(self.collections) == len(self.parameters):
            names = [f"value{place}" for place in range(len(self.parameters))]
            loops = [
                f"Testing.each({collection}) {{ ({name}: {kind}) in"
                for name, (_, kind), collection in zip(names, self.parameters, self.collections)
            ]
        elif len(self.collections) == 1:
            names = [f"values.{place}" for place in range(len(self.parameters))]
            loops = [f"Testing.each({self.collections[0]}) {{ (values: ({', '.join(kind for _, kind in self.parameters)})) in"]
        else:
            raise TranslationError(f"{self.suite}/{self.function}: {len(self.collections)} collections")
        given = ", ".join(f"{label}: {name}" if label else name for name, (label, _) in zip(names, self.parameters))
        return [begin, *loops, f"try! {target}({given})", "}" * (len(loops) + 1)]


def masked(text: str) -> str:
    """The text with blanks for what is in comments and in literals, so that each bracket that is left is one of the code."""
    result = list(text)
    _mask(text, 0, result, None)
    return "".join(result)


def _mask(text: str, at: int, result: list[str], until: str | None) -> int:
    """Goes on to the bracket that closes an interpolation, or to the end."""
    depth = 0
    while at < len(text):
        if text.startswith("//", at):
            end = text.find("\n", at)
            at = _blank(result, at, len(text) if end < 0 else end)
        elif text.startswith("/*", at):
            at = _blank(result, at, text.index("*/", at) + 2)
        elif match := re.compile(r'(#*)("""|")').match(text, at):
            at = _literal(text, at, result, match[1], match[2])
        else:
            if until and text[at] == "(":
                depth += 1
            elif until and text[at] == ")":
                if depth == 0:
                    return at
                depth -= 1
            at += 1
    return at


def _literal(text: str, at: int, result: list[str], hashes: str, quote: str) -> int:
    start = at
    at += len(hashes) + len(quote)
    while not text.startswith(quote + hashes, at):
        if text.startswith(f"\\{hashes}(", at):
            at = _mask(text, at + len(hashes) + 2, list(text), ")") + 1
        elif text.startswith(f"\\{hashes}", at):
            at += len(hashes) + 2
        else:
            at += 1
    return _blank(result, start, at + len(quote) + len(hashes))


def _blank(result: list[str], start: int, end: int) -> int:
    for place in range(start, end):
        if result[place] != "\n":
            result[place] = " "
    return end


def closing(mask: str, at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    stack: list[str] = []
    for place in range(at, len(mask)):
        if mask[place] in CLOSING:
            stack.append(CLOSING[mask[place]])
        elif stack and mask[place] == stack[-1]:
            stack.pop()
            if not stack:
                return place
    raise TranslationError("a bracket is not closed")


def split(text: str, mask: str, start: int, end: int) -> list[str]:
    """The parts between commas that are in no bracket."""
    parts, depth, begin = [], 0, start
    for place in range(start, end):
        if mask[place] in "([{":
            depth += 1
        elif mask[place] in ")]}":
            depth -= 1
        elif mask[place] == "," and depth == 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    last = text[begin:end].strip()
    return [*parts, last] if last else parts


def enclosing(mask: str, at: int) -> str:
    """The types around a place, outermost first, with dots between."""
    names = [match[2] for match in TYPE.finditer(mask, 0, at) if closing(mask, match.end() - 1) > at]
    return ".".join(names)


def case_names(texts: list[str]) -> str:
    """A file of a module that says how its enumerations' cases are called: Embedded Swift does not know it at run time."""
    masks = [masked(text) for text in texts]
    described = {name for mask in masks for name in re.findall(r"\b([A-Z]\w*)\b[^{};\n]*:[^{};]*\bCustomStringConvertible\b", mask)}
    lines = []
    for mask in masks:
        for match in TYPE.finditer(mask):
            hidden = re.search(r"\b(?:private|fileprivate)\b[^\n]*$", mask[: match.start()].rpartition("\n")[2] + " ")
            if match[1] != "enum" or hidden or match[2] in described:
                continue
            body = _shallow(mask[match.end() : closing(mask, match.end() - 1)])
            names = [name.strip() for case in CASE.findall(body) for name in re.sub(r"=[^,]*", "", case).split(",")]
            if not names or "description" in body or any("(" in name for name in names):
                continue
            outer = enclosing(mask, match.start())
            whole = f"{outer}.{match[2]}" if outer else match[2]
            lines += [f"extension {whole}: CustomStringConvertible {{", "public var description: String {", "switch self {"]
            lines += [f'case .{name}: "{name.strip("`")}"' for name in names]
            lines.append("}}}")
    return "\n".join(lines)


def _shallow(body: str) -> str:
    """A body without what is in braces within it, and without values in quotes."""
    result, depth = [], 0
    for character in body:
        depth -= character == "}"
        if depth == 0:
            result.append(character)
        depth += character == "{"
    return "".join(result)


def translated(text: str, path: str, name: str, left_out: list[str]) -> tuple[str, list[Test]]:
    """A file of tests as one without macros and without errors of any type, and its tests.

    `name` becomes the function that runs them, without those whose names are left out.
    """
    mask = masked(text)
    attributes: list[tuple[int, int, str]] = []
    tests: list[Test] = []
    for match in ATTRIBUTE.finditer(mask):
        end = match.end()
        given: tuple[int, int] | None = None
        if mask[end : end + 1] == "(":
            last = closing(mask, end)
            given = (end + 1, last)
            end = last + 1
        attributes.append((match.start(), end, "\n" * text.count("\n", match.start(), end)))
        if match[1] == "Test":
            tests.append(_test(text, mask, given, end, enclosing(mask, match.start())))
    edits = [(match.start(), match.start() + 1, "") for match in re.finditer(r"#(expect|require)\b", mask)]
    edits += [(match.start(), match.end(), "SourceLocation()") for match in re.finditer(r"#_sourceLocation\b", mask)]
    edits += [(match.start(), match.end(), f"{{ $0{match[1]} }}") for match in KEY_PATH.finditer(text)]
    edits += _without_any_error(text, mask)
    edits = [edit for edit in edits if not any(start < edit[0] < end for start, end, _ in attributes)]
    for start, end, new in sorted([*edits, *attributes], reverse=True):
        text = text[:start] + new + text[end:]
    lines = ["import Testing", f'#sourceLocation(file: "{path}", line: 1)', text, "#sourceLocation()"]
    # Arguments are named as within their suite.
    chosen = [test for test in tests if test.name not in left_out]
    suites = list(dict.fromkeys(test.suite for test in chosen))
    for suite in suites:
        lines.append(f"extension {suite} {{ static func {name}() {{" if suite else f"private func {name}Alone() {{")
        lines += [line for test in chosen if test.suite == suite for line in test.call()]
        lines.append("} }" if suite else "}")
    if not suites:
        return "\n".join([*lines, ""]), tests
    lines.append(f"func {name}() {{")
    lines += [f"{suite}.{name}()" if suite else f"{name}Alone()" for suite in suites]
    return "\n".join([*lines, "}", ""]), tests


def _without_any_error(text: str, mask: str) -> list[tuple[int, int, str]]:
    """The changes by which what throws errors of any type ends the test instead."""
    edits = [(match.start(), match.end(), "") for match in THROWING.finditer(mask)]
    # Bodies, and whether errors of one type leave them: the innermost around a `try` says what becomes of it.
    bodies: list[tuple[int, int, bool]] = []
    for match in SIGNATURE.finditer(mask):
        parameters = closing(mask, match.end() - 1)
        opening = mask.find("{", parameters)
        if opening >= 0 and not re.search(r"[;}]|\bfunc\b", mask[parameters:opening]):
            bodies.append((opening, closing(mask, opening), "throws(" in mask[parameters:opening]))
    for match in DO.finditer(mask):
        opening = match.end() - 1
        last = closing(mask, opening)
        if match[1] or re.match(r"\s*catch\b", mask[last + 1 :]):
            bodies.append((opening, last, True))
    bodies += [(match.start(), closing(mask, match.start()), True) for match in TYPED_CLOSURE.finditer(mask)]
    for match in EXPECT_THROWS.finditer(mask):
        last = closing(mask, mask.index("(", match.start()))
        opening = mask.index("{", last)
        if mask[last + 1 : opening].strip():
            raise TranslationError(f"no work behind {text[match.start() : last + 1]}")
        kind = thrown(split(text, mask, match.end(), last)[0])
        if kind != "Never":
            bodies.append((opening, closing(mask, opening), True))
            edits.append((opening + 1, opening + 1, f" () throws({kind}) in"))
    for match in TRY.finditer(mask):
        if not _is_typed(bodies, match.start()):
            edits.append((match.end(), match.end(), "!"))
    for match in THROW.finditer(mask):
        if not _is_typed(bodies, match.start()):
            end = _end_of_expression(mask, match.end())
            edits += [(match.start(), match.end(), "Testing.stop(throwing: "), (end, end, ")")]
    return edits


def _is_typed(bodies: list[tuple[int, int, bool]], at: int) -> bool:
    around = [body for body in bodies if body[0] < at < body[1]]
    return bool(around) and max(around)[2]


def _end_of_expression(mask: str, at: int) -> int:
    depth = 0
    for place in range(at, len(mask)):
        if mask[place] in "([{":
            depth += 1
        elif mask[place] in ")]}":
            if depth == 0:
                return place - (mask[place - 1] == " ")
            depth -= 1
        elif mask[place] == "\n" and depth == 0:
            return place
    return len(mask)


def thrown(error: str) -> str:
    """The type of an error that is expected: of `Type.self`, `Type.case(…)`, `Type(…)`."""
    names = re.match(r"[\w.]*", error)[0].split(".")
    while names and not names[-1][:1].isupper():
        names.pop()
    if not names or not names[0][:1].isupper():
        raise TranslationError(f"what is expected to be thrown names no type: {error}")
    return ".".join(names)


def _test(text: str, mask: str, given: tuple[int, int] | None, end: int, suite: str) -> Test:
    function = FUNCTION.match(mask, end)
    if not function:
        raise TranslationError(f"no function behind @Test: {text[end : end + 60]!r}")
    if "static" in function[1] or "async" in mask[end : mask.index("{", end)]:
        raise TranslationError(f"{function[2]} is static or async")
    opening = function.end() - 1
    last = closing(mask, opening)
    parameters = []
    for parameter in split(text, mask, opening + 1, last):
        label = LABEL.fullmatch(parameter)
        if not label:
            raise TranslationError(f"{function[2]}: a parameter that is none: {parameter}")
        parameters.append(("" if label[1] == "_" else label[1], label[3]))
    title, collections = f'"{function[2]}"', []
    if given:
        names = ARGUMENTS.search(mask, *given)
        parts = split(text, mask, given[0], names.start() if names else given[1])
        if parts and parts[0].startswith('"'):
            title = parts[0]
        # Traits, such as a limit of time, are the host's.
        if names:
            collections = [KEY_PATH.sub(r"{ $0\1 }", TRY.sub("try!", each)) for each in split(text, mask, names.end(), given[1])]
    if bool(collections) != bool(parameters):
        raise TranslationError(f"{function[2]}: parameters without arguments, or the other way round")
    return Test(suite, function[2], title, parameters, collections)
