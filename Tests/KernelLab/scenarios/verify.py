# SPDX-License-Identifier: GPL-2.0-or-later
#
# Self-check: the product reads its own event node and reports what arrived there.

from __future__ import annotations

import signal

from bench import Bench
from readers import Terminal
from scenarios import scenario
from scenarios.keys import SCANS
from waiting import expect


@scenario("verify", once=True)
async def verify(bench: Bench) -> None:
    """X-3: `run --verify` reads back every event as expected: press, report, release and report for each character."""
    terminal = await Terminal.open(bench)
    product = await bench.connected("--verify")
    sent = bench.peer.burst(SCANS[:20])
    try:
        await terminal.until(sent, 30)
    finally:
        await product.end(signal.SIGINT, 130)
        await terminal.close()
    counts = product.counts()
    bench.account(sent, len(terminal.text), counts)
    expect(counts["typed"] == sent, f"{sent} bytes sent: {counts}")
    expect(counts["verified"] == 4 * sent, f"{4 * sent} events to read back: {counts}")
    expect(counts["differing"] == 0 and counts["readerDropped"] == 0, f"not as meant: {counts}")
    bench.note = f"{counts['verified']} events read back as meant"
