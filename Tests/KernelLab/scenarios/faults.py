# SPDX-License-Identifier: GPL-2.0-or-later
#
# Peers that are not what one hopes for.

from __future__ import annotations

import asyncio
import signal

from bench import Bench, compare
from peer import ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import LabError, expect


async def stays(product: Product, seconds: float) -> None:
    """The product does not end for so long."""
    try:
        await product.program.until(lambda: product.program.status is not None, "", seconds)
    except LabError:
        return
    raise LabError(f"the product ended with {product.program.status}{product.program.evidence()}")


@scenario("no-service", peer="other")
async def no_service(bench: Bench) -> None:
    """LK-15: a peer without the service: state unsupported, link closed, left alone, process stays, nothing typed."""
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("unsupported", 30)
    await bench.peer.until_alone()
    await bench.monitor.until_quiet()
    await stays(product, 8)
    expect(bench.peer.connections == 1, f"not left alone: {bench.peer.connections} connections")
    expect(not reader.text, f"typed {reader.text!r}")
    await product.end(signal.SIGINT, 130)
    bench.account(0, len(reader.text), product.counts())


@scenario("vanish-return", deadline=150)
async def vanish_return(bench: Bench) -> None:
    """LK-19, X-7: the peer vanishes and returns, at once and after a while: lost, first attempt 3 s later, typing goes on."""
    scans = [ean13(number) for number in range(9)]
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    sent = bench.peer.burst(scans[:3])
    await reader.until(sent, 20)
    waits = []
    for number, absent in ((3, 0.0), (6, 9.0)):
        await bench.peer.vanish()
        await product.state("lost", 20)
        link = bench.monitor.events("link")[-1]
        expect(not link["up"] and link["reason"] == 8, f"the link ended otherwise than by its timeout: {link}")
        lost = link["time"]
        await asyncio.sleep(absent)  # how long the peer is away
        await bench.peer.advertise()
        await product.state("connected", 40, may_fail=True)
        await bench.peer.until_subscribed()
        after = [event["time"] - lost for event in bench.monitor.events("attempt") if event["time"] > lost]
        expect(after, "no attempt was seen")
        expect(after[0] >= 2.99, f"the first attempt came {after[0]:.2f} s after the loss")
        waits.append(after[0])
        sent += bench.peer.burst(scans[number : number + 3])
        await reader.until(sent, 20)
    expect(waits[0] < 10, f"the first attempt came {waits[0]:.2f} s after the loss, the peer was there at once")
    await product.end(signal.SIGINT, 130)
    bench.account(sent, len(reader.text), product.counts())
    compare(b"".join(scans), reader.text)
    bench.note = "attempts " + ", ".join(f"{wait:.1f} s" for wait in waits) + " after the loss"
