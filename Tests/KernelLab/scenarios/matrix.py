# SPDX-License-Identifier: GPL-2.0-or-later
#
# The matrix (`lab --table`): the main job, from a scan to 200 barcodes in a terminal, on controllers of many kinds. A row
# of the table is a scenario here.

from __future__ import annotations

import signal

from bench import Bench, compare
from controllers import VARIANTS, Variant
from peer import ADDRESS, NAME
from readers import Terminal
from scenarios import scenario
from scenarios.keys import SCANS, all_typed, finish
from waiting import expect

PREFIX = "controller-"
BASELINE = "btvirt"
FEW = 20  # barcodes in the short tier
IN_CI = {"legacy-4.0"}


async def main_job(bench: Bench) -> None:
    """Scan, connect, discover, type; the seconds that each took are the bench's note."""
    clock = bench.clock()
    scan = await bench.product("scan", "--json")
    await scan.program.until(lambda: any(o.get("address") == ADDRESS and o.get("name") == NAME for o in scan.program.objects),
        "the scan finds the peer", 60)
    found = clock()
    await scan.end(signal.SIGINT, 130, 30)
    barcodes = SCANS if bench.long else SCANS[:FEW]
    terminal = await Terminal.open(bench)
    product = await bench.run()
    clock = bench.clock()
    # An attempt may fail where a controller refuses one: it is begun again.
    await product.program.until(lambda: "connected" in product.states, "connected", 90)
    await bench.peer.until_subscribed()
    connected = clock()
    failed = product.states.count("failed")
    clock = bench.clock()
    sent = 0
    try:
        for barcode in barcodes:
            await terminal.until(sent - 9 * len(barcode), 20)
            sent += bench.peer.burst([barcode])
        await terminal.until(sent, 20)
        typed = clock()
    finally:
        counts = await finish(bench, product, terminal, sent)
    compare(b"".join(barcodes), terminal.text)
    all_typed(counts, len(barcodes), sent)
    await bench.peer.until_alone(30)
    attempts = f" at attempt {failed + 1}" if failed else ""
    bench.note = f"found {found:.1f} s, connected {connected:.1f} s{attempts}, {len(barcodes)} typed {typed:.1f} s"


@scenario(PREFIX + BASELINE, deadline=180, only_long=True)
async def btvirt(bench: Bench) -> None:
    """BlueZ's btvirt: the controllers of all other scenarios."""
    await main_job(bench)


def row(variant: Variant) -> None:
    async def body(bench: Bench) -> None:
        await bench.add_foreign(variant)
        await main_job(bench)
        complaint = bench.radio_complaint()
        expect(not complaint, complaint)

    body.__doc__ = variant.about
    register = scenario(PREFIX + variant.name, peer="no adapter", deadline=300, only_long=variant.name not in IN_CI, once=True)
    register(body)


for variant in VARIANTS.values():
    row(variant)
