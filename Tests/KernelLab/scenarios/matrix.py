# SPDX-License-Identifier: GPL-2.0-or-later
#
# The matrix (`lab --table`): the main job, from a scan to 200 barcodes in a terminal, with different kinds of controllers. Each
# row of the table is a scenario.

from __future__ import annotations

import signal

from bench import OPEN, Bench, compare
from controllers import VARIANTS, Variant
from peer import ADDRESS, NAME
from readers import Terminal
from scenarios import scenario
from scenarios.keys import SCANS, all_typed, finish
from waiting import expect

PREFIX = "controller-"  # prefix of the rows' names
FEW = 20  # number of barcodes in the short tier
PATIENCE = 120  # time limit in seconds for steps that take a moment on an idle machine
IN_CI = {"legacy-4.0", "le-only"}


async def main_job(bench: Bench) -> None:
    """Scans, connects, discovers services and types. Sets the bench's note to the duration of each step."""
    clock = bench.clock()
    scan = await bench.product("scan", "--json")
    heard = lambda: any(o.get("address") == ADDRESS and o.get("name") == NAME for o in scan.program.objects)  # noqa: E731
    await scan.program.until(heard, "the scan finds the peer", PATIENCE)
    found = clock()
    await scan.end(signal.SIGINT, 130, PATIENCE)
    barcodes = SCANS[: bench.barcodes or (len(SCANS) if bench.long else FEW)]
    terminal = await Terminal.open(bench)
    product = await bench.product("run", "--json", "--device", NAME, *OPEN)
    await product.keyboard(PATIENCE)
    clock = bench.clock()
    # A connection attempt may fail if the controller refuses it; the product then retries.
    await product.program.until(lambda: "connected" in product.states, "connected", PATIENCE)
    await bench.peer.until_subscribed(PATIENCE)
    connected = clock()
    failed = product.states.count("failed")
    clock = bench.clock()
    sent = 0
    try:
        for barcode in barcodes:
            await terminal.until(sent - 9 * len(barcode), PATIENCE)
            sent += bench.peer.burst([barcode])
        await terminal.until(sent, PATIENCE)
        typed = clock()
    finally:
        counts = await finish(bench, product, terminal, sent)
    compare(b"".join(barcodes), terminal.text)
    all_typed(counts, len(barcodes), sent)
    await bench.peer.until_alone(PATIENCE)
    attempts = f" at attempt {failed + 1}" if failed else ""
    bench.note = f"found {found:.1f} s, connected {connected:.1f} s{attempts}, {len(barcodes)} typed {typed:.1f} s"


@scenario("controller-btvirt", deadline=300, only_long=True)
async def btvirt(bench: Bench) -> None:
    """BlueZ's btvirt: the controllers of all other scenarios."""
    await main_job(bench)


async def given_up(bench: Bench, variant: Variant) -> None:
    """Checks that the product ends with a remedy if the kernel cannot set up the controller."""
    kernel = bench.machine.vm.kernel.series
    expect(kernel in variant.given_up_by, f"the kernel gives the controller up: {bench.machine.vm.console_text()[-200:]!r}")
    scan = await bench.product("scan", "--once")
    await scan.exits(69, PATIENCE)
    expect("dmesg" in scan.program.err, f"`scan` says {scan.program.err!r}")
    bench.note = "given up by the kernel; `scan` ends with 69 and says where to look"


def row(variant: Variant) -> None:
    async def body(bench: Bench) -> None:
        if not await bench.add_foreign(variant):
            return await given_up(bench, variant)
        await main_job(bench)
        complaint = bench.radio_complaint()
        expect(not complaint, complaint)

    body.__doc__ = variant.about
    is_long = variant.name not in IN_CI
    scenario(f"controller-{variant.name}", peer="no adapter", deadline=300, only_long=is_long, once=True)(body)


for variant in VARIANTS.values():
    row(variant)
