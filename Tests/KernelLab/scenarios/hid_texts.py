# SPDX-License-Identifier: GPL-2.0-or-later
#
# Texts of keyboards that are set for one layout, typed into consoles with another.

from __future__ import annotations

import asyncio
import hashlib
import signal

from bench import BINARY, Bench, compare
from daemons import fresh
from keyboardpeer import KEYBOARD
from readers import TERMINAL, Terminal
from scenarios import scenario
from scenarios.hid_peer import pair_keyboard
from scenarios.keys import PRINTABLE
from scenarios.layouts import LAYOUTS, keymap
from strokes import CONTROLS, Stroke, strokes
from waiting import expect

# Report descriptor of a boot keyboard (HID 1.11, E.6), but with usages up to FF, for the Japanese keys. A report has modifiers, a
# constant byte and six usages.
MAP = (
    "05010906a101050719e029e7150025017501950881029501750881019505750105081901"
    "2905910295017503910195067508150026ff000507190029ff8100c0"
)
TEXT = PRINTABLE.decode() + "".join(CONTROLS)
ON_CONSOLE = PRINTABLE + b"\t\r\x7f"  # the terminal gets DEL for Backspace
TABLE = "/run/lab/hid.table"
LAYOUT_NAMES = ("us", "jp", "de")
ASCII = bytes(range(128))
GS = 0x1D
CTRL, SHIFT, ALT = 0x01, 0x02, 0x04  # bits of the modifier byte
F8, KEYPAD_PLUS = 0x41, 0x57  # usages
KEYPAD = {digit: 0x62 if digit == "0" else 0x58 + int(digit) for digit in "0123456789"}
HEXADECIMAL = {**KEYPAD, **{letter: 0x04 + index for index, letter in enumerate("abcdef")}}
CONFIGURATION = "/run/lab/hid.toml"
AT_ONCE = 16  # characters on their way


def reports(layout: str) -> list[str]:
    """Returns the reports of a keyboard with this layout for the text, each key followed by its release."""
    keys = strokes(layout)
    missing = [character for character in TEXT if character not in keys]
    expect(not missing, f"{layout} has no keys for {''.join(missing)}")
    return [f"{mask:02x}00{usage:02x}0000000000\n{bytes(8).hex()}\n" for character in TEXT for mask, usage in keys[character]]


async def decoded(bench: Bench, layout: str) -> bytes:
    """Returns the text that our decoder makes of the reports."""
    pipe = asyncio.subprocess.PIPE
    argv = (str(bench.machine.beside("hidcases")), "text", layout, MAP)
    program = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe)
    output, errors = await program.communicate("".join(reports(layout)).encode())
    expect(program.returncode == 0, f"hidcases text: {errors.decode()[-300:]}")
    return bytes.fromhex(output.decode())


async def typed(bench: Bench, text: bytes) -> bytes:
    """Returns what the terminal gets when the product types the text for the console's layout."""
    await bench.guest.write_file(TABLE, b"0x08 = key backspace\n")
    terminal = await Terminal.open(bench)
    product = await bench.connected("--layout", "console", "--table", TABLE)
    # Of an unpaired device, Enter must be at the end of a notification.
    bench.peer.burst(part[at : at + 20] for part in text.splitlines(keepends=True) for at in range(0, len(part), 20))
    await terminal.until(len(text), 20)
    await product.end(signal.SIGINT, 130)
    await terminal.close()
    await bench.monitor.until_quiet()
    await bench.peer.until_alone()
    return terminal.text


@scenario("hid-texts", deadline=240, once=True)
async def hid_texts(bench: Bench) -> None:
    """Keyboards with US, JP and DE layouts: 95 characters, Tab, Enter and Backspace arrive at consoles with these layouts."""
    texts = [await decoded(bench, name) for name in LAYOUT_NAMES]
    for text in texts:
        compare(TEXT.encode(), text)
    console = f"/dev/tty{TERMINAL}"
    before = await bench.guest.run("dumpkeys", "-C", console)
    sums = set()
    for layout in LAYOUTS:
        if layout.product not in LAYOUT_NAMES:
            continue
        if layout.name != "us":
            await bench.guest.run("loadkeys", "-q", "-C", console, "-", stdin=await keymap(layout))
        arrived = await typed(bench, b"".join(texts))
        compare(ON_CONSOLE * len(texts), arrived)
        sums.add(hashlib.sha256(arrived).hexdigest()[:16])
    await bench.guest.run("loadkeys", "-q", "-C", console, "-", stdin=bytes(before.stdout))
    bench.note = f"{len(TEXT)} keys of {len(texts)} devices on 3 consoles, SHA-256 {', '.join(sums)}"


