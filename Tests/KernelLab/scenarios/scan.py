# SPDX-License-Identifier: GPL-2.0-or-later
#
# Finding the peer, and finding that one may not.

from __future__ import annotations

import re
import signal
import struct

from bench import TRACE, Bench
from peer import ADDRESS, NAME, SERVICE
from product import Product
from scenarios import scenario
from waiting import expect

SCAN_SECONDS = "4"

# Another program's raw active scan with extended commands: on until a line comes, then off.
RAW_SCAN = """
import socket, sys
hci = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI)
hci.bind((0,))
hci.send(bytes.fromhex("01 4120 08 00 00 01 01 1000 1000"))
hci.send(bytes.fromhex("01 4220 06 01 00 0000 0000"))
sys.stdin.readline()
hci.send(bytes.fromhex("01 4220 06 00 00 0000 0000"))
"""


READ_SUPPORTED_COMMANDS, SCAN_ENABLE, SCAN_ENABLE_EXTENDED = 0x1002, 0x200C, 0x2042


async def commands(bench: Bench) -> list[tuple[int, int]]:
    """The commands to the first controller, each with the first byte of its parameters, from the HCI trace."""
    trace, at = await bench.guest.read_file(TRACE), 16
    sent = []
    while at + 24 <= len(trace):
        size, flags = struct.unpack_from(">4xII", trace, at)
        packet = trace[at + 24 : at + 24 + size]
        if flags == 2 and len(packet) >= 3:  # a command, to index 0
            sent.append((int.from_bytes(packet[:2], "little"), packet[3] if len(packet) > 3 else 0))
        at += 24 + size
    return sent


async def sees(product: Product, services: bool) -> None:
    """Waits for the line of the peer with its name, and its service if that can be known."""

    def line() -> bool:
        return any(
            o.get("address") == ADDRESS
            and o.get("name") == NAME
            and (not services or SERVICE in [s.upper() for s in o.get("services", [])])
            for o in product.program.objects
        )

    await product.program.until(line, f"a line with {ADDRESS}, {NAME}{' and the service' if services else ''}", 20)


@scenario("scan")
async def active(bench: Bench) -> None:
    """CB-2, CB-5: `scan --json` sees name and service (which is in the scan response only), and leaves the controller quiet."""
    product = await bench.product("scan", "--json", "--seconds", SCAN_SECONDS)
    await sees(product, services=True)
    await product.exits(0, 20)
    expect(bench.monitor.scanned, "the controller was never seen scanning")
    await bench.monitor.until_quiet()
    bench.note = f"{len(product.program.objects)} lines"


@scenario("scan-passive")
async def passive(bench: Bench) -> None:
    """CB-4: `scan --passive` sees the name in the advertisement and never asks for a scan response."""
    product = await bench.product("scan", "--json", "--passive", "--seconds", SCAN_SECONDS)
    await sees(product, services=False)
    await product.exits(0, 20)
    scans = [scan for scan in bench.monitor.events("scan") if scan["on"]]
    expect(scans, "the controller was never seen scanning")
    expect(not any(scan["active"] for scan in scans), f"the scan was active: {scans}")
    await bench.monitor.until_quiet()
    bench.note = f"{len(product.program.objects)} lines"


@scenario("scan-then-run", deadline=90)
async def scan_then_run(bench: Bench) -> None:
    """Connecting works right after a scan of the product's own, and after another program's raw active scan."""
    product = await bench.product("scan", "--json", "--seconds", "2")
    await sees(product, services=True)
    await product.exits(0, 20)
    # One more command after the end of the scan: when that is answered, the kernel has taken note of the end.
    sent = await commands(bench)
    ends = [next_one for one, next_one in zip(sent, sent[1:]) if one in ((SCAN_ENABLE, 0), (SCAN_ENABLE_EXTENDED, 0))]
    expect((READ_SUPPORTED_COMMANDS, 0) in ends, f"commands: {[hex(opcode) for opcode, _ in sent]}")
    product = await bench.connected()
    await product.end(signal.SIGINT, 130)
    await bench.monitor.until_quiet()

    await bench.guest.run("btmgmt", "--index", "0", "power", "on")
    other = await bench.start("/usr/bin/python3", "-c", RAW_SCAN)
    await bench.monitor.program.until(lambda: bench.monitor.scanning, "the raw scan is on", 20)
    expect(bench.monitor.events("scan")[-1]["active"], "the raw scan is not active")
    await other.write(b"stop\n")
    expect(await other.wait(10) == 0, f"the raw scan failed{other.evidence()}")
    await bench.monitor.until_quiet()
    product = await bench.connected()
    await product.end(signal.SIGINT, 130)


@scenario("no-adapter", peer="no adapter")
async def no_adapter(bench: Bench) -> None:
    """LK-9: without a controller: exit 69 and a message that says so."""
    for arguments in (("scan", "--once"), ("run", "--device", NAME)):
        product = await bench.product(*arguments)
        await product.exits(69, 20)
        expect(re.search(r"adapter|controller", product.program.err, re.I), f"unclear: {product.program.err!r}")


@scenario("no-permission", peer="")
async def no_permission(bench: Bench) -> None:
    """LK-10: as another user: exit 77, the capability or node that is missing and the command that grants it."""
    # A home of its own: root's is not its to read.
    nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all")
    nobody += ("env", "HOME=/nonexistent")
    for arguments in (("scan", "--once"), ("run", "--device", NAME)):
        product = await bench.product(*arguments, before=nobody)
        await product.exits(77, 20)
        message = product.program.err
        expect(re.search(r"cap_net_(admin|raw)|/dev/(uinput|rfkill)", message, re.I), f"names nothing: {message!r}")
        expect(re.search(r"setcap|setfacl|chmod|usermod|systemctl|udev", message), f"no command: {message!r}")
    expect(not bench.monitor.scanned, "the controller was made to scan")
