# SPDX-License-Identifier: GPL-2.0-or-later
#
# Negative controls: each breaks something on purpose, and passes only if a check that the other scenarios rely on fails for
# exactly that reason.

from __future__ import annotations

import signal

from bench import BINARY, Bench, compare
from central import Counter, event, find, meet, subscribe
from guest import Program
from peer import NAME, NOTIFY, SERVICE, ean13
from readers import EventReader
from scenarios import scenario
from scenarios.keys import BURST, SCANS
from waiting import LabError, expect

TABLE, BROKEN = "/run/lab/broken.table", b'# broken on purpose\n0x30 = text "1"\n'


def must_differ(sent: bytes, arrived: bytes) -> str:
    """Checks that the comparison fails, and returns its error."""
    try:
        compare(sent, arrived)
    except LabError as error:
        return str(error)
    raise LabError("the comparison did not notice what was broken on purpose")


@scenario("control-table", once=True)
async def control_table(bench: Bench) -> None:
    """Negative control: with a table that types 1 for 0, the comparison fails at exactly those bytes."""
    await bench.guest.write_file(TABLE, BROKEN)
    product = await bench.run("--table", TABLE)
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    sent = b"".join(SCANS[:5])
    bench.peer.burst(SCANS[:5])
    await reader.until(len(sent), 20)
    await product.end(signal.SIGINT, 130)
    bench.account(len(sent), len(reader.text), product.counts())
    must_differ(sent, reader.text)
    compare(sent.replace(b"0", b"1"), reader.text)
    bench.note = "noticed"


@scenario("control-pacing", once=True)
async def control_pacing(bench: Bench) -> None:
    """Negative control: without pacing, the kernel drops events for a reader that sleeps, and the comparison fails."""
    scans = [ean13(number) for number in range(60)]
    product = await bench.run("--stall", "0")
    reader = await EventReader.open(bench, product.node, stall=2000)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    sent = bench.peer.burst(scans)
    await bench.peer.drained(20)
    await reader.program.until(lambda: reader.text, "the reader wakes", 10)
    await product.end(signal.SIGINT, 130)
    await reader.program.wait(10)
    summary = await reader.summary()
    counts = product.counts()
    bench.account(sent, len(reader.text), counts)
    # On a busy machine the reader may start before the last notification arrives, so compare only what was typed.
    must_differ(b"".join(scans)[: counts["typed"]], reader.text)
    expect(counts["typed"] + counts["waiting"] == counts["received"], f"the product itself lost some: {counts}")
    expect(summary["dropped"] > 0, f"no SYN_DROPPED: {summary}")
    bench.note = f"noticed: SYN_DROPPED {summary['dropped']} times"


@scenario("control-drop", once=True)
async def control_drop(bench: Bench) -> None:
    """Negative control: one notification of 50 is never sent, and the comparison fails at exactly that one."""
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    values, dropped = BURST[:50], 27
    sent = bench.peer.burst(value for number, value in enumerate(values) if number != dropped)
    await reader.until(sent, 20)
    await product.end(signal.SIGINT, 130)
    whole = b"".join(values)
    bench.account(len(whole), len(reader.text), product.counts())
    must_differ(whole, reader.text)
    compare(b"".join(values[:dropped] + values[dropped + 1 :]), reader.text)
    expect(bench.figures["lost"] == 5, f"5 bytes lost on purpose, seen: {bench.figures}")
    bench.note = f"noticed: notification {dropped} is missing"


LINES = [f"line {number:02d}" for number in range(40)]


async def simulated(bench: Bench) -> tuple[Program, Counter]:
    """Starts `simulate` on the first controller. Returns it with a counter of the values that the peer receives, after the first
    lines have arrived."""
    device = bench.peer.device
    await device.stop_advertising()
    program = await bench.start(BINARY, "simulate", "--json")
    await event(program, "advertising")
    _, client = await meet(device, await find(device, SERVICE, NAME), 247)
    counter = await subscribe(client, NOTIFY)
    for line in LINES[:10]:  # one at a time, so that each is a notification
        await send(program, counter, line)
    return program, counter


async def send(program: Program, counter: Counter, line: str) -> None:
    """Sends a line and waits until it arrives."""
    await program.write(f"{line}\n".encode())
    await counter.until(lambda: counter.values[-1:] == [f"{line}\r".encode()], line, 20)


async def command(relay: Program, number: signal.Signals) -> None:
    """Sends a command to the relay as a signal, and waits until it is executed."""
    done = sum(o.get("event") == "ordered" for o in relay.objects)
    await relay.signal(number)
    await relay.until(lambda: sum(o.get("event") == "ordered" for o in relay.objects) > done, "the relay obeys", 10)


@scenario("control-relay", once=True)
async def control_relay(bench: Bench) -> None:
    """Negative control: the relay drops one packet, and the lab reports that loss and fails."""
    program, counter = await simulated(bench)
    await command(bench.relay, signal.SIGUSR1)
    await program.write(f"{LINES[10]}\n".encode())
    await bench.relay.until(lambda: any("count" in o for o in bench.relay.objects), "the relay tells its loss", 20)
    await send(program, counter, LINES[11])
    compare("".join(f"{line}\r" for line in LINES[:10] + LINES[11:12]).encode(), counter.joined)
    bench.must_fail = "the lab lost 1 packet on the relay's user channel"


@scenario("control-relay-queue", once=True)
async def control_relay_queue(bench: Bench) -> None:
    """Negative control: the relay's short queue is not read, the kernel drops packets, and the lab reports that number and fails."""
    program, counter = await simulated(bench)
    await bench.monitor.stats()
    before = len(bench.monitor.events("stats", 1))
    await command(bench.relay, signal.SIGUSR2)
    await bench.guest.halt(bench.relay)
    await program.write("".join(f"{line}\n" for line in LINES[10:]).encode())
    arrived = 0
    while arrived < len(LINES) - 10:  # at the peer's controller
        await bench.monitor.stats()
        arrived = sum(o["notifications"] for o in bench.monitor.events("stats", 1)[before:])
    await bench.relay.signal(signal.SIGCONT)
    await bench.relay.until(lambda: any("count" in o for o in bench.relay.objects), "the relay tells its loss", 20)
    lost = next(o["count"] for o in bench.relay.objects if "count" in o)
    kept = len(LINES) - lost
    await counter.until(lambda: len(counter.values) >= kept, f"{kept} of {len(LINES)} lines", 20)
    await command(bench.relay, signal.SIGUSR2)
    await send(program, counter, "the end")
    compare("".join(f"{line}\r" for line in [*LINES[:kept], "the end"]).encode(), counter.joined)
    bench.must_fail = f"the lab lost {lost} packets on the relay's user channel"
