# SPDX-License-Identifier: GPL-2.0-or-later
#
# Translates a keyboard's events as a desktop does, with the keymap, state and compose table of libxkbcommon. Nothing in this file
# depends on the keys of a layout.

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint32, c_void_p

from waiting import LabError, expect

EVDEV_OFFSET = 8  # difference between key codes of X and evdev
COMPOSING, COMPOSED, CANCELLED = 1, 2, 3  # enum xkb_compose_status
LOCALE = b"en_US.UTF-8"


class Names(ctypes.Structure):
    _fields_ = [(name, c_char_p) for name in ("rules", "model", "layout", "variant", "options")]


def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libxkbcommon.so.0")
    except OSError as error:
        raise LabError(f"{error} (package libxkbcommon0)") from error
    for name, result, arguments in (
        ("context_new", c_void_p, [c_int]),
        ("keymap_new_from_names", c_void_p, [c_void_p, POINTER(Names), c_int]),
        ("state_new", c_void_p, [c_void_p]),
        ("state_update_key", c_int, [c_void_p, c_uint32, c_int]),
        ("state_key_get_one_sym", c_uint32, [c_void_p, c_uint32]),
        ("state_key_get_utf8", c_int, [c_void_p, c_uint32, c_char_p, c_size_t]),
        ("compose_table_new_from_locale", c_void_p, [c_void_p, c_char_p, c_int]),
        ("compose_state_new", c_void_p, [c_void_p, c_int]),
        ("compose_state_feed", c_int, [c_void_p, c_uint32]),
        ("compose_state_get_status", c_int, [c_void_p]),
        ("compose_state_get_utf8", c_int, [c_void_p, c_char_p, c_size_t]),
        ("compose_state_reset", None, [c_void_p]),
    ):
        function = getattr(library, f"xkb_{name}")
        function.restype, function.argtypes = result, arguments
    return library


class Desktop:
    """An application with a layout. Its libxkbcommon objects are never freed."""

    def __init__(self, layout: str, variant: str = "") -> None:
        self._x = _library()
        context = self._x.xkb_context_new(0)
        names = Names(b"evdev", b"pc105", layout.encode(), variant.encode(), b"")
        keymap = context and self._x.xkb_keymap_new_from_names(context, ctypes.byref(names), 0)
        table = context and self._x.xkb_compose_table_new_from_locale(context, LOCALE, 0)
        expect(keymap, f"libxkbcommon has no layout {layout} ({variant}) (package xkb-data)")
        expect(table, f"there is no compose table of {LOCALE.decode()} (package libx11-data)")
        self._state = self._x.xkb_state_new(keymap)
        self._compose = self._x.xkb_compose_state_new(table, 0)
        self.text = ""

    def take(self, events: Iterable[tuple[int, int]]) -> None:
        """Processes key changes as key code and value: 1 is down, 0 is up, and 2 is an autorepeat, which is an error."""
        for key, value in events:
            expect(value in (0, 1), f"an autorepeat of the key {key}")
            code = key + EVDEV_OFFSET
            if value == 1:
                self._press(code)
            self._x.xkb_state_update_key(self._state, code, value)

    def _press(self, code: int) -> None:
        room = ctypes.create_string_buffer(16)
        self._x.xkb_compose_state_feed(self._compose, self._x.xkb_state_key_get_one_sym(self._state, code))
        status = self._x.xkb_compose_state_get_status(self._compose)
        if status == COMPOSING:
            return
        expect(status != CANCELLED, f"{self.text[-20:]!r} is followed by keys that compose to nothing")
        if status == COMPOSED:
            self._x.xkb_compose_state_get_utf8(self._compose, room, len(room))
            self._x.xkb_compose_state_reset(self._compose)
        else:
            self._x.xkb_state_key_get_utf8(self._state, code, room, len(room))
        self.text += room.value.decode()
