# SPDX-License-Identifier: GPL-2.0-or-later
#
# Notifications become keys: completely, without duplicates, and in order.

from __future__ import annotations

import asyncio
import signal
import time

from bench import Bench, compare
from daemons import chosen, fresh
from peer import ean13
from product import Product
from readers import EventReader, Terminal
from scenarios import scenario
from waiting import LabError, expect

SCANS = [ean13(number) for number in range(200)]
BURST = [f"{number:04d}\r".encode() for number in range(1000)]
FRESH = ean13(999)
PRINTABLE = bytes(range(0x20, 0x7F))


async def finish(bench: Bench, product: Product, terminal: Terminal, sent: int) -> dict[str, int]:
    """Ends the product and the terminal, records the figures, and returns the product's counts."""
    await product.end(signal.SIGINT, 130)
    await terminal.close()
    counts = product.counts()
    bench.account(sent, len(terminal.text), counts)
    return counts


def all_typed(counts: dict[str, int], notifications: int, sent: int) -> None:
    expect(counts["notifications"] == notifications, f"{notifications} notifications sent, counted: {counts}")
    expect(counts["received"] == counts["typed"] == sent, f"{sent} bytes sent, counted: {counts}")
    expect(counts["dropped"] == 0, f"the kernel dropped notifications: {counts}")


async def type_scans(bench: Bench, product: Product, terminal: Terminal) -> str:
    """Sends all scans, waits until they are typed, and ends the product and the terminal. Returns the speed as text."""
    start = time.monotonic()
    sent = 0
    try:
        for scan in SCANS:  # like a person with a scanner, at most ten scans ahead
            await terminal.until(sent - 9 * len(scan), 20)
            sent += bench.peer.burst([scan])
        await terminal.until(sent, 20)
        took = time.monotonic() - start
    finally:
        counts = await finish(bench, product, terminal, sent)
    compare(b"".join(SCANS), terminal.text)
    all_typed(counts, 200, 2800)
    return f"{2800 / took:.0f} characters/s"


@scenario("scans-200", deadline=120)
async def scans_200(bench: Bench) -> None:
    """LK-21, X-11: 200 scans of an EAN-13 and Enter arrive byte for byte in a program on a virtual terminal (raw mode: Enter is CR)."""
    terminal = await Terminal.open(bench)
    product = await bench.connected()
    bench.note = await type_scans(bench, product, terminal)


@scenario("all-characters", once=True)
async def all_characters(bench: Bench) -> None:
    """LK-21: every printable ASCII character and Tab are typed, with and without Shift; other bytes are discarded."""
    values = [PRINTABLE, b"\x00\x01Caf\xc3\xa9\r", b"\tA1b2\x7f", b'"{|}~"', PRINTABLE[::-1], b"CR\r\n", b"LF\n"]
    expected = PRINTABLE + b"Caf\r" + b"\tA1b2" + b'"{|}~"' + PRINTABLE[::-1] + b"CR\rLF\r"
    terminal = await Terminal.open(bench)
    product = await bench.connected()
    sent = bench.peer.burst(values)
    try:
        await terminal.until(len(expected), 40)
    finally:
        counts = await finish(bench, product, terminal, sent)
    compare(expected, terminal.text)
    # An LF right after a CR belongs to the same Enter, and counts as typed (D-3).
    expect(counts["received"] == sent, f"{sent} bytes sent, counted: {counts}")
    expect(counts["typed"] == len(expected) + 1 and counts["discarded"] == 5, f"5 to discard, counted: {counts}")
    bench.figures = {"sent": sent, "typed": counts["typed"], "discarded": counts["discarded"], "lost": counts["lost"]}


@scenario("caps-lock", deadline=120, once=True)
async def caps_lock(bench: Bench) -> None:
    """X-3, X-5: text is typed correctly with CapsLock on, set before or after the product starts; not if CapsLock is ignored."""
    text = b"aB zY,{1}!Qw\r"
    terminal = await Terminal.open(bench)
    keys, _ = await bench.keys()
    presses = 0
    expected = b""
    verified = 0

    async def press() -> None:
        nonlocal presses
        presses += 1
        await keys.write(b"caps\n")
        await keys.until(lambda: len(keys.objects) == presses + 1, "CapsLock is pressed", 10)
        await asyncio.sleep(1)  # time for the LED event to pass through the terminal, the kernel and the product

    async def typed(meant: bytes) -> None:
        nonlocal expected
        expected += meant
        bench.peer.burst([text])
        await terminal.until(len(expected), 20)
        compare(expected, terminal.text)

    try:
        await press()  # CapsLock on, before the product creates its keyboard
        for options in (("--verify",), ("--scan", "--verify"), ("--caps-lock", "ignore")):
            product = await bench.connected(*options)
            ignored = "ignore" in options
            await typed(text.swapcase() if ignored else text)
            await press()  # off
            await typed(text)
            await press()  # on
            await typed(text.swapcase() if ignored else text)
            await product.end(signal.SIGINT, 130)
            counts = product.counts()
            all_typed(counts, 3, 3 * len(text))
            if not ignored:
                expect(counts["differing"] == 0 and counts["readerDropped"] == 0, f"not as meant: {counts}")
                verified += counts["verified"]
            await bench.peer.until_alone()
    finally:
        if presses % 2 == 1:  # the terminal and its CapsLock outlive the scenario
            await press()
        await terminal.close()
    expect(verified > 0, "nothing was read back")
    bench.account(9 * len(text), len(terminal.text), counts)
    bench.note = f"{presses} changes of the light; {verified} events read back as meant"


