# SPDX-License-Identifier: GPL-2.0-or-later
#
# Received text appears nowhere except where it is typed, or where an option asks for it.

from __future__ import annotations

import signal

from bench import BINARY, Bench, compare
from daemons import CONFIGURATION, fresh, start, status, tell, until_connected, until_count, use_open, write
from guest import Program
from peer import NAME
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect

SECRET = "Qz7-Secret-49Kx"
HOOK, HEARD = "/run/lab/secret.hook", "/run/lab/secret.heard"
CAPTURE = "/run/lab/secret.btsnoop"
PLACES = ("/etc/blewedge", "/var/lib/blewedge", "/run/blewedge", HEARD)


def forms() -> list[str]:
    """Returns the forms in which a text could contain the secret: unchanged, hexadecimal, and as decimal numbers."""
    data = SECRET.encode()
    return [
        SECRET, data.hex(), data.hex().upper(), data.hex(" "), data.hex(" ").upper(), ", ".join(map(str, data)),
        ", ".join(f"0x{byte:02x}" for byte in data),
    ]  # fmt: skip


def is_told(text: str) -> bool:
    return any(form in text for form in forms())


async def told_in_files(bench: Bench, *places: str) -> list[str]:
    """Returns the files that contain the secret."""
    patterns = [word for form in forms() for word in ("-e", form)]
    return (await bench.guest.run("grep", "-rlaF", *patterns, *places, check=False)).out.split()


async def silent(bench: Bench, *programs: Program) -> None:
    for program in programs:
        for name, text in (("standard output", program.out), ("standard error", program.err)):
            expect(not is_told(text), f"{program.name} tells what was received on {name}: {text[-400:]!r}")
    found = await told_in_files(bench, *PLACES)
    expect(not found, f"what was received stands in {found}")
    kernel = (await bench.guest.run("dmesg")).out
    expect(not is_told(kernel), "what was received stands in the kernel's log")


async def every_way(bench: Bench, daemon: Product, reader: EventReader, watchers: list[Program]) -> int:
    """Sends the secret in all ways: typed, gated, rejected, received instead of a reply, and cut off by the end of the link. Also
    runs commands that could reveal it."""
    secret = SECRET.encode()
    sent = bench.peer.burst([secret, b"\r"])
    await reader.until(sent, 20)
    compare(secret + b"\r", reader.text)
    await tell(bench, "pause")
    sent += bench.peer.burst([secret + b"\r"])
    await until_count(bench, "gated", len(secret) + 1)
    await tell(bench, "resume")
    # Longer than a barcode may be, so it is rejected as a whole.
    sent += bench.peer.burst([secret * 2, b"\r"])
    await until_count(bench, "rejected", 2 * len(secret))
    asked = await bench.start(BINARY, "ask", "01", "--reply", "FF FF", "--within", "1s")
    await bench.peer.until(lambda: bench.peer.writes, "the command", 20)
    typed = len(reader.text)
    sent += bench.peer.burst([b"X" + secret, b"\r"])
    await reader.until(typed + len(secret) + 2, 20)
    await asked.wait(20)
    expect(asked.status == 75, f"a command without its reply ends with {asked.status}")
    for words in (("status",), ("status", "--json"), ("doctor",), ("config", "show")):
        watchers.append(await bench.guest.run(BINARY, *words, check=False, seconds=40))
    watchers.append(asked)
    sent += bench.peer.burst([secret])
    await until_count(bench, "received", sent)
    await bench.peer.vanish()
    await daemon.state("lost", 20)
    return sent


@scenario("secret", deadline=240, once=True)
async def secret(bench: Bench) -> None:
    """LK-12, D-6: received text is typed, but appears in no stream, event, hook, status, log or file, whatever options are set."""
    await fresh(bench)
    await bench.guest.run("rm", "-f", HEARD, CAPTURE)
    await bench.guest.write_file(HOOK, f"#!/bin/sh\nenv >>{HEARD}\n".encode())
    await bench.guest.run("chmod", "755", HOOK)
    await write(bench, CONFIGURATION, f'verify = true\nhook = "{HOOK}"\n')
    options = ("--scan", "--idle-gap", "1s", "--max-length", str(len(SECRET) + 2))
    daemon = await start(bench, "--events", *options)
    reader = await EventReader.open(bench, daemon.node)
    await use_open(bench)
    await until_connected(bench, daemon)
    follower = await bench.start(BINARY, "events")
    watch = await bench.start(BINARY, "status", "--watch", "--json")
    watchers = [daemon.program, follower, watch]
    sent = await every_way(bench, daemon, reader, watchers)
    for name, program in (("events", follower), ("run --events", daemon.program)):
        expect('"event":"received"' in program.out, f"{name} tells nothing of what is received")
    answer = await status(bench)
    expect(answer["lastReceived"]["length"] == len(SECRET), f"status has {answer['lastReceived']}")
    await daemon.end(signal.SIGTERM, 143)
    heard = (await bench.guest.read_file(HEARD)).decode()
    expect("BLEWEDGE_EVENT=received" in heard and "BLEWEDGE_LENGTH=" in heard, f"the hook has heard {heard[-300:]!r}")
    await silent(bench, *watchers)
    bench.account(sent, len(reader.text), {"discarded": sent - len(reader.text)})

    # Output for people and for the journal; and a capture, which the user asked for, and in which the search must find the
    # secret.
    await bench.peer.advertise()
    said = await bench.start(BINARY, "run", "--foreground", "--capture", CAPTURE)
    await said.until(lambda: f"connected to {NAME}" in said.err, "the sentence that it is connected", 40)
    await bench.peer.until_subscribed()
    sent = bench.peer.burst([SECRET.encode(), b"\r"])
    await until_count(bench, "typed", sent)
    await tell(bench, "stop")
    await said.wait(20)
    expect("<5>connected to" in said.err, f"no line for a journal: {said.err!r}")
    await silent(bench, said)
    expect(await told_in_files(bench, CAPTURE) == [CAPTURE], "the search does not find what a capture has")
    await fresh(bench)
    bench.note = f"{len(watchers) + 1} programs and {len(PLACES)} places searched, in {len(forms())} forms"
