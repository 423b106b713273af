# SPDX-License-Identifier: GPL-2.0-or-later
#
# The keys that the virtual keyboard is able to press according to the kernel, and the keys that hostile bytes can reach.

from __future__ import annotations

import signal
import struct
from dataclasses import dataclass

from bench import BINARY, OPEN, Bench
from daemons import CONFIGURATION, fresh, start, write
from product import Product
from readers import EventReader
from scenarios import scenario
from talks import key_codes
from waiting import expect

TABLE = "/run/lab/declared.table"
CODES = key_codes()
# Keys that produce printable ASCII, Tab, Enter and Backspace on a US keyboard.
TEXT = {*range(2, 29), *range(30, 42), *range(42, 54), 57}
UDEV = set(range(1, 32))  # the keys that udev requires for ID_INPUT_KEYBOARD
KEYPAD = {CODES[name] for name in ("left", "right", "home", "end", "delete", "escape")}
TWO_KEYSTROKES = "base = discard\n0x41 = key f9\n0x42 = key ctrl+c\n"
TWO = {CODES[name] for name in ("f9", "leftctrl", "c")}
CHORDS = ["ctrl+alt+delete", "ctrl+alt+f1", "alt+f2", "alt+left", "alt+sysrq", "sysrq", "power", "sleep", "suspend"]
HELD = [CODES[name] for name in ("leftctrl", "leftalt", "delete", "f1", "sysrq")]
# Z, RX, RY, RZ, MISC and four unused ones, but not X, Y, the wheels and DIAL, by which programs recognize a pointer.
AXES = (2, 3, 4, 5, 9, 10, 13, 14, 15)
SYN, KEY, REL, LED = 0, 1, 2, 17  # event types; the keyboard has neither EV_ABS nor EV_REP
TYPED = {8, 9, *range(0x20, 0x7F)}  # bytes that the table linble types anywhere
LINE_ENDS = (b"\r", b"\n")  # typed at the end of a message from an unpaired device (D-2)


@dataclass(frozen=True)
class Case:
    what: str
    keys: set[int]
    arguments: tuple[str, ...] = ()
    configuration: str = ""
    table: str = ""
    is_daemon: bool = False
    axes: tuple[int, ...] = AXES


CASES = [
    Case("run", TEXT | UDEV),
    Case("run of two keystrokes, not for udev", TWO, ("--table", TABLE), "udev-keyboard = false\n", TWO_KEYSTROKES),
    Case("run with a queue of 64", TEXT | UDEV, ("--queue", "64"), axes=()),
    Case("the daemon with a queue of 64", TEXT | UDEV | KEYPAD, (), "queue = 64\n", is_daemon=True, axes=()),
    Case("run with an F key around barcodes", TEXT | UDEV | {CODES["f9"]}, ("--scan", "--prefix", "{f9}")),
    Case("the daemon", TEXT | UDEV | KEYPAD, is_daemon=True),
    Case("the daemon with keys = off, not for udev", TEXT, (), "keys = false\nudev-keyboard = false\n", is_daemon=True),
]  # fmt: skip


async def bits_of(bench: Bench, product: Product) -> dict[str, list[int]]:
    """Returns the keyboard's capabilities according to the kernel, and the keys that a program with access to the keyboard can
    press."""
    found: dict[str, list[int]] = (await bench.guest.run("keybits", product.node)).objects[0]
    return found


def named(keys: set[int]) -> str:
    names = {code: name for name, code in CODES.items()}
    return ", ".join(names.get(key, str(key)) for key in sorted(keys)) or "none"


async def declares(bench: Bench, case: Case) -> None:
    await fresh(bench)
    if case.configuration:
        await write(bench, CONFIGURATION, case.configuration)
    await write(bench, TABLE, case.table)
    product = await start(bench, *case.arguments) if case.is_daemon else await bench.run(*case.arguments)
    bits = await bits_of(bench, product)
    declared, passed = set(bits["declared"]), set(bits["passed"])
    types = [SYN, KEY, *([REL] if case.axes else []), LED]
    expect(bits["types"] == types and bits["axes"] == list(case.axes), f"{case.what}: types {bits['types']}, axes {bits['axes']}")
    more, less = declared - case.keys, case.keys - declared
    expect(not more and not less, f"{case.what}: declared too: {named(more)}; missing: {named(less)}")
    expect(passed == declared, f"{case.what}: the kernel lets other keys through: {named(passed ^ declared)}")
    await product.end(signal.SIGTERM, 143)


async def refused(bench: Bench, chord: str) -> None:
    """Checks that a table with this chord is refused."""
    await write(bench, TABLE, f"0x01 = key {chord}\n")
    program = await bench.guest.run(BINARY, "run", "--device", "LINBLE-TEST", *OPEN, "--table", TABLE, seconds=40, check=False)
    said = program.out + program.err
    expect(program.status == 78 and "refused" in said, f"{chord}: exit {program.status}: {said!r}")


def hostile() -> list[bytes]:
    """Returns every byte, the sequences that terminals send for dangerous chords, and the chords as kernel events in both
    layouts."""
    events = b"".join(
        struct.pack(layout, 0, 0, 1, code, value) for layout in ("<qqHHi", "<iiHHi") for value in (1, 0) for code in HELD
    )
    texts = [b"\x1b[3;7~\x1b[11;7~\x1b[57361;3u", b"{ctrl+alt+delete}{sysrq}", bytes(range(256)), events]
    return [text[at : at + 20] for text in texts for at in range(0, len(text), 20)]


@scenario("declared-keys", deadline=240, once=True)
async def declared_keys(bench: Bench) -> None:
    """X-4, X-16: the kernel's key bits are exactly those that the table needs, no other key passes, and hostile bytes press only these."""
    for case in CASES:
        await declares(bench, case)
    for chord in CHORDS:
        await refused(bench, chord)
    await fresh(bench)
    product = await bench.connected("--max-age", "0")  # no age limit, so that everything is typed even on a slow machine
    reader = await EventReader.open(bench, product.node, keys=True)
    values = hostile()
    typed = sum(byte in TYPED for value in values for byte in value) + sum(value.endswith(LINE_ENDS) for value in values)
    sent = bench.peer.burst(values)
    # Sent last: when it arrives, all earlier bytes have been typed or discarded.
    sent += bench.peer.burst([b"z"])
    z = CODES["z"]
    await reader.program.until(lambda: reader.keys[-1:] == [(z, 0)] and len(reader.text) == typed + 1, "the last byte", 30)
    pressed = {key for key, value in reader.keys if value == 1}
    expect(pressed <= TEXT, f"hostile bytes pressed {named(pressed - TEXT)}")
    await product.end(signal.SIGINT, 130)
    counts = product.counts()
    bench.account(sent, len(reader.text), counts)
    dropped = sent - typed - 1
    expect(counts["typed"] == typed + 1 and counts["discarded"] == dropped, f"{dropped} of {sent} to discard: {counts}")
    bench.note = f"{len(CASES)} configurations, {len(CHORDS)} chords refused, {len(pressed)} keys pressed by hostile bytes"