@scenario("burst-1000", deadline=150, once=True)
async def burst_1000(bench: Bench) -> None:
    """X-1, D-1a: 1,000 numbered notifications in a burst, at least 300 a second: none is lost, duplicated or discarded as too old."""
    terminal = await Terminal.open(bench)
    product = await bench.connected()
    await bench.monitor.stats()
    start = time.monotonic()
    sent = bench.peer.burst(BURST, in_flight=len(BURST))  # no flow control by the host, which is not tested here
    try:
        await bench.peer.drained(60)
        stats = await bench.monitor.stats()
        await terminal.until(sent, 20)
        typist = sent / (time.monotonic() - start)
    finally:
        counts = await finish(bench, product, terminal, sent)
    compare(b"".join(BURST), terminal.text)
    all_typed(counts, 1000, 5000)
    expect(stats["notifications"] == 1000, f"the monitor saw {stats['notifications']} notifications")
    rate = 999 / (stats["last"] - stats["first"])
    bench.note = f"{rate:.0f} notifications/s = {5 * rate:.0f} bytes/s against {typist:.0f} typed/s"
    expect(rate >= 300, f"only {rate:.0f} notifications a second reached the kernel")
    expect(5 * rate > typist, "the typist kept up: this burst proves nothing")


@scenario("too-old", deadline=90, once=True)
async def too_old(bench: Bench) -> None:
    """X-1, D-1a: scans of a backlog are typed completely and in order; scans that wait while the process is stopped are lost and counted."""
    terminal = await Terminal.open(bench)
    # With the smaller queue, typing is slow enough for most scans to wait.
    product = await bench.connected("--queue", "64")
    sent = bench.peer.burst(SCANS, in_flight=8)
    try:
        await bench.peer.drained(20)
        # The remaining scans have now waited longer than the default maximum age, and are still typed.
        await asyncio.sleep(6)
        waited = len(terminal.text)
        await terminal.until(waited + 140, 20)
        await product.program.signal(signal.SIGSTOP)
        await asyncio.sleep(6)
        await product.program.signal(signal.SIGCONT)
        # Text received from now on is typed.
        sent += bench.peer.burst([FRESH])
        while not terminal.text.endswith(FRESH):
            await terminal.until(len(terminal.text) + 1, 20)
    finally:
        counts = await finish(bench, product, terminal, sent)
    expect(counts["lost"] > 0, f"nothing was too old: {counts}")
    expect(counts["typed"] == len(terminal.text), f"{len(terminal.text)} bytes arrived, counted: {counts}")
    expect(counts["typed"] + counts["lost"] == counts["received"] == sent, f"{sent} bytes sent, counted: {counts}")
    lines = terminal.text.splitlines(keepends=True)
    expect(lines[-1] == FRESH, f"typed after what came when the process went on: {lines[-1]!r}")
    lines = lines[:-1]
    places = [SCANS.index(line) if line in SCANS else -1 for line in lines]
    torn = [line for line, place in zip(lines, places, strict=True) if place < 0]
    expect(not torn, f"typed in part: {torn[0][:60]!r}" if torn else "")
    expect(places == sorted(set(places)), f"out of order or doubled: {places}")
    bench.note = f"{len(lines)} whole scans"


@scenario("stalled-reader", deadline=120, alone=True)
async def stalled_reader(bench: Bench) -> None:
    """X-2: with the default stall, an evdev reader that drains only every 100 ms loses nothing."""
    scans = SCANS[:40]
    for _ in range(3):
        product = await bench.run("--max-age", "0")
        reader = await EventReader.open(bench, product.node, stall=100)
        await product.state("connected", 30)
        await bench.peer.until_subscribed()
        sent = bench.peer.burst(scans)
        try:
            await reader.until(sent, 25)
        except LabError:
            pass  # the summary contains the reason
        summary = await reader.summary()
        await product.end(signal.SIGINT, 130)
        bench.account(sent, len(reader.text), product.counts())
        # The guarantee applies to a reader that is never more than 100 ms late. If this reader was later, for example on a very
        # busy machine, a loss proves nothing about the product. If nothing was lost despite that, the guarantee holds.
        late = summary["worst"] > 100_500
        if not (late and summary["dropped"]):
            break
        await bench.peer.until_alone()
    worst = summary["worst"] / 1000
    bench.note = f"longest gap {worst:.1f} ms, SYN_DROPPED {summary['dropped']}"
    expect(not (late and summary["dropped"]), "the reader itself was late in three runs, they prove nothing")
    expect(summary["dropped"] == 0, f"events were dropped: {summary}")
    compare(b"".join(scans), reader.text)
    clean_keys(summary)


