# SPDX-License-Identifier: GPL-2.0-or-later
#
# Clients with read-only access cannot stop the daemon with endless requests, nor can scans that never end.

from __future__ import annotations

import signal

from bench import Bench, compare
from clients import client
from daemons import FOREVER, chosen, fresh, start, status, until_connected, until_status, use_open
from peer import ADDRESS, ean13
from product import Product
from scenarios import scenario
from waiting import expect

CONTROL = "/run/blewedge/control"
FLOODS = 8
# Limit of B-21 in milliseconds. It applies only with --long, on a quiet machine.
GATE = 50


async def waiting(bench: Bench) -> Product:
    """Starts a daemon whose selected device is out of range."""
    daemon, _ = await chosen(bench)
    await bench.peer.vanish()
    await until_status(bench, 40, "it is waited for", lambda answer: answer["state"] == "failed")
    return daemon


@scenario("control-flood", deadline=240, once=True, alone=True)
async def control_flood(bench: Bench) -> None:
    """B-21: while eight clients request the status in a loop, another is answered within 50 ms (p99, with --long); all barcodes are typed."""
    daemon, reader = await chosen(bench, *FOREVER)
    asking = await bench.start("askers", CONTROL, str(FLOODS), "400")
    sent = bench.peer.burst([ean13(number) for number in range(200)], in_flight=50)
    await bench.peer.drained(120)
    await reader.until(sent, 60)
    compare(b"".join(ean13(number) for number in range(200)), reader.text)
    expect(await asking.wait(120) == 0, f"the clients: {asking.evidence()}")
    found = asking.objects[0]
    expect(found["flooded"] > 0, f"no client flooded: {found}")
    bench.note = "answer p50/p99/most {p50}/{p99}/{most} ms beside {flooded} others".format(**found)
    expect(not bench.long or found["p99"] <= GATE, f"the gate is {GATE} ms: {bench.note}")
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, len(reader.text), daemon.counts())
    await fresh(bench)


@scenario("scan-beside", deadline=180, once=True)
async def scan_beside(bench: Bench) -> None:
    """LK-16: while a client scans for a minute, the selected device is connected."""
    daemon = await waiting(bench)
    scanning = await client(bench, CONTROL, "scan 60")
    await bench.peer.advertise()
    await bench.peer.until_subscribed(50)
    expect(scanning.status is None and scanning.out.count("\n") == 1, f"the scan had ended before: {scanning.out!r}")
    await scanning.stop()
    await daemon.end(signal.SIGTERM, 143)
    await fresh(bench)


@scenario("scan-taken", deadline=180, once=True)
async def scan_taken(bench: Bench) -> None:
    """X-7: when another program ends the scan for the selected device, the daemon restarts it and connects to the device."""
    daemon = await waiting(bench)
    await bench.monitor.program.until(lambda: bench.monitor.scanning, "it scans", 20)
    seen = len(bench.monitor.events("scan"))
    # btmgmt scans for ten seconds and then switches off the controller's scan.
    await bench.guest.run("timeout", "15", "btmgmt", "--index", "0", "find", "-l", seconds=40, check=False)
    await bench.peer.advertise()
    await bench.peer.until_subscribed(50)
    # The daemon notices this because it saw the other program, not because it heard nothing for half a minute.
    radio = (await status(bench))["radio"]
    expect(radio["scanDisturbed"] > 0 and radio["scanArmed"] > radio["scanQuiet"], f"the radio's counts: {radio}")
    bench.note = f"{len(bench.monitor.events('scan')) - seen} changes of the scan"
    await daemon.end(signal.SIGTERM, 143)
    await fresh(bench)


@scenario("connect-stalled", deadline=120, once=True, newest=True)
async def connect_stalled(bench: Bench) -> None:
    """X-7: a kernel that assumes another program's scan is still running starts no connection: this is detected and fixed at once."""
    await fresh(bench)
    daemon = await start(bench)
    await use_open(bench, ADDRESS)
    await until_connected(bench, daemon)
    await daemon.end(signal.SIGTERM, 143)
    await bench.peer.until_alone()
    await bench.guest.run("rawscan", "0")
    clock = bench.clock()
    # Searching for an address is passive, and so does not change the kernel's discovery state.
    daemon = await start(bench)
    await until_connected(bench, daemon)
    taken = clock()
    radio = (await status(bench))["radio"]
    believes = bench.machine.vm.kernel.series not in ("5.10", "6.1")
    stalls = f"connections that the kernel did not begin: {radio}"
    expect((radio["connectionsStalled"] > 0) == believes, stalls)
    expect(radio["attemptsFailed"] == 0, f"an attempt had to fail first: {radio}")
    bench.note = f"connected {taken:.1f} s after the start, {radio['connectionsStalled']} times asked"
    await daemon.end(signal.SIGTERM, 143)
    await fresh(bench)


@scenario("notification-flood", deadline=120, once=True)
async def notification_flood(bench: Bench) -> None:
    """X-1, LK-16: a device that sends more than can be typed is disconnected after 256 KiB did not fit, and is then reconnected."""
    daemon, _ = await chosen(bench, *FOREVER)
    clock = bench.clock()
    # Only a small part of the flood is typed or fits in the ring buffer.
    bench.peer.burst((b"%0239d\r" % number for number in range(2200)), in_flight=50)
    answer = await until_status(bench, 60, "the flood ends its link", lambda answer: answer["links"]["flooded"] > 0)
    taken = clock()
    counts = answer["counts"]
    # The excess is up to 64 packets of the current read and 64 of the loop iteration before the timer fires.
    expect(1 << 18 < counts["ringFull"] <= (1 << 18) + 240 * 2 * 64, f"the counts: {counts}")
    said = answer["reason"]
    expect(answer["state"] != "failed" or "faster than text can be typed" in said, f"the reason: {said}")
    expect(counts["received"] == counts["typed"] + counts["lost"] + counts["waiting"], f"the account: {counts}")
    await until_status(bench, 40, "the next link", lambda answer: answer["links"]["ready"] == 2)
    bench.note = f"{counts['received']} received, {counts['ringFull']} lost to the ring, ended after {taken:.1f} s"
    await daemon.end(signal.SIGTERM, 143)
    await fresh(bench)
