# SPDX-License-Identifier: GPL-2.0-or-later
#
# Texts of keyboards that are set for one layout, typed into consoles with another.

from __future__ import annotations

import asyncio
import hashlib
import signal

from bench import Bench, compare
from readers import TERMINAL, Terminal
from scenarios import scenario
from scenarios.keys import PRINTABLE
from scenarios.layouts import LAYOUTS, keymap
from strokes import CONTROLS, strokes
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
