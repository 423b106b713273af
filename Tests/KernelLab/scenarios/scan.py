# SPDX-License-Identifier: GPL-2.0-or-later
#
# Scanning for the peer, with and without permission.

from __future__ import annotations

import re
import signal
import struct

from bench import OPEN, TRACE, Bench
from peer import ADDRESS, NAME, SERVICE
from product import Product
from scenarios import scenario
from waiting import expect

SCAN_SECONDS = "4"

# Another program's raw active scan with extended commands, from its start until a line arrives on standard input.
RAW_SCAN = """
import socket, sys
hci = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI)
hci.bind((0,))
hci.send(bytes.fromhex("01 4120 08 00 00 01 01 1000 1000"))
hci.send(bytes.fromhex("01 4220 06 01 00 0000 0000"))
sys.stdin.readline()
hci.send(bytes.fromhex("01 4220 06 00 00 0000 0000"))
"""


# Values in the HCI trace: flags of a packet to or about the first controller, and opcodes.
COMMAND, MANAGEMENT_COMMAND, MANAGEMENT_EVENT = 2, 16, 17
READ_SUPPORTED_COMMANDS, SCAN_ENABLE, SCAN_ENABLE_EXTENDED = 0x1002, 0x200C, 0x2042
STOP_DISCOVERY, DISCOVERING = 0x0024, 0x0013


async def steps(bench: Bench) -> list[str]:
    """Returns the steps of scans and their ends in the HCI trace, one word each, in order."""
    trace, at = await bench.guest.read_file(TRACE), 16
    words = []
    while at + 24 <= len(trace):
        size, flags = struct.unpack_from(">4xII", trace, at)
        packet = trace[at + 24 : at + 24 + size]
        if flags == COMMAND and len(packet) >= 3:
            opcode = int.from_bytes(packet[:2], "little")
            if opcode in (SCAN_ENABLE, SCAN_ENABLE_EXTENDED):
                words.append("scan on" if packet[3:4] == b"\x01" else "scan off")
            else:
                words.append("known commands?" if opcode == READ_SUPPORTED_COMMANDS else hex(opcode))
        elif flags in (MANAGEMENT_COMMAND, MANAGEMENT_EVENT) and len(packet) >= 6:  # a cookie, an opcode, the rest
            opcode = int.from_bytes(packet[4:6], "little")
            if flags == MANAGEMENT_COMMAND and opcode == STOP_DISCOVERY:
                words.append("stop discovery")
            elif flags == MANAGEMENT_EVENT and opcode == DISCOVERING and len(packet) >= 8:
                words.append("discovering" if packet[7] else "discovered")
        at += 24 + size
    return words


async def sees(product: Product, services: bool) -> None:
    """Waits for the line about the peer with its name, and with its service if `services` is true."""

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
    """LK-1, CB-2, CB-4, CB-5: `scan --json` reports name and service (from the scan response), and stops the controller's scan at its end."""
    product = await bench.product("scan", "--json", "--seconds", SCAN_SECONDS)
    await sees(product, services=True)
    await product.exits(0, 20)
    expect(bench.monitor.scanned, "the controller was never seen scanning")
    await bench.monitor.until_quiet()
    bench.note = f"{len(product.program.objects)} lines"


@scenario("scan-passive")
async def passive(bench: Bench) -> None:
    """CB-4: `scan --passive` reports the name in the advertisement and never requests a scan response."""
    product = await bench.product("scan", "--json", "--passive", "--seconds", SCAN_SECONDS)
    await sees(product, services=False)
    await product.exits(0, 20)
    scans = [scan for scan in bench.monitor.events("scan") if scan["on"]]
    expect(scans, "the controller was never seen scanning")
    expect(not any(scan["active"] for scan in scans), f"the scan was active: {scans}")
    await bench.monitor.until_quiet()
    bench.note = f"{len(product.program.objects)} lines"


@scenario("scan-then-run", deadline=90, once=True)
async def scan_then_run(bench: Bench) -> None:
    """CB-6: connecting works right after the product's own scan, and after another program's raw active scan."""
    product = await bench.product("scan", "--json", "--seconds", "2")
    await sees(product, services=True)
    await product.exits(0, 20)
    words = await steps(bench)
    last = len(words) - words[::-1].index("scan on")
    if "discovering" in words:
        # This kernel regards the scan as a discovery, so the product makes the kernel end it. Otherwise the kernel might believe
        # that a discovery without a scan is still being stopped.
        expect(
            [word for word in words[last:] if word != "discovering"]
            == ["known commands?", "stop discovery", "scan off", "discovered"],
            f"the end of the scan: {words[last:]}",
        )
    else:
        # When the command after the end of the scan is answered, the kernel has registered the end.
        expect(words[last:][-2:] == ["scan off", "known commands?"], f"the end of the scan: {words[last:]}")
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
    """LK-9: without a controller, the product exits with 69 and a message that says so."""
    for arguments in (("scan", "--once"), ("run", "--device", NAME, *OPEN)):
        product = await bench.product(*arguments)
        await product.exits(69, 20)
        expect(re.search(r"adapter|controller", product.program.err, re.I), f"unclear: {product.program.err!r}")


@scenario("no-permission", peer="")
async def no_permission(bench: Bench) -> None:
    """LK-10: as another user, the product exits with 77 and names the missing capability or node and the command that grants it."""
    # A home that does not exist, because this user cannot read root's.
    nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all")
    nobody += ("env", "HOME=/nonexistent")
    for arguments in (("scan", "--once"), ("run", "--device", NAME, *OPEN)):
        product = await bench.product(*arguments, before=nobody)
        await product.exits(77, 20)
        message = product.program.err
        expect(re.search(r"cap_net_(admin|raw)|/dev/(uinput|rfkill)", message, re.I), f"names nothing: {message!r}")
        expect(re.search(r"setfacl|chmod|usermod|systemctl|udev|blewedge setup", message), f"no command: {message!r}")
    expect(not bench.monitor.scanned, "the controller was made to scan")
