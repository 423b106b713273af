# SPDX-License-Identifier: GPL-2.0-or-later
#
# Layouts: text is typed for the application's layout, and read back as such an application does: with libxkbcommon for a desktop,
# and on the kernel's virtual terminal for a console.

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass

from bench import Bench
from readers import TERMINAL, EventReader, Terminal
from scenarios import scenario
from scenarios.keys import PRINTABLE
from waiting import expect
from xkb import Desktop

TABLE = "/run/lab/layout.table"
FIRST_SPECIAL = 0x80


@dataclass(frozen=True)
class Layout:
    name: str
    variant: str  # variant in xkb
    special: str  # characters of the layout besides ASCII

    @property
    def product(self) -> str:
        return f"{self.name}({self.variant})" if self.variant else self.name

    @property
    def text(self) -> str:
        return PRINTABLE.decode() + self.special + PRINTABLE.decode()[::-1]

    @property
    def sent(self) -> bytes:
        return PRINTABLE + bytes(range(FIRST_SPECIAL, FIRST_SPECIAL + len(self.special))) + PRINTABLE[::-1]

    @property
    def table(self) -> bytes:
        lines = [f'0x{FIRST_SPECIAL + place:02x} = text "{character}"\n' for place, character in enumerate(self.special)]
        return "".join(lines).encode()


LAYOUTS = [
    Layout("us", "", ""),
    Layout("jp", "", ""),
    Layout("jp", "OADG109A", "¥"),
    Layout("de", "", "äöüÄÖÜß§€êÉ"),
    Layout("fr", "", "éèçàùµ£§€êÜ"),
]


def read_back(layout: Layout, arrived: str) -> None:
    at = next((i for i, (a, b) in enumerate(zip(layout.text, arrived, strict=False)) if a != b), len(arrived))
    expect(
        layout.text == arrived,
        f"{layout.product}: {len(layout.text)} characters sent, {len(arrived)} read, they differ from {at}: "
        f"{layout.text[at : at + 12]!r} was sent, {arrived[at : at + 12]!r} read",
    )


async def typed(bench: Bench, layout: Layout, product_layout: str, reader: str) -> str:
    """Types the layout's text, and returns the text as read with libxkbcommon or on the terminal."""
    await bench.guest.write_file(TABLE, layout.table)
    terminal = await Terminal.open(bench) if reader == "terminal" else None
    product = await bench.run("--layout", product_layout, "--table", TABLE)
    desktop = Desktop(layout.name, layout.variant)
    keys = await EventReader.open(bench, product.node, share=terminal is not None, keys=True)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    bench.peer.burst(layout.sent[at : at + 20] for at in range(0, len(layout.sent), 20))
    taken = 0

    def read() -> str:
        nonlocal taken
        desktop.take(keys.keys[taken:])
        taken = len(keys.keys)
        return desktop.text

    if terminal is not None:
        await terminal.until(len(layout.text.encode()), 20)
    else:
        await keys.program.until(lambda: len(read()) >= len(layout.text), f"{layout.product}: the text", 20)
    await keys.summary()
    await product.end(signal.SIGINT, 130)
    counts = product.counts()
    expect(counts["typed"] == len(layout.sent) and counts["rejected"] == 0, f"{layout.product}: {counts}")
    text = read()
    if terminal is not None:
        await terminal.close()
        text = terminal.text.decode(errors="replace")
    for what, number in (("sent", len(layout.sent)), ("typed", counts["typed"])):
        bench.figures[what] = bench.figures.get(what, 0) + number
    await bench.monitor.until_quiet()
    await bench.peer.until_alone()
    return text


@scenario("layouts", deadline=180, once=True)
async def layouts(bench: Bench) -> None:
    """X-5: in US, JP, DE and FR, every printable ASCII character and some characters of the layout are read back by libxkbcommon."""
    for layout in LAYOUTS:
        read_back(layout, await typed(bench, layout, layout.product, "desktop"))
    bench.note = ", ".join(layout.product for layout in LAYOUTS)


async def keymap(layout: Layout) -> bytes:
    """Returns the layout as a keymap for the kernel's console, created with console-setup's ckbcomp on the build machine."""
    variant = ("-variant", layout.variant) if layout.variant else ()
    program = await asyncio.create_subprocess_exec(
        "ckbcomp", "-layout", layout.name, *variant, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    text, errors = await program.communicate()
    expect(program.returncode == 0, f"ckbcomp: {errors.decode()[-200:]}")
    return text


@scenario("layouts-console", deadline=240, once=True)
async def layouts_console(bench: Bench) -> None:
    """X-5: as `layouts`, but with `--layout console`, for the kernel's own map and those of JP, DE and FR, read back from the terminal."""
    console = f"/dev/tty{TERMINAL}"
    before = await bench.guest.run("dumpkeys", "-C", console)
    read = []
    for layout in LAYOUTS:
        if layout.name != "us":
            await bench.guest.run("loadkeys", "-q", "-C", console, "-", stdin=await keymap(layout))
        read_back(layout, await typed(bench, layout, "console", "terminal"))
        read.append(layout.product)
    await bench.guest.run("loadkeys", "-q", "-C", console, "-", stdin=bytes(before.stdout))
    bench.note = ", ".join(read)
