# SPDX-License-Identifier: GPL-2.0-or-later
#
# `--capture` of complete sessions in both roles: Wireshark's decoder agrees with the product's on every ATT packet.

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from attributes import INDICATED, LONG, rich
from central import find, meet, numbered, subscribe
from decoders import Packet, by_product, by_tshark, difference
from peer import NAME, NOTIFY, SERVICE, WRITE
from setting import Setting, test
from waiting import expect

# Opcodes that the two sessions must contain.
KINDS = {0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x18, 0x19}
KINDS |= {0x1B, 0x1D, 0x1E, 0x52}


async def decoded(setting: Setting, path: Path) -> list[Packet]:
    product = await setting.product(None, "capture", str(path), "--json")
    await product.exits(0, 30)
    return by_product(product.program.objects)


@test("capture")
async def capture(setting: Setting) -> None:
    """CB-32: Wireshark decodes captures of both roles as the product does: discovery, long values, notifications, indications; one altered byte is detected."""
    expect(shutil.which("tshark"), "no tshark (package tshark)")
    path = setting.folder / "session.btsnoop"
    options = ("--capture", str(path))
    await setting.serve()
    service = rich(setting.peer.device)
    port = await setting.port()
    await setting.gatt(port, *options)
    await setting.gatt(port, "read", LONG, *options)
    await setting.gatt(port, "write", LONG, "--hex", bytes(range(256)).hex() * 2, *options)
    await setting.gatt(port, "write", WRITE, "--text", "unanswered", "--no-response", *options)
    for attribute, count in (NOTIFY, 50), (INDICATED, 5):
        product = await setting.product(port, "gatt", NAME, "subscribe", attribute, "--count", str(count), *options)
        await product.program.until(lambda product=product: "subscribed" in product.program.err, "it subscribes", 30)
        if attribute == NOTIFY:
            setting.peer.burst(numbered(number) for number in range(count))
        else:
            for number in range(count):
                await setting.peer.device.gatt_server.indicate_subscribers(service.characteristics[1], numbered(number))
        await product.exits(0, 30)
        await port.until_free()
    await setting.peer.device.stop_advertising()

    product = await setting.product(port, "simulate", "--name", "SIM", *options)
    device = await setting.central()
    _, client = await meet(device, await find(device, SERVICE, "SIM"), 247)
    expect(await client.read_value(3) == b"SIM", "the device name by its handle")
    counter = await subscribe(client, NOTIFY)
    await product.program.write(b"a line\n")
    await counter.until(lambda: counter.joined == b"a line\r", "a line", 20)
    await product.end(signal.SIGINT, 130)

    ours, theirs = await decoded(setting, path), by_tshark(path)
    cause = difference(theirs, ours)
    expect(not cause, cause)
    kinds = {packet.opcode for packet in ours}
    expect(kinds >= KINDS, f"packets missing: {sorted(KINDS - kinds)}")
    notified = [packet.value for packet in ours if packet.opcode == 0x1B]
    expect(notified == [*map(numbered, range(50)), b"a line\r"], f"{len(notified)} notifications in the capture")

    # Negative control: change one byte of a value, of a handle and of an opcode, and check that the decoders disagree.
    data = path.read_bytes()
    value = data.index(numbered(20))
    for what, at in ("value", value + 5), ("handle", value - 2), ("opcode", value - 3):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :])
        expect(difference(theirs, await decoded(setting, path)), f"an altered byte of a {what} is not noticed")
    setting.note = f"{len(ours)} ATT packets of {len(kinds)} kinds, {len(data)} bytes"
