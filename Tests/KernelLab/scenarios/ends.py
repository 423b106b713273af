# SPDX-License-Identifier: GPL-2.0-or-later
#
# Outputs other than the keyboard, in both directions: the data that arrives there, the data that is sent from there, and the
# counts.

from __future__ import annotations

import asyncio
import re
import signal

from bench import BINARY, OPEN, Bench, compare
from daemons import CONFIGURATION, FOREVER, fresh, until_connected, until_status, use_open, write
from guest import Program
from peer import NAME, ean13
from product import Product
from scenarios import scenario
from waiting import expect

LINE = "/run/lab/end.line"
SOCKET = "/run/lab/end.socket"
# A client of an output: copies the data that it receives to standard output, and sends what it reads from standard input. It
# starts to read the output after the first line of standard input.
CLIENT = """
import os, socket, sys, threading
path = sys.argv[1]
if path.endswith("socket"):
    end = socket.socket(socket.AF_UNIX); end.connect(path); end = end.detach()
else:
    end = os.open(path, os.O_RDWR | os.O_NOCTTY)
print("open", file=sys.stderr, flush=True)
while os.read(0, 1) != b"\\n": pass
def send():
    while data := os.read(0, 4096): os.write(end, data)
threading.Thread(target=send, daemon=True).start()
while data := os.read(end, 65536): os.write(1, data)
"""
RAW = bytes(range(256))
PIECE = b"0123456789abcdef" * 12 + b"\r"
PIECES = 2000  # more than fits in the queues of a socket and a terminal and in the product's own buffer
BACK = b"from the other end\r\n"


async def client(bench: Bench, path: str) -> Program:
    program = await bench.start("python3", "-c", CLIENT, path)
    await program.until(lambda: "open" in program.err, "the client has the other end", 30)
    return program


async def wired(bench: Bench, to: str, raw: bool) -> Product:
    """Starts a daemon with this output and waits for the connection."""
    await fresh(bench)
    await write(bench, CONFIGURATION, f'to = "{to}"\nraw = {"true" if raw else "false"}\nmax-age = "0s"\n')
    daemon = await bench.product("run", "--json")
    await daemon.program.until(lambda: any(o.get("event") == "keyboard" for o in daemon.program.objects), "the end stands", 20)
    await use_open(bench)
    await until_connected(bench, daemon)
    return daemon


async def both_ways(bench: Bench, end: Program, sent: bytes, wanted: bytes) -> None:
    bench.peer.burst(sent[at : at + 20] for at in range(0, len(sent), 20))
    await end.write(b"go\n")
    await end.until(lambda: len(end.stdout) >= len(wanted), f"{len(wanted)} bytes at the other end", 20)
    compare(wanted, bytes(end.stdout))
    await end.write(BACK)
    await bench.peer.until(lambda: b"".join(bench.peer.writes).endswith(BACK), "what the other end sends", 20)