def alt(keys: list[int]) -> list[Stroke | None]:
    """Returns the strokes that press these keys while Alt is held, each with its release."""
    pressed: list[Stroke | None] = [(ALT, 0)]
    for usage in keys:
        pressed += [(ALT, usage), (ALT, 0)]
    return [*pressed, None]


def with_digits(code: int, form: str) -> list[Stroke | None]:
    """Returns the strokes for Alt with three digits, four digits or hexadecimal digits."""
    if form == "hexadecimal":
        return alt([KEYPAD_PLUS, *(HEXADECIMAL[digit] for digit in f"{code:x}")])
    return alt([KEYPAD[digit] for digit in f"{code:0{3 if form == 'three' else 4}}"])


def with_control(code: int) -> list[Stroke | None]:
    """Returns the strokes for a control character: Ctrl with the key of the character 64 codes above it."""
    ((mask, usage),) = strokes("us")[chr(code + 64).lower()]
    return [(CTRL, 0), (CTRL | mask, usage), (CTRL, 0), None]


@scenario("hid-characters", peer="keyboard", deadline=240, once=True)
async def hid_characters(bench: Bench) -> None:
    """X-13: the 128 codes of ASCII as Alt codes in three forms, as keys and with Ctrl, and GS in four forms, on stdout --raw."""
    await fresh(bench)
    await pair_keyboard(bench)
    keyboard = bench.keyboard
    keys: dict[int, list[Stroke | None]] = {
        ord(character): [stroke for one in strokes("us")[character] for stroke in (one, None)] for character in TEXT
    }
    controls = {code: with_control(code) for code in range(32)}
    sent = [(code, with_digits(code, form)) for form in ("three", "four", "hexadecimal") for code in ASCII]
    sent += [(code, controls[code] if code in controls else keys.get(code, with_digits(code, "three"))) for code in ASCII]
    sent += [(code, pressed) for code, pressed in keys.items()]
    sent += [(GS, with_digits(GS, "three")), (GS, with_digits(GS, "four")), (GS, controls[GS]), (GS, [(0, F8), None])]
    for is_on, gs_key in ((True, "f8"), (False, "none")):
        keyboard.lights.clear()
        lines = f'device-num-lock = {str(is_on).lower()}\ndevice-gs-key = "{gs_key}"\n'
        await bench.guest.write_file(CONFIGURATION, lines.encode())
        options = ("--device", KEYBOARD, "--config", CONFIGURATION, "--to", "stdout", "--raw")
        program = await bench.start(BINARY, "run", *options)
        await keyboard.until_subscribed(60)
        await keyboard.until(lambda: keyboard.lights, "the product writes the lights", 20)
        expect(keyboard.lights == [bytes([is_on])], f"the lights are {keyboard.lights}")
        text = b""
        if is_on:
            for at in range(0, len(sent), AT_ONCE):
                for code, pressed in sent[at : at + AT_ONCE]:
                    keyboard.press(pressed)
                    text += bytes([code])
                await program.until(lambda: len(program.stdout) >= len(text), f"{len(text)} characters", 20)
        else:
            # Without NumLock, the keypad has no digits; without the setting, F8 means nothing.
            keyboard.press([(0, KEYPAD["5"]), None, (0, F8), None, *keys[ord("x")]])
            text = b"x"
            await program.until(lambda: len(program.stdout) >= len(text), "the character", 20)
        await program.signal(signal.SIGINT)
        expect(await program.wait(15) == 130, f"exit {program.status}{program.evidence()}")
        compare(text, bytes(program.stdout))
        await bench.peer.until_alone()
    bench.note = f"{len(sent)} characters"
    await fresh(bench)
