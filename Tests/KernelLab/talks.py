# SPDX-License-Identifier: GPL-2.0-or-later
#
# The conversations of Tests/Vectors/typing that can be played without a clock; format.txt there tells how they are
# written.

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from bench import REPOSITORY
from waiting import LabError

FOLDER = REPOSITORY / "Tests/Vectors/typing"
CODES = Path("/usr/include/linux/input-event-codes.h")

# Settings of the data path itself, which no option of the product makes.
UNPLAYABLE = {"ring", "layout-lacks", "layout-lacks-with-capslock"}
REJECTED = {"untypable", "too-short", "too-long", "duplicate", "cut"}
COUNTED = {"received", "typed", "discarded", "rejected"}
REPORT = (0, 0)
QUEUES = {"64": 63, "256": 255}  # events that the kernel keeps for a reader
MODIFIERS = {"shift": "leftshift", "ctrl": "leftctrl", "altgr": "rightalt", "alt": "leftalt", "meta": "leftmeta"}
HELD = {42, 29, 100, 56, 125}  # their codes

Change = tuple[int, int]  # a key's code with 1 for down and 0 for up, or a report
Stroke = tuple[int, tuple[int, ...]]  # a key that goes down, and the modifiers that are down then
Settings = tuple[tuple[str, str], ...]
Values = TypeVar("Values", bytes, list[Change])


@dataclass
class Step:
    """A notification, or keys that a client asks for."""

    value: bytes = b""
    keys: tuple[str, ...] = ()


@dataclass
class Talk:
    """A conversation: what happens, and what has to come of it."""

    name: str
    settings: Settings = ()
    steps: list[Step] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    expected: dict[int, int] = field(default_factory=dict)  # strokes before the step of this number
    account: dict[str, int] = field(default_factory=dict)
    playable: bool = True

    @property
    def strokes(self) -> list[Stroke]:
        return strokes(self.changes)

    @property
    def is_open(self) -> bool:
        return ("open", "") in self.settings

    @property
    def has_client(self) -> bool:
        return any(step.keys for step in self.steps)


def strokes(changes: list[Change]) -> list[Stroke]:
    """The keystrokes among changes, whatever their frames and however long a modifier is held."""
    found: list[Stroke] = []
    held: set[int] = set()
    for code, value in changes:
        if code not in HELD:
            found += [(code, tuple(sorted(held)))] * (value == 1 and code != 0)
        elif value:
            held.add(code)
        else:
            held.discard(code)
    return found


def key_codes() -> dict[str, int]:
    """The kernel's keys by their names in small letters."""
    found = re.findall(r"^#define KEY_(\w+)\s+(0x[0-9a-f]+|\d+)\b", CODES.read_text(), re.MULTILINE)
    codes = {name.lower(): int(number, 0) for name, number in found}
    return codes | {"escape": codes["esc"]}


def repeated(words: list[str], nothing: Values, part: Callable[[str], Values]) -> Values:
    """The parts of the words one after the other, where `x3` is three of the one before."""
    whole, last = nothing, nothing
    for word in words:
        if re.fullmatch(r"x\d+", word):
            whole = whole + last * (int(word[1:]) - 1)
        else:
            last = part(word)
            whole = whole + last
    return whole


def read_bytes(text: str) -> bytes:
    """`"text" 0D x3`: text, and other bytes as hexadecimal digits."""

    def part(word: str) -> bytes:
        return word[1:-1].encode() if word.startswith('"') else bytes.fromhex(word)

    return repeated(re.findall(r'"[^"]*"|\S+', text), b"", part)