def clean_keys(summary: dict[str, object]) -> None:
    expect(not summary["held"], f"keys left down: {summary}")
    expect(summary["disorder"] == 0 and summary["repeats"] == 0, f"presses and releases do not alternate: {summary}")
    expect(summary["unknown"] == 0, f"keys that are not on a US layout: {summary}")
    expect(summary["others"] == 0, f"events that no keyboard sends: {summary}")
    expect(summary["presses"] == summary["releases"], f"presses and releases differ: {summary}")


@scenario("att-manners", deadline=90)
async def att_manners(bench: Bench) -> None:
    """Requests of the peer are answered, indications are confirmed, and values of other characteristics are not typed."""
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    answer = await bench.peer.ask(bytes.fromhex("02f700"))  # Exchange MTU, 247
    expect(answer[0] == 0x03 and len(answer) == 3, f"answer to an MTU request: {answer.hex()}")
    answer = await bench.peer.ask(bytes.fromhex("0a0100"))  # Read, handle 1
    expect(answer[0] in (0x01, 0x0B), f"answer to a Read request: {answer.hex()}")
    answer = await bench.peer.ask(bytes.fromhex("2e0100"))  # request with an unknown opcode
    expect(answer[:2] == b"\x01\x2e" and answer[-1] == 0x06, f"answer to an unknown request: {answer.hex()}")
    bench.peer.notify(b"another characteristic's\r", offset=3)
    bench.peer.indicate(b"another characteristic's\r", offset=3)
    await bench.peer.until(lambda: bench.peer.confirmations, "the indication is confirmed", 10)
    sent = bench.peer.burst(SCANS[:3])
    await reader.until(sent, 20)
    summary = await reader.summary()
    await product.end(signal.SIGINT, 130)
    bench.account(sent, len(reader.text), product.counts())
    compare(b"".join(SCANS[:3]), reader.text)
    clean_keys(summary)


# Service manager that receives on the notify socket.
MANAGER = """
import socket
end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); end.bind("/run/lab/notify"); print("bound", flush=True)
while True: print(end.recv(4096).decode(), flush=True)
"""


async def idle_for(bench: Bench, product: Product, reader: EventReader) -> tuple[int, int]:
    """Returns the processor time of a connected product's threads in 10 s, in nanoseconds, and the number of times that a thread
    was scheduled."""
    bench.peer.notify(SCANS[0])
    await reader.until(14, 20)
    # Use the scheduler's statistics. A tracer could count system calls, but it patches the running kernel, which sometimes
    # crashes this emulator. A thread that is not scheduled makes no system calls.
    script = """
        account() { awk '{ time += $1; turns += $3 } END { printf "%.0f %.0f\\n", time, turns }' /proc/$1/task/*/schedstat; }
        sleep 3
        account $1
        sleep 10
        account $1
        echo watched
        read go
        account $1"""
    watch = await bench.start("sh", "-c", script, "sh", str(product.program.pid))
    await watch.until(lambda: "watched\n" in watch.out, "10 s of watching", 40)
    bench.peer.notify(SCANS[1])
    await reader.until(28, 20)
    await watch.write(b"go\n")
    await watch.wait(20)
    words = watch.out.replace("watched", "").split()
    expect(len(words) == 6, f"no account of the threads: {watch.out} {watch.err}")
    before, after, later = zip(*[iter(map(int, words))] * 2)
    time, turns = (end - start for start, end in zip(before, after))
    bench.note = f"{time} ns of processor time, {turns} turns in 10 s; {later[1] - after[1]} turns for the next scan"
    expect(before[0] > 0 and later[0] > after[0] and later[1] > after[1], f"the account stands still for a scan too: {watch.out}")
    return time, turns


@scenario("idle", deadline=120, once=True)
async def idle(bench: Bench) -> None:
    """Connected and idle for 10 s, no thread of the product is scheduled, and so none makes a system call."""
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    time, turns = await idle_for(bench, product, reader)
    await product.end(signal.SIGINT, 130)
    bench.account(28, len(reader.text), product.counts())
    expect(time == 0, f"{time} ns of processor time in 10 s")
    expect(turns == 0, f"{turns} turns on a processor in 10 s")


@scenario("idle-service", deadline=120, once=True)
async def idle_service(bench: Bench) -> None:
    """Idle for 10 s under a manager with a watchdog of 20 s, the daemon's two threads wake once, only for the watchdog."""
    manager = await bench.start("python3", "-c", MANAGER)
    await manager.until(lambda: "bound" in manager.out, "the manager's socket", 20)
    daemon, reader = await chosen(bench, before=("env", "NOTIFY_SOCKET=/run/lab/notify", "WATCHDOG_USEC=20000000"))
    time, turns = await idle_for(bench, daemon, reader)
    await manager.until(lambda: "WATCHDOG=1" in manager.out, "a sign of life", 20)
    await daemon.end(signal.SIGTERM, 143)
    bench.account(28, len(reader.text), daemon.counts())
    # In 10 s the watchdog is notified once, or twice if it happens at both ends.
    expect(1 <= turns <= 4, f"{turns} turns on a processor, {time} ns in 10 s")
    await fresh(bench)