async def unread(bench: Bench, daemon: Product, end: Program, before: int) -> tuple[int, int]:
    """Sends to a client that does not read until everything is received. Returns the number of bytes sent and the number that the
    client got."""
    sent = bench.peer.burst([PIECE] * PIECES, in_flight=16)
    await bench.peer.drained(120)
    done = lambda answer: answer["counts"]["received"] >= before + sent  # noqa: E731
    await until_status(bench, 30, "all is received", done)
    await end.write(b"go\n")
    counts = (await until_status(bench, 30, "nothing waits", lambda answer: answer["counts"]["waiting"] == 0))["counts"]
    arrived = counts["typed"] - before
    expect(counts["lost"] == sent - arrived, f"the account is not closed: {counts}")
    expect(0 < arrived < sent, f"{arrived} of {sent} bytes taken: this proves nothing: {counts}")
    await end.until(lambda: len(end.stdout) >= arrived, f"{arrived} bytes at the other end", 30)
    # The data sent after the loss marks the end of what the client got. The first line after lost bytes is discarded, because its
    # beginning may be lost.
    behind = [b"beginning\r", b"the end\r"]
    bench.peer.burst(behind)
    came = lambda: bytes(end.stdout).replace(b"\n", b"\r")  # noqa: E731
    await end.until(lambda: came().endswith(behind[1]), "what comes behind", 20)
    taken = came().removesuffix(behind[1]).removesuffix(behind[0])
    got = len(taken)
    expect(got == arrived, f"the account says {arrived}, the client got {got}: {counts}")
    expect(taken == PIECE * (got // len(PIECE)), "what came is torn")
    await daemon.end(signal.SIGTERM, 143)
    total = daemon.counts()
    expect(total["received"] == before + sent + sum(map(len, behind)), f"received is {total}")
    await bench.peer.until_alone()
    return sent, got


@scenario("other-ends", deadline=240, once=True)
async def other_ends(bench: Bench) -> None:
    """X-9: pseudo-terminal and socket outputs of the daemon, raw and as text, both ways; exact counts for a client that never reads."""
    text = b"Ab1 {~}\t" + ean13(7)
    typed = text.replace(b"\r", b"\n")
    notes = []

    await fresh(bench)
    program = await bench.start(BINARY, "run", "--device", NAME, *OPEN, "--to", "stdout", "--raw")
    await bench.peer.until_subscribed()
    bench.peer.burst([RAW[:128], RAW[128:]])
    await program.until(lambda: len(program.stdout) >= len(RAW), "the bytes on standard output", 20)
    await program.signal(signal.SIGINT)
    expect(await program.wait(15) == 130, f"exit {program.status}{program.evidence()}")
    compare(RAW, bytes(program.stdout))
    expect("received 256 bytes in 2 notifications: typed 256" in program.err, f"the account: {program.err[-300:]!r}")
    await bench.peer.until_alone()

    for to, path, raw in ((f"pty:{LINE}", LINE, True), (f"unix:{SOCKET}", SOCKET, False)):
        daemon = await wired(bench, to, raw)
        end = await client(bench, path)
        sent = text + RAW if raw else text
        await both_ways(bench, end, sent, sent if raw else typed)
        await end.stop()
        slow = await client(bench, path)
        number, got = await unread(bench, daemon, slow, len(sent))
        notes.append(f"{to.split(':')[0]}: {got} of {number} bytes taken for a client that did not read")
    bench.note = "; ".join(notes)
    await fresh(bench)


async def ticks(bench: Bench, pid: int) -> int:
    """Returns the processor time of a process in hundredths of a second (proc(5), fields 14 and 15 of stat)."""
    fields = (await bench.guest.run("cat", f"/proc/{pid}/stat")).out.rsplit(") ", 1)[1].split()
    return int(fields[11]) + int(fields[12])


LIMIT = 24  # file descriptors: enough to connect, but not for eight clients


@scenario("end-no-descriptors", deadline=120, once=True)
async def no_descriptors(bench: Bench) -> None:
    """X-9: with no free descriptor for another client the output waits, and accepts clients again when one is free."""
    product = await bench.product(
        "run", "--json", "--device", NAME, *OPEN, "--to", f"unix:{SOCKET}", before=("sh", "-c", 'ulimit -n "$0"; exec "$@"', f"{LIMIT}")
    )
    await product.state("connected", 40)
    pid = product.program.pid
    alone = (await bench.guest.run("ls", "-l", f"/proc/{pid}/fd")).out
    ends = [await client(bench, SOCKET) for _ in range(8)]
    open_now = (await bench.guest.run("ls", f"/proc/{pid}/fd")).out.split()
    expect(len(open_now) == LIMIT, f"{len(open_now)} of {LIMIT} descriptors are open: this proves nothing")
    before = await ticks(bench, pid)
    await asyncio.sleep(3)
    used = await ticks(bench, pid) - before
    expect(used < 60, f"{used} hundredths of a second of 300 went into clients that cannot be taken")
    for end in ends:
        await end.stop()
    end = await client(bench, SOCKET)
    await end.write(b"go\n")
    # Data that the client has written is read after the client is accepted.
    await end.write(BACK)
    await bench.peer.until(lambda: b"".join(bench.peer.writes).endswith(BACK), "the new client is taken", 20)
    bench.peer.burst([ean13(4)])
    await end.until(lambda: end.stdout.endswith(b"\n"), "a barcode at the new client", 20)
    await product.end(signal.SIGINT, 130)
    bench.note = f"{used} hundredths of 300 used; {alone.count(' -> ')} descriptors without clients"


@scenario("kernel-drops", deadline=240, once=True)
async def kernel_drops(bench: Bench) -> None:
    """X-1: the kernel drops the newest part of a flood that is not read; it is counted, and no barcode is joined from two."""
    program = await bench.start(BINARY, "run", "--device", NAME, *OPEN, "--to", "stdout", "--scan", *FOREVER)
    await bench.peer.until_subscribed()
    await program.signal(signal.SIGSTOP)
    # Send single bytes, so that the kernel's queue hardly ever ends at the end of a barcode.
    barcodes = [ean13(number) for number in range(1000)]
    bench.peer.burst((bytes([byte]) for barcode in barcodes for byte in barcode), in_flight=50)
    await bench.peer.drained(150)
    await program.signal(signal.SIGCONT)
    # The kernel's queue has room again after some packets are read.
    await program.until(lambda: len(program.stdout) >= 2000, "what the kernel has kept", 60)
    # The first barcode after the gap is discarded, because its beginning may be lost.
    end = ean13(9999)
    for _ in range(2):
        bench.peer.burst([end])
    await program.until(lambda: bytes(program.stdout).replace(b"\n", b"\r").endswith(end), "what comes behind", 60)
    await program.signal(signal.SIGTERM)
    expect(await program.wait(20) == 143, f"the end: {program.evidence()}")
    lines = bytes(program.stdout).replace(b"\n", b"\r").splitlines(keepends=True)
    wrong = [line for line in lines if line not in {*barcodes, end}]
    expect(not wrong, f"typed though nobody sent it: {wrong[:3]}")
    dropped = re.search(r"dropped by the kernel: (\d+)", program.err)
    expect(dropped and int(dropped[1]) > 0, f"the kernel has dropped nothing: {program.err[-300:]!r}")
    bench.note = f"{len(lines)} barcodes, {dropped and dropped[1]} notifications dropped"
