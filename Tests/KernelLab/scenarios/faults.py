# SPDX-License-Identifier: GPL-2.0-or-later
#
# Peers with faults.

from __future__ import annotations

import asyncio
import signal

from bench import Bench, compare
from peer import ean13
from readers import EventReader
from scenarios import scenario
from waiting import expect


@scenario("no-service", peer="other", deadline=120, once=True)
async def no_service(bench: Bench) -> None:
    """LK-15, D-5: a peer without a serial service is unsupported: its services are named, the link closed, nothing typed; retries after 3 s and 6 s."""
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    for again in range(3):
        await product.state("unsupported", 30)
        await bench.peer.until_alone()
        if not again:
            await bench.monitor.until_quiet()
    told = next(o for o in product.program.objects if o.get("state") == "unsupported")
    expect(told["reason"] == "it has no serial service; it offers FFF0", f"the reason is {told}")
    expect("write a profile" in told["remedy"], f"the remedy is {told}")
    expect(bench.peer.connections == 3, f"{bench.peer.connections} connections")
    expect(not reader.text, f"typed {reader.text!r}")
    await product.end(signal.SIGINT, 130)
    ups, downs = ([e["time"] for e in bench.monitor.events("link") if e["up"] is up] for up in (True, False))
    pauses = [up - down for up, down in zip(ups[1:], downs, strict=False)]
    for pause, least in zip(pauses, (3, 6), strict=True):
        expect(least - 0.05 <= pause < least + 2.5, f"the pauses were {pauses} s")
    bench.account(0, len(reader.text), product.counts())
    bench.note = f"pauses {', '.join(f'{pause:.2f}' for pause in pauses)} s"


@scenario("vanish-return", deadline=150)
async def vanish_return(bench: Bench) -> None:
    """LK-19, CB-10, X-7: the peer vanishes and returns twice: the link is lost, an attempt follows 3 s later, and typing resumes."""
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
        link = await bench.monitor.last_link(up=False)
        expect(link["reason"] == 8, f"the link ended otherwise than by its timeout: {link}")
        lost = link["time"]
        await asyncio.sleep(absent)  # time in seconds that the peer is away
        await bench.peer.advertise()
        await product.state("connected", 40)
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
