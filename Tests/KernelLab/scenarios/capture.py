# SPDX-License-Identifier: GPL-2.0-or-later
#
# `--capture`: Wireshark's decoder finds the same packets in the file as the product.

from __future__ import annotations

import shutil
import signal
import struct
import subprocess
import tempfile
from pathlib import Path

from attributes import LONG, rich
from bench import BINARY, Bench, compare
from decoders import Packet, by_product, by_tshark, difference
from peer import NAME, WRITE, ean13
from readers import EventReader
from scenarios import scenario
from scenarios.gatt import look
from waiting import LabError, expect

CAPTURE = "/run/lab/capture.btsnoop"
NOTIFICATION = 0x1B


async def decoded(bench: Bench, path: str) -> list[Packet]:
    product = await bench.product("capture", path, "--json")
    await product.exits(0, 20)
    return by_product(product.program.objects)


@scenario("capture", deadline=180, once=True)
async def capture(bench: Bench) -> None:
    """CB-32: tshark and btmon decode the captures of `scan`, `gatt` and `run` as the product does; one altered byte is detected."""
    expect(shutil.which("tshark"), "no tshark (package tshark)")
    await bench.guest.run("rm", "-f", CAPTURE)
    rich(bench.peer.device)
    product = await bench.product("scan", "--json", "--seconds", "2", "--capture", CAPTURE)
    await product.exits(0, 20)
    await look(bench, "--capture", CAPTURE)
    await look(bench, "read", LONG, "--capture", CAPTURE)
    await look(bench, "write", LONG, "--hex", bytes(range(256)).hex(), "--capture", CAPTURE)
    await look(bench, "write", WRITE, "--text", "unanswered", "--no-response", "--capture", CAPTURE)
    product = await bench.connected("--max-age", "0", "--capture", CAPTURE)
    reader = await EventReader.open(bench, product.node)
    scans = [ean13(number) for number in range(50)]
    sent = bench.peer.burst(scans)
    bench.peer.indicate(b"stray", offset=3)
    await reader.until(sent, 30)
    await product.end(signal.SIGINT, 130)
    compare(b"".join(scans), reader.text)

    mode = (await bench.guest.run("stat", "-c", "%a", CAPTURE)).out.strip()
    expect(mode == "600", f"the capture's mode is {mode}")
    data = await bench.guest.read_file(CAPTURE)
    ours = await decoded(bench, CAPTURE)
    notified = [p.value for p in ours if p.opcode == NOTIFICATION]
    expect(notified == scans, f"{len(notified)} notifications in the capture, {len(scans)} were sent")
    with tempfile.TemporaryDirectory(prefix="blewedge-lab.") as folder:
        path = Path(folder) / "capture.btsnoop"
        path.write_bytes(data)
        theirs = by_tshark(path)
        cause = difference(theirs, ours)
        expect(not cause, cause)
        kinds = {p.opcode for p in ours}
        expect({0x02, 0x08, 0x09, 0x0C, 0x12, 0x16, 0x1B, 0x1D, 0x1E, 0x52} <= kinds, f"only {sorted(kinds)}")
        # btmon 5.66 crashes at the first Read By Type request for characteristics, so give it only the part of the file before
        # that.
        before = data[: beginning(data, bytes.fromhex("0328"))]
        path.write_bytes(before)
        btmon = subprocess.run(["btmon", "-r", str(path)], capture_output=True, text=True)
        await bench.guest.write_file(CAPTURE, before)
        seen, own = btmon.stdout.count("\n      ATT: "), len(await decoded(bench, CAPTURE))
        expect(btmon.returncode == 0 and seen == own > 2, f"btmon ends with {btmon.returncode}, sees {seen} packets of {own}")

        # Negative control: change one byte of a value, and check that the two decoders disagree.
        at = data.index(scans[20])
        altered = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        await bench.guest.write_file(CAPTURE, altered)
        cause = difference(theirs, await decoded(bench, CAPTURE))
        expect(cause, "one altered byte is not noticed")
    adapters = {index for index, _ in records(data)}
    expect(adapters == {0}, f"packets of the adapters {adapters}")
    bench.note = f"{len(ours)} ATT packets of {len(kinds)} kinds, {len(data)} bytes"


def beginning(data: bytes, end: bytes) -> int:
    """Returns the offset of the first record whose packet ends with these bytes."""
    at = 16
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at + 4)
        if data[at + 24 : at + 24 + length].endswith(end):
            break
        at += 24 + length
    return at


def records(data: bytes) -> list[tuple[int, int]]:
    """Returns the adapter and the opcode of each record."""
    found = []
    at = 16
    while at < len(data):
        _, length, flags = struct.unpack_from(">III", data, at)
        found.append((flags >> 16, flags & 0xFFFF))
        at += 24 + length
    return found


# Sizes in bytes: a disk with room for the start of a link and about 100 barcodes, and a btsnoop record with the longest packet of
# this link.
DISK = 12 << 10
LONGEST_RECORD = 24 + 4 + 255


@scenario("capture-disk-full", deadline=240, once=True)
async def disk_full(bench: Bench) -> None:
    """CB-32: on a full disk a capture stops, reports that once, and keeps all complete records that fit; the keyboard continues."""
    folder = "/run/lab/small"
    path = f"{folder}/capture.btsnoop"
    await bench.guest.run("mkdir", "-p", folder)
    await bench.guest.run("mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder)
    try:
        product = await bench.connected("--max-age", "0", "--capture", path)
        reader = await EventReader.open(bench, product.node)
        scans = [ean13(number) for number in range(300)]
        sent = bench.peer.burst(scans)
        await reader.until(sent, 60)
        await product.end(signal.SIGINT, 130)
        compare(b"".join(scans), reader.text)
        said = product.program.err.count("the capture stopped")
        expect(said == 1, f"said so {said} times: {product.program.err[-300:]!r}")
        bench.account(sent, len(reader.text), product.counts())
        recorded = await decoded(bench, path)
        # The disk has room for the start of the link and for some of the barcodes. At its end, less than one record is missing.
        barcodes = sum(packet.opcode == NOTIFICATION for packet in recorded)
        expect(0 < barcodes < len(scans), f"{barcodes} of {len(scans)} barcodes are in the capture of {len(recorded)} packets")
        size = len(await bench.guest.read_file(path))
        expect(DISK - LONGEST_RECORD < size <= DISK, f"{size} bytes of whole records on a disk of {DISK}")
        bench.note = f"{len(recorded)} ATT packets in {size} bytes, {barcodes} barcodes among them"
        product = await bench.product("gatt", NAME, "--capture", path)
        await product.exits(0, 40)
    finally:
        await bench.guest.run("umount", "-l", folder, check=False)
    denied = await bench.product("scan", "--once", "--capture", "/proc/capture.btsnoop")
    await denied.program.wait(20)
    if denied.program.status not in (74, 77):
        raise LabError(f"exit {denied.program.status} for a file that cannot be made")
