# SPDX-License-Identifier: GPL-2.0-or-later
#
# Barcodes of the independent peer, typed by the product in the emulated ARM machine. Either the product is the host of the
# controller on the serial line (H4), or the kernel is (hci_uart).

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from bench import OPEN, TRACE, Bench, Monitor, compare
from controllers import VARIANTS, Radio
from guest import Guest, Program
from line import Line
from machine import LINE, ARMMachine
from peer import NAME, Peer, ean13
from product import Product
from readers import EventReader
from waiting import expect

BARCODES = 20
PATIENCE = 120  # time limit in seconds for each step, because the processor is emulated


class Desk:
    """A Bluetooth module on the machine's serial line, and the peer on the same radio."""

    def __init__(self, guest: Guest, radio: Radio, peer: Peer) -> None:
        self.guest = guest
        self.radio = radio
        self.peer = peer
        self._programs: list[Program] = []

    async def start(self, *argv: str) -> Program:
        """Starts a program that is stopped together with the desk."""
        self._programs.append(await self.guest.start(*argv))
        return self._programs[-1]

    async def attached(self) -> str:
        """Attaches the controller on the line to the kernel, waits until it is set up, and returns its name."""
        monitor = Monitor(await self.start("hcimon", TRACE))
        await monitor.program.until(lambda: monitor.program.objects, "the monitor opens", PATIENCE)
        attach = await self.start("attach", LINE)
        await attach.until(lambda: attach.objects, "the kernel has the line", PATIENCE)
        number = attach.objects[0]["controller"]
        await monitor.program.until(lambda: monitor.ready(number), "the kernel sets the controller up", PATIENCE)
        return f"hci{number}"

    async def clear(self) -> None:
        for program in reversed(self._programs):
            if program.status is None:
                await program.stop(PATIENCE)


@asynccontextmanager
async def desk(machine: ARMMachine) -> AsyncIterator[Desk]:
    """Creates a new module and a new peer."""
    variant = VARIANTS["le-only"]
    folder = Path(tempfile.mkdtemp(prefix="blewedge-lab.", dir="/tmp"))
    radio, line = variant.radio(folder), Line(variant.manners())
    await radio.start()
    await radio.attach(line)
    await line.open(machine.hci_socket)
    peer = radio.peer()
    await peer.connect()
    await peer.start()
    made = Desk(machine.guest, radio, peer)
    try:
        yield made
        complaint = radio.complaint()
        expect(not complaint, complaint)
    finally:
        await made.clear()
        await peer.close()
        await line.close()
        await radio.close()
        shutil.rmtree(folder)


async def types(on: Desk, binary: str, adapter: str) -> str:
    """Sends the first barcode and then the others, and reads them back from the kernel's event node. Returns the times to the
    connection and to the first barcode as text."""
    start = time.monotonic()
    product = Product(await on.start(binary, "run", "--json", "--device", NAME, *OPEN, "--adapter", adapter))
    reader = await EventReader.open(cast(Bench, on), await product.keyboard(PATIENCE))
    await product.state("connected", PATIENCE)
    await on.peer.until(lambda: on.peer.subscribed, "the product subscribes", PATIENCE)
    connected = time.monotonic() - start
    barcodes = [ean13(number) for number in range(BARCODES)]
    start = time.monotonic()
    on.peer.burst(barcodes[:1])
    await reader.until(len(barcodes[0]), PATIENCE)
    first = time.monotonic() - start
    on.peer.burst(barcodes[1:])
    whole = b"".join(barcodes)
    await reader.until(len(whole), PATIENCE)
    await product.end(signal.SIGINT, 130, PATIENCE)
    summary = await reader.summary()
    compare(whole, reader.text)
    counts = product.counts()
    expect(counts["typed"] == counts["received"] == len(whole), f"the counts of {len(whole)} bytes: {counts}")
    odd = {name: summary[name] for name in ("dropped", "disorder", "repeats", "unknown", "others", "held") if summary[name]}
    expect(not odd, f"at the event node: {odd}")
    return f"connected after {connected:.1f} s, the first barcode after {first * 1000:.0f} ms more"
