# SPDX-License-Identifier: GPL-2.0-or-later
#
# SIGINT and SIGTERM at every stage: the exit code, the controller quiet, no key down, the counts balanced.

from __future__ import annotations

import signal

from bench import Bench, compare
from peer import ean13
from readers import EventReader
from scenarios import scenario
from scenarios.keys import clean_keys
from scenarios.scan import sees
from waiting import LabError, expect

SOON = 5.0


@scenario("ctrl-c-scan")
async def ctrl_c_scan(bench: Bench) -> None:
    """Ctrl-C during `scan`: 130, the controller not scanning."""
    product = await bench.product("scan", "--json")
    await sees(product, services=True)
    expect(bench.monitor.scanned, "the controller was never seen scanning")
    took = await product.end(signal.SIGINT, 130)
    await bench.monitor.until_quiet(2)
    expect(took < SOON, f"took {took:.1f} s")
    bench.note = f"ended in {took:.2f} s"


@scenario("ctrl-c-connect", deadline=120)
async def ctrl_c_connect(bench: Bench) -> None:
    """CB-13: Ctrl-C while connecting, with the link up and without: 130, link closed, controller quiet, counts printed."""
    bench.peer.mute = True  # the link comes up, but no request is ever answered
    product = await bench.run()
    await product.state("connecting", 30)
    await bench.peer.until(lambda: bench.peer.connection, "the link comes up", 20)
    first = await product.end(signal.SIGINT, 130)
    await bench.monitor.until_quiet()
    await bench.peer.until_alone()
    expect("connected" not in product.states, f"connected to a peer that is silent: {product.states}")
    product.counts()

    await bench.peer.advertise(connectable=False)  # to be seen, not to be connected to
    product = await bench.run()
    try:
        await product.state("connecting", 6)
        stage = "connecting"
    except LabError:
        stage = "scanning for a connectable one"
    second = await product.end(signal.SIGINT, 130)
    await bench.monitor.until_quiet()
    product.counts()
    expect(max(first, second) < SOON, f"took {first:.1f} s and {second:.1f} s")
    bench.note = f"ended in {first:.2f} s (link up), {second:.2f} s ({stage})"


@scenario("ctrl-c-typing", deadline=90)
async def ctrl_c_typing(bench: Bench) -> None:
    """X-1: Ctrl-C while typing: 130, no key left down, what was typed is a prefix and the counts say the rest."""
    scans = b"".join(ean13(number) for number in range(200))
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    sent = bench.peer.burst(scans[at : at + 14] for at in range(0, len(scans), 14))
    await reader.until(300, 30)
    took = await product.end(signal.SIGINT, 130)
    await reader.program.until(lambda: reader.program.status is not None, "the keyboard is removed", 10)
    summary = await reader.summary()
    counts = product.counts()
    await bench.monitor.until_quiet()
    await bench.peer.until_alone()
    expect(summary["gone"] and summary["dropped"] == 0, f"the reader: {summary}")
    clean_keys(summary)
    compare(scans[: len(reader.text)], reader.text)
    expect(counts["typed"] == len(reader.text), f"{len(reader.text)} bytes arrived, counted: {counts}")
    expect(len(reader.text) < sent, "all was typed before the signal: it proves nothing")
    expect(counts["received"] <= sent, f"{sent} bytes sent, counted: {counts}")
    expect(took < SOON, f"took {took:.1f} s")
    bench.account(sent, len(reader.text), counts)
    bench.note = f"the lost are those that waited; ended in {took:.2f} s"


@scenario("sigterm")
async def sigterm(bench: Bench) -> None:
    """SIGTERM on a connected, idle product: 143, link closed, counts printed."""
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    sent = bench.peer.burst([ean13(7)])
    await reader.until(sent, 20)
    took = await product.end(signal.SIGTERM, 143)
    await bench.monitor.until_quiet()
    await bench.peer.until_alone()
    bench.account(sent, len(reader.text), product.counts())
    compare(ean13(7), reader.text)
    expect(took < SOON, f"took {took:.1f} s")
    bench.note = f"ended in {took:.2f} s"
