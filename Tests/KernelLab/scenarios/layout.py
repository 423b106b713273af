# SPDX-License-Identifier: GPL-2.0-or-later
#
# Addresses of the code that runs from a packet to its key, as recorded by the emulator.

from __future__ import annotations

import re
import signal
from bisect import bisect
from pathlib import Path

from bench import Bench, booted
from peer import ean13
from readers import EventReader
from scenarios import scenario
from scenarios.figures import latencies
from vm import Kind
from waiting import LabError, expect

PAGES = 12
# A line of the linker's map: an output section, or a symbol in a section.
SECTION = re.compile(r"\s*[0-9a-f]+\s+[0-9a-f]+\s+[0-9a-f]+\s+\d+ (\S+)$")
SYMBOL = re.compile(r"\s*([0-9a-f]+)\s+[0-9a-f]+\s+[0-9a-f]+\s+\d+ {17}(\S.*)")
BLOCK = re.compile(rb"\[[0-9a-f]+/([0-9a-f]+)/")


class Layout:
    """Functions of a program by address, from the linker's map."""

    def __init__(self, path: Path) -> None:
        self.names: dict[int, set[str]] = {}
        code = False
        for line in path.read_text(errors="replace").splitlines():
            if section := SECTION.match(line):
                code = section[1] == ".text"
            elif code and (found := SYMBOL.match(line)):
                self.names.setdefault(int(found[1], 16), set()).add(found[2])
        self._starts = sorted(self.names)

    def function(self, address: int) -> int:
        """Returns the start of the function that contains this address."""
        return self._starts[max(0, bisect(self._starts, address) - 1)]


@scenario("way-to-the-key", peer="no adapter", deadline=300, only_long=True)
async def way_to_the_key(bench: Bench) -> None:
    """B-13: the functions that run from a packet to its key; they fit in 12 pages if the program's functions are ordered."""
    static = bench.machine.beside("blewedge-static")
    layout = Layout(static.with_name("blewedge-static.map"))
    order = static.with_name("order").read_text().split()
    record = bench.logs / "blocks"
    # Record each basic block of the program. Its addresses are fixed.
    words = ("-d", "exec,nochain", "-D", str(record), "-dfilter", f"{min(layout.names):#x}..{max(layout.names):#x}")
    async with booted(bench, "recorded", Kind(emulator=words), binary=static) as machine:
        await machine.set_up("linble")
        product = await machine.connected()
        connected = record.stat().st_size
        reader = await EventReader.open(machine, product.node)
        await latencies(machine, reader, [ean13(number) for number in range(3)])
        start = record.stat().st_size
        await latencies(machine, reader, [ean13(3)])
        recorded = record.read_bytes()
        await product.end(signal.SIGINT, 130)
    record.unlink()  # several hundred megabytes
    blocks = [int(address, 16) for address in BLOCK.findall(recorded[start:])]
    functions = [layout.function(address) for address in blocks]
    write = next((at for at, function in enumerate(functions) if "write" in layout.names[function]), None)
    if write is None:
        raise LabError(f"the record of {len(blocks)} blocks has no write to the keyboard")
    way = dict.fromkeys(functions[: write + 1])
    # For Tests/Release/compact --trace: these functions, then all others that run after the connection, in the order of their
    # first use.
    since = way | dict.fromkeys(layout.function(int(address, 16)) for address in BLOCK.findall(recorded[connected:]))
    (bench.logs / "functions").write_text("".join(f"{name}\n" for function in since for name in sorted(layout.names[function])))
    pages = {address >> 12 for address in blocks[: write + 1]}
    bench.note = f"{write + 1} blocks of {len(way)} functions in {len(pages)} pages"
    expect(len(way) > 20, f"that is no way to a key: {bench.note}")
    expect(not order or len(pages) <= PAGES, bench.note)
