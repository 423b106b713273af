# SPDX-License-Identifier: GPL-2.0-or-later
#
# Output for people, without --json.

from __future__ import annotations

import re
import signal

from bench import BINARY, OPEN, Bench
from peer import ADDRESS, NAME, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect


@scenario("for-people", once=True)
async def for_people(bench: Bench) -> None:
    """LK-1, LK-4, X-1: without --json: a table on a terminal, tabs in a pipe, sentences during a run, and its account at the end."""
    terminal = await bench.start("script", "-qec", f"stty cols 100; {BINARY} scan --once --seconds 2", "/dev/null")
    expect(await terminal.wait(20) == 0, f"scan on a terminal: exit {terminal.status}{terminal.evidence()}")
    rows = terminal.out.splitlines()
    header = next((row for row in rows if row.startswith("NAME")), "")
    device = next((row for row in rows if ADDRESS in row), "")
    expect(header.split() == ["NAME", "ADDRESS", "RSSI", "LAST", "HEARD", "SERVICES"], f"no header: {terminal.out!r}")
    expect(device.startswith(NAME) and "LINBLE UART" in device, f"no row of the peer: {terminal.out!r}")
    expect(device.index(ADDRESS) == header.index("ADDRESS"), f"columns do not align: {terminal.out!r}")

    pipe = await bench.product("scan", "--once", "--seconds", "2")
    await pipe.exits(0, 20)
    lines = [line.split("\t") for line in pipe.program.out.splitlines()]
    expect(any(line[0] == ADDRESS and line[3] == NAME and len(line) == 5 for line in lines), f"in a pipe: {lines}")

    product = Product(await bench.start(BINARY, "run", "--device", NAME, *OPEN))
    said = lambda: product.program.stderr.decode()  # noqa: E731
    node = await product.program.until(lambda: re.search(r"the keyboard is (/dev/\S+)\n", said()), "the keyboard", 20)
    reader = await EventReader.open(bench, node.group(1))
    await product.program.until(lambda: f"connected to {NAME}" in said(), "the sentence that it is connected", 30)
    await bench.peer.until_subscribed()
    sent = bench.peer.burst([ean13(number) for number in range(3)])
    await reader.until(sent, 20)
    await product.end(signal.SIGINT, 130)
    account = "received 42 bytes in 3 notifications: typed 42, discarded 0, rejected 0, gated 0, lost 0, waiting 0"
    expect(product.program.out.startswith(account), f"the account: {product.program.out!r}")
    bench.figures = {"sent": sent, "typed": len(reader.text), "discarded": 0, "lost": sent - len(reader.text)}
