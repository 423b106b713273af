# SPDX-License-Identifier: GPL-2.0-or-later
#
# HID devices that the lab's keyboard peer can be: report maps, and the reports that press keys.

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from strokes import Stroke, strokes

# Report descriptors in hexadecimal digits (HID 1.11, 6.2.2).
MODIFIERS = "050719e029e71500250175019508" + "8102"
RESERVED = "950175088101"
LIGHTS = "9505750105081901290591029501750391" + "03"
SIX_KEYS = "9506750815" + "0026ff00" + "05071900" + "29ff8100"
KEYBOARD = "05010906a1018501" + MODIFIERS + RESERVED + LIGHTS + SIX_KEYS + "c0"
POINTER = "0509190129031500250195037501810295017505810305010930093109381581257f750895038106"
MOUSE = "05010902a10185010901a100" + POINTER + "c0c0"
# Bitmap of the usages 00 to 77.
BITMAP_USAGES = 0x78
BITMAP = "05010906a1018501" + MODIFIERS + "05071900297715002501750195788102" + "c0"
# Collection of a vendor with a feature report. The maximum length of a map is 512 bytes (HIDS 1.0, 2.6.1), but longer ones exist.
VENDOR = "0600ff0901a10185{:02x}0901150026ff0075089508b102c0"
LONG = 700  # bytes


def long_map() -> bytes:
    """Returns a map of exactly `LONG` bytes: a keyboard, vendor collections, and usage pages without items."""
    found = bytes.fromhex(KEYBOARD)
    number = 2
    while len(found) + len(VENDOR.format(0)) // 2 <= LONG:
        found += bytes.fromhex(VENDOR.format(number))
        number += 1
    if (LONG - len(found)) % 2:
        found += bytes.fromhex("0600ff")
    return found + bytes.fromhex("0501") * ((LONG - len(found)) // 2)


def numbered(descriptor: str, number: int) -> str:
    """Returns the descriptor with another report id."""
    return descriptor.replace("8501", f"85{number:02x}", 1)


@dataclass(frozen=True)
class HIDService:
    """A HID service with its report map and the ids of its reports."""

    report_map: bytes
    inputs: tuple[int, ...] = (1,)
    outputs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Target:
    """An input report: the number of its service, and its report id."""

    service: int = 0
    id: int = 1


@dataclass(frozen=True)
class Shape:
    """A device, and how it behaves."""

    name: str
    services: tuple[HIDService, ...] = (HIDService(bytes.fromhex(KEYBOARD), outputs=(1,)),)
    keys: Target | None = Target()  # the input report with the keys; None if there are none
    is_bitmap: bool = False
    other: tuple[Target, bytes] | None = None  # a report that is sent between the keys
    is_locked: bool = True  # the HID attributes require encryption
    mtu: int = 247
    advertises_service: bool = True  # the HID service and the appearance are in the advertisement
    resolving_key: bytes = b""  # if given, each advertising uses a new private address

    def pressed(self, stroke: Stroke | None) -> bytes:
        """Returns the report with this key pressed, or without a pressed key."""
        mask, usage = stroke or (0, 0)
        if not self.is_bitmap:
            return bytes([mask, 0, usage, 0, 0, 0, 0, 0])
        bits = 1 << usage if usage else 0
        return bytes([mask]) + bits.to_bytes(BITMAP_USAGES // 8, "little")

    def reports(self, text: str) -> Iterator[tuple[Target, bytes]]:
        """Returns the reports that type the text with a US layout, each key followed by its release."""
        assert self.keys is not None
        keys = strokes("us")
        for character in text:
            if self.other is not None:
                yield self.other
            for stroke in keys[character]:
                yield self.keys, self.pressed(stroke)
                yield self.keys, self.pressed(None)


PLAIN = Shape("keyboard")
_keyboard, _mouse = bytes.fromhex(KEYBOARD), bytes.fromhex(MOUSE)
# A mouse report with its buttons pressed. As a keyboard report, it would press Ctrl and keys.
_MOVED = bytes([0x07, 0x04, 0x05, 0x06])

SHAPES = {
    shape.name: shape
    for shape in (
        PLAIN,
        Shape(
            "two services with the same report id",
            (HIDService(_mouse), HIDService(_keyboard, outputs=(1,))),
            Target(service=1), other=(Target(service=0), _MOVED),
        ),
        Shape(
            "keyboard as id 2 behind a mouse",
            (HIDService(bytes.fromhex(MOUSE + numbered(KEYBOARD, 2)), (1, 2), (2,)),),
            Target(id=2), other=(Target(id=1), _MOVED),
        ),
        Shape("bitmap of keys", (HIDService(bytes.fromhex(BITMAP)),), is_bitmap=True),
        Shape("map of 700 bytes at MTU 23", (HIDService(long_map(), outputs=(1,)),), mtu=23),
        Shape("no 1812 in the advertisement", advertises_service=False),
        Shape("private address", advertises_service=False, resolving_key=bytes(range(1, 17))),
        Shape("no encryption required", is_locked=False),
        Shape("mouse", (HIDService(_mouse),), None, other=(Target(), _MOVED)),
    )
}  # fmt: skip