def read_changes(text: str, codes: dict[str, int]) -> list[Change]:
    """`+leftshift a x3 . -leftshift "12" ctrl+c`: changes of keys, whole keystrokes, and reports."""

    def keystroke(name: str) -> list[Change]:
        return [(codes[name], 1), REPORT, (codes[name], 0), REPORT]

    def part(word: str) -> list[Change]:
        if word == ".":
            return [REPORT]
        if word[0] in "+-":
            return [(codes[word[1:]], int(word[0] == "+"))]
        if word[0] == '"':
            return [change for letter in word[1:-1] for change in keystroke(letter)]
        modifier, _, key = word.rpartition("+")
        if not modifier:
            return keystroke(key)
        held, code = codes[MODIFIERS[modifier]], codes[key]
        return [(held, 1), (code, 1), REPORT, (code, 0), (held, 0), REPORT]

    empty: list[Change] = []
    return repeated(text.split(), empty, part)


def read_account(text: str) -> dict[str, int]:
    """`15 received: 13 typed, 2 duplicate`, with what was rejected as one number."""
    account: dict[str, int] = {}
    for number, name in re.findall(r"(\d+) ([a-z-]+)", text):
        part = "rejected" if name in REJECTED else "discarded" if name == "withheld" else name
        account[part] = account.get(part, 0) + int(number)
    return account


def read_line(talk: Talk, line: str, codes: dict[str, int]) -> None:
    if not re.match(r"[0-9+]", line):
        name, _, value = line.partition(" ")
        talk.settings += ((name, value),)
        talk.playable &= name not in UNPLAYABLE
        return
    match = re.fullmatch(r"(\S+) (?:x(\d+) )?([<>=]|key )(.*)", line)
    if match is None:
        talk.playable = False  # something happens that is neither bytes nor keys
        return
    time, times, kind, rest = match.groups()
    if kind == ">":
        talk.changes += read_changes(rest, codes) * int(times or 1)
    elif kind == "=":
        talk.account = read_account(rest)
    else:
        talk.playable &= time in ("0", "+0")
        talk.expected[len(talk.steps)] = len(talk.strokes)
        talk.steps += [Step(keys=tuple(rest.split())) if kind == "key " else Step(read_bytes(rest))] * int(times or 1)


def read(path: Path, codes: dict[str, int]) -> list[Talk]:
    """The conversations of a file, each with whether it can be played."""
    talks: list[Talk] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            if line.startswith("== "):
                talks.append(Talk(line[3:]))
            elif line.strip() and not line.startswith("#"):
                read_line(talks[-1], line, codes)
        except (KeyError, ValueError, IndexError) as error:
            raise LabError(f"{path.name}, line {number}: {line}: {error!r}") from None
    for talk in talks:
        talk.playable &= bool(talk.account) and set(talk.account) <= COUNTED
        # A reader loses what leaves without a pace and is more than the kernel keeps for it.
        kept = QUEUES[dict(talk.settings).get("queue", "256")]
        talk.playable &= len(talk.changes) <= kept or not {("stall", "0"), ("pace", "console")} & set(talk.settings)
    return talks


def playable_talks() -> list[Talk]:
    codes = key_codes()
    talks = [talk for path in sorted(FOLDER.glob("*.txt")) if path.name != "format.txt" for talk in read(path, codes)]
    return [talk for talk in talks if talk.playable and (talk.is_open or unchanged(talk, codes))]


def unchanged(talk: Talk, codes: dict[str, int]) -> bool:
    """Whether an open device, as the lab's is, gets the same typed as one with a bond (D-2): no Enter but at the end of what
    it sends, in scan mode by the terminator, and neither Escape nor Ctrl."""
    never = {codes[name] for name in ("escape", "leftctrl", "rightctrl")}
    if any(code in never or never & set(held) for code, held in talk.strokes):
        return talk.has_client
    if any(name == "rule" and "enter" in value for name, value in talk.settings):
        return False
    if ("scan", "") in talk.settings:
        ends_by_default = not any(name == "terminator" for name, _ in talk.settings)
        return ends_by_default or all(code not in (codes["enter"], codes["kpenter"]) for code, _ in talk.strokes)
    # One line end at the end of each, and no other.
    beginnings = [re.sub(rb"(?:\r\n|\r|\n)\Z", b"", step.value) for step in talk.steps]
    return all(not {10, 13} & set(value) for value in beginnings)
