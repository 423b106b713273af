# SPDX-License-Identifier: GPL-2.0-or-later
#
# Conversations of Tests/Vectors/typing that can be replayed without a clock. format.txt in that folder describes the format.

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

# Settings of the data path itself that no option of the product can change.
UNPLAYABLE = {"ring", "layout-lacks", "layout-lacks-with-capslock"}
REJECTED = {"untypable", "too-short", "too-long", "duplicate", "cut"}
COUNTED = {"received", "typed", "discarded", "rejected"}
REPORT = (0, 0)
QUEUES = {"64": 63, "256": 255}  # number of events that the kernel keeps for a reader
MODIFIERS = {"shift": "leftshift", "ctrl": "leftctrl", "altgr": "rightalt", "alt": "leftalt", "meta": "leftmeta"}
HELD = {42, 29, 100, 56, 125}  # key codes of the modifiers

Change = tuple[int, int]  # a key code with 1 (down) or 0 (up), or a report
Stroke = tuple[int, tuple[int, ...]]  # the key that goes down, and the modifiers held at that time
Settings = tuple[tuple[str, str], ...]
Values = TypeVar("Values", bytes, list[Change])


@dataclass
class Step:
    """A notification, or keys that a client requests."""

    value: bytes = b""
    keys: tuple[str, ...] = ()


@dataclass
class Talk:
    """A conversation: its steps and the expected result."""

    name: str
    settings: Settings = ()
    steps: list[Step] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    expected: dict[int, int] = field(default_factory=dict)  # number of expected strokes before the step with this number
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
    """Returns the keystrokes in a list of changes, ignoring the frames and how long a modifier is held."""
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
    """Returns the kernel's key codes by name in lowercase."""
    found = re.findall(r"^#define KEY_(\w+)\s+(0x[0-9a-f]+|\d+)\b", CODES.read_text(), re.MULTILINE)
    codes = {name.lower(): int(number, 0) for name, number in found}
    return codes | {"escape": codes["esc"]}


def repeated(words: list[str], nothing: Values, part: Callable[[str], Values]) -> Values:
    """Concatenates the parts of the words. `x3` repeats the previous part three times."""
    whole, last = nothing, nothing
    for word in words:
        if re.fullmatch(r"x\d+", word):
            whole = whole + last * (int(word[1:]) - 1)
        else:
            last = part(word)
            whole = whole + last
    return whole


def read_bytes(text: str) -> bytes:
    """Parses bytes: `"text" 0D x3`, text and hexadecimal numbers."""

    def part(word: str) -> bytes:
        return word[1:-1].encode() if word.startswith('"') else bytes.fromhex(word)

    return repeated(re.findall(r'"[^"]*"|\S+', text), b"", part)


def read_changes(text: str, codes: dict[str, int]) -> list[Change]:
    """Parses changes of keys, whole keystrokes and reports: `+leftshift a x3 . -leftshift "12" ctrl+c`."""

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
    """Parses an account, adding up the rejected bytes: `15 received: 13 typed, 2 duplicate`."""
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
        talk.playable = False  # the line is neither bytes nor keys
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
    """Reads the conversations of a file and marks those that can be replayed."""
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
        # Without pacing, a reader loses the events that do not fit into its queue.
        kept = QUEUES[dict(talk.settings).get("queue", "256")]
        talk.playable &= len(talk.changes) <= kept or not {("stall", "0"), ("pace", "console")} & set(talk.settings)
    return talks


def playable_talks() -> list[Talk]:
    codes = key_codes()
    talks = [talk for path in sorted(FOLDER.glob("*.txt")) if path.name != "format.txt" for talk in read(path, codes)]
    return [talk for talk in talks if talk.playable and (talk.is_open or unchanged(talk, codes))]


def unchanged(talk: Talk, codes: dict[str, int]) -> bool:
    """Returns true if an unpaired device, such as the lab's, produces the same keystrokes as a paired one (D-2): Enter only at
    the end of a message, in scan mode only from the terminator, and neither Escape nor Ctrl."""
    never = {codes[name] for name in ("escape", "leftctrl", "rightctrl")}
    if any(code in never or never & set(held) for code, held in talk.strokes):
        return talk.has_client
    if any(name == "rule" and "enter" in value for name, value in talk.settings):
        return False
    if ("scan", "") in talk.settings:
        ends_by_default = not any(name == "terminator" for name, _ in talk.settings)
        return ends_by_default or all(code not in (codes["enter"], codes["kpenter"]) for code, _ in talk.strokes)
    # Each message may contain a line end only at its end.
    beginnings = [re.sub(rb"(?:\r\n|\r|\n)\Z", b"", step.value) for step in talk.steps]
    return all(not {10, 13} & set(value) for value in beginnings)
