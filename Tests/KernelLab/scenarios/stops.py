# SPDX-License-Identifier: GPL-2.0-or-later
#
# SIGINT and SIGTERM at every stage: the exit code is right, the controller is idle, no key is down, and the counts balance.

from __future__ import annotations

import signal
import struct

from bumble import hci

from bench import OPEN, TRACE, Bench, compare
from central import event, find, meet
from daemons import fresh, tell, until_connected, use_open
from peer import NAME, NOTIFY, SERVICE, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from scenarios.keys import clean_keys
from scenarios.scan import COMMAND, sees
from waiting import LabError, expect

SOON = 5.0
# In the HCI trace: opcode of Disconnect, and the year 1970 on a clock that counts microseconds since year 0.
DISCONNECT = bytes([0x06, 0x04])
EPOCH = 0x00E03AB44A676000 - 946684800 * 1_000_000
# Starts a program, forwards signals to it, and prints when it ended, on the same clock as the HCI trace.
TIMED = """
import json, signal, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:])
for number in signal.SIGINT, signal.SIGTERM:
    signal.signal(number, lambda number, _: child.send_signal(number))
status = child.wait()
print(json.dumps({"event": "gone", "time": time.time()}), flush=True)
sys.exit(status)
"""
INTERRUPT, TERMINATE = (signal.SIGINT, 130), (signal.SIGTERM, 143)


@scenario("ctrl-c-scan", once=True)
async def ctrl_c_scan(bench: Bench) -> None:
    """CB-2: Ctrl-C during `scan`: exit code 130, and the controller no longer scans."""
    product = await bench.product("scan", "--json")
    await sees(product, services=True)
    expect(bench.monitor.scanned, "the controller was never seen scanning")
    took = await product.end(signal.SIGINT, 130)
    await bench.monitor.until_quiet(2)
    expect(took < SOON, f"took {took:.1f} s")
    bench.note = f"ended in {took:.2f} s"


@scenario("ctrl-c-connect", deadline=120, once=True)
async def ctrl_c_connect(bench: Bench) -> None:
    """CB-13: Ctrl-C while connecting, with and without a link: exit code 130, link closed, controller idle, counts printed."""
    bench.peer.mute = True  # the link comes up, but all requests are ignored
    product = await bench.run()
    await product.state("connecting", 30)
    await bench.peer.until(lambda: bench.peer.connection, "the link comes up", 20)
    first = await product.end(signal.SIGINT, 130)
    await bench.monitor.until_quiet()
    await bench.peer.until_alone()
    expect("connected" not in product.states, f"connected to a peer that is silent: {product.states}")
    product.counts()

    await bench.peer.advertise(connectable=False)  # visible, but not connectable
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


@scenario("ctrl-c-typing", deadline=90, once=True)
async def ctrl_c_typing(bench: Bench) -> None:
    """X-1: Ctrl-C while typing: exit code 130, no key stays down, the typed text is a prefix, and the counts include the rest."""
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
    """SIGTERM while connected and idle: exit code 143, link closed, counts printed."""
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


async def timed(bench: Bench, *arguments: str) -> Product:
    return await bench.product(*arguments, before=("/usr/bin/python3", "-c", TIMED))


async def closes(bench: Bench, product: Product, end: tuple[signal.Signals, int], reasons: list[int]) -> str:
    """Ends the product with a signal. Checks that its own Disconnect ends the link before the process ends. `reasons` is the list
    of reasons for which the peer's links ended."""
    before, commands = len(reasons), len(await disconnects(bench))
    await product.end(*end)
    gone = product.program.objects[-1]["time"]
    await bench.monitor.until_quiet()
    ours = (await disconnects(bench))[commands:]
    wish = hci.HCI_REMOTE_USER_TERMINATED_CONNECTION_ERROR
    expect([reason for _, reason in ours] == [wish], f"the Disconnect commands {ours}, not one with {wish:#x}")
    # The kernel closes a link by itself 2 s after its last socket, with the same reason.
    ends = {"Disconnect was sent": ours[0][0], "link ended": bench.monitor.events("link")[-1]["time"]}
    for what, time in ends.items():
        expect(time < gone, f"the {what} {time - gone:.2f} s after the end of the process")
    await bench.peer.until(lambda: len(reasons) > before, "the peer hears of the end", 10)
    expect(reasons[before:] == [wish], f"the peer hears of the reasons {reasons[before:]}, not of {wish:#x}")
    return f"{1000 * (gone - ends['link ended']):.0f} ms"


async def disconnects(bench: Bench) -> list[tuple[float, int]]:
    """Returns the times and reasons of the Disconnect commands for the first controller in the HCI trace."""
    trace, at = await bench.guest.read_file(TRACE), 16
    found = []
    while at + 24 <= len(trace):
        size, flags, stamp = struct.unpack_from(">4xII4xQ", trace, at)
        packet = trace[at + 24 : at + 24 + size]
        if flags == COMMAND and packet[:2] == DISCONNECT:
            found.append(((stamp - EPOCH) / 1e6, packet[5]))
        at += 24 + size
    return found


@scenario("stop-closes", deadline=240, once=True)
async def stop_closes(bench: Bench) -> None:
    """CB-13: at SIGINT and SIGTERM, `run`, the daemon, `gatt` and `simulate` send a Disconnect before they end."""
    peer, before = bench.peer, []
    for end in INTERRUPT, TERMINATE:
        product = await timed(bench, "run", "--json", "--device", NAME, *OPEN)
        await product.state("connected", 40)
        await peer.until_subscribed()
        before.append("run " + await closes(bench, product, end, peer.reasons))

        product = await timed(bench, "gatt", NAME, "--json", "subscribe", NOTIFY)
        await product.program.until(lambda product=product: "subscribed" in product.program.err, "it subscribes", 40)
        before.append("gatt " + await closes(bench, product, end, peer.reasons))

    await fresh(bench)
    product = await timed(bench, "run", "--json")
    await product.keyboard()
    for end in INTERRUPT, TERMINATE:
        if end is INTERRUPT:
            await use_open(bench)
        else:
            product = await timed(bench, "run", "--json")
        await until_connected(bench, product)
        before.append("daemon " + await closes(bench, product, end, peer.reasons))
    await tell(bench, "forget")

    await peer.device.stop_advertising()
    for end in INTERRUPT, TERMINATE:
        product = await timed(bench, "simulate", "--json")
        await event(product.program, "advertising")
        connection, _ = await meet(peer.device, await find(peer.device, SERVICE, NAME))
        reasons: list[int] = []

        def ended(reason: int, reasons: list[int] = reasons) -> None:
            reasons.append(reason)
            peer.changed()

        connection.on("disconnection", ended)
        await event(product.program, "connected")
        before.append("simulate " + await closes(bench, product, end, reasons))
    bench.note = f"the links ended before the processes by: {', '.join(before)}"
