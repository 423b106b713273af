# SPDX-License-Identifier: GPL-2.0-or-later
#
# Keys that a HID keyboard with a given layout presses for each character. They come from libxkbcommon.

from __future__ import annotations

from functools import cache
from pathlib import Path

from waiting import LabError
from xkb import Desktop

USAGES = Path(__file__).resolve().parents[1] / "Vectors/hid-layouts.txt"
SHIFT, ALT_GR, SPACE = 42, 100, 57  # key codes
MODIFIERS = {(): 0, (SHIFT,): 0x02, (ALT_GR,): 0x40}
CONTROLS = {"\t": 0x2B, "\r": 0x28, "\b": 0x2A}  # usages

Stroke = tuple[int, int]  # modifier byte of the report, and usage


def usages() -> dict[int, int]:
    """Returns the usage of each key code that has characters."""
    found: dict[int, int] = {}
    for line in USAGES.read_text().splitlines():
        if line.startswith("kernel "):
            first, codes = line.removeprefix("kernel ").split(":")
            for number, code in enumerate(codes.split()):
                found.setdefault(int(code), int(first, 16) + number)
    return found


@cache
def strokes(layout: str) -> dict[str, list[Stroke]]:
    """Returns the keys of this layout for each character: without dead key, Shift or AltGr if possible. Of several keys, the last
    one is used, because the tilde on the Japanese zero exists only on Linux."""
    codes = usages()
    keys: dict[str, list[Stroke]] = {}
    desktop = Desktop(layout)

    def pressed(code: int, modifiers: tuple[int, ...] = ()) -> str:
        nonlocal desktop
        before = len(desktop.text)
        try:
            desktop.take([*((one, 1) for one in modifiers), (code, 1), (code, 0), *((one, 0) for one in modifiers)])
            return desktop.text[before:]
        except LabError:  # a dead key that makes nothing with Space
            desktop = Desktop(layout)
            return " "

    for code, usage in codes.items():
        for modifiers, mask in MODIFIERS.items():
            sequence = [(mask, usage)]
            character = pressed(code, modifiers)
            if not character:
                character = pressed(SPACE)
                sequence.append((0, codes[SPACE]))
                if character == " ":
                    continue
            simplest = keys.get(character, sequence)
            if (len(sequence), mask) <= (len(simplest), simplest[0][0]):
                keys[character] = sequence
    keys.update({character: [(0, usage)] for character, usage in CONTROLS.items()})
    return keys
