# SPDX-License-Identifier: GPL-2.0-or-later
#
# The main job without a kernel's Bluetooth: the product is the host, over an H4 stream to a controller of the matrix. It types to
# its standard output, so the test needs neither root nor a virtual machine.

from __future__ import annotations

import asyncio
import shutil
import signal
import tempfile
import time
from pathlib import Path

from bench import compare
from controllers import Radio, Variant
from line import Line
from local import LocalProgram
from peer import ADDRESS, NAME, WRITE, ean13
from product import Product
from waiting import expect

COUNT = 200
TEXT = "0123456789" * 24  # fits a value at the peer's MTU of 247


async def main_job(variant: Variant, binary: Path) -> str:
    """Scans, connects, discovers services and receives barcodes. Returns the duration of each step as text."""
    folder = Path(tempfile.mkdtemp(prefix="blewedge-lab.", dir="/tmp"))
    radio = variant.radio(folder)
    programs: list[LocalProgram] = []
    try:
        await radio.start()
        return await _on(radio, variant, binary, folder / "line", programs)
    finally:
        for program in programs:
            if program.status is None:
                await program.stop()
        await radio.close()
        shutil.rmtree(folder)


async def _on(radio: Radio, variant: Variant, binary: Path, path: Path, programs: list[LocalProgram]) -> str:
    peer = radio.peer()
    await peer.connect()
    await peer.start()
    manners = variant.manners()
    attached: list[asyncio.Task[None]] = []

    def line() -> Line:
        line = Line(manners)
        attached.append(asyncio.create_task(radio.attach(line)))
        return line

    async def launch(*arguments: str) -> LocalProgram:
        programs.append(await LocalProgram.launch(str(binary), *arguments, "--adapter", f"h4:unix:{path}"))
        return programs[-1]

    server = await asyncio.get_running_loop().create_unix_server(line, str(path))
    try:
        start = time.monotonic()
        scan = await launch("scan", "--json")
        heard = lambda: any(o.get("address") == ADDRESS and o.get("name") == NAME for o in scan.objects)  # noqa: E731
        await scan.until(heard, "the scan finds the peer", 60)
        found = time.monotonic() - start
        await Product(scan).end(signal.SIGINT, 130)

        start = time.monotonic()
        run = await launch("run", "--device", NAME, "--security", "none", "--to", "stdout", "--raw")
        await peer.until(lambda: peer.subscribed or run.status is not None, "the product subscribes", 90)
        expect(run.status is None, f"`run` ended with {run.status}{run.evidence()}")
        connected = time.monotonic() - start

        start = time.monotonic()
        barcodes = [ean13(number) for number in range(COUNT)]
        whole = b"".join(barcodes)
        peer.burst(barcodes)
        await run.until(lambda: len(run.stdout) >= len(whole), f"{COUNT} barcodes", 60)
        took = time.monotonic() - start
        await run.signal(signal.SIGINT)
        expect(await run.wait(20) == 130, f"exit {run.status}{run.evidence()}")
        compare(whole, bytes(run.stdout))
        await peer.until_alone(20)

        # This text is longer than a packet, so all of the controller's buffers are used.
        gatt = Product(await launch("gatt", NAME, "write", WRITE, "--text", TEXT, "--no-response"))
        await gatt.exits(0, 60)
        await peer.until_alone(20)
        expect(peer.writes == [TEXT.encode()], f"written: {peer.writes}")
        complaint = radio.complaint()
        expect(not complaint, complaint)
        expect(not radio.unknown(), f"commands that the controller does not have: {radio.unknown()}")
        return f"found {found:.1f} s, connected {connected:.1f} s, {COUNT} received {took:.1f} s"
    finally:
        server.close()
        await peer.close()
        await asyncio.gather(*attached)
