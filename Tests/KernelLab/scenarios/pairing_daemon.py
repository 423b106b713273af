# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pairing through the daemon, which uses the adapter: a conversation on the control socket.

from __future__ import annotations

import json
import signal

from bench import BINARY, Bench, compare
from daemons import chosen, fresh, start, tell, until_connected, until_status
from guest import Program
from peer import ADDRESS, NAME, ean13
from readers import EventReader
from scenarios import scenario
from scenarios.pairing import IO, OVER_LINE, PASSKEY, Hands, bond, hold, lay_line, told
from waiting import expect


async def asked(bench: Bench, *options: str) -> Program:
    """Starts `pair` with a passkey that the peer shows, and waits for the question."""
    product = await bench.start(BINARY, "pair", NAME, "--json", "--console", "keyboard", *options)
    await product.until(lambda: told(product, "passkeyWanted"), "a question", 40)
    return product


async def answered(product: Program) -> None:
    """Enters the passkey, and checks that the pairing succeeds."""
    await product.write(f"{PASSKEY:06d}\n".encode())
    await product.wait(60)
    expect(product.status == 0, f"pair: {product.status}{product.evidence()}")


async def typed(bench: Bench, reader: EventReader, numbers: range) -> int:
    """Sends barcodes from the peer to the reader, and returns their length in bytes."""
    sent = bench.peer.burst([ean13(number) for number in numbers])
    await reader.until(len(reader.text) + sent, 20)
    return sent


async def through_daemon(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Pairs an unpaired device while it is connected, and checks that it then types over an encrypted link."""
    daemon, reader = await chosen(bench, *adapter)
    hold(bench, Hands(IO.DISPLAY_OUTPUT_ONLY))
    sent = await typed(bench, reader, range(1, 3))
    links = bench.peer.connections
    product = await asked(bench, "--security", "authenticated", *adapter)
    await answered(product)
    said = bond(product)
    expect(said["address"] == ADDRESS and said["security"] == "authenticated", f"the bond is {said}")
    expect("is the selected device" in product.err, f"people read {product.err!r}")
    answer = await until_status(bench, 40, "an authenticated link", lambda a: (a.get("link") or {}).get("security") == "authenticated")
    expect(answer["requiredSecurity"] == "authenticated", f"status: {answer}")
    await bench.peer.until_subscribed()
    sent += await typed(bench, reader, range(3, 5))
    compare(b"".join(ean13(number) for number in range(1, 5)), reader.text)
    listed = json.loads(await tell(bench, "bonds", "--json"))
    expect(listed["address"] == ADDRESS, f"the list has {listed}")
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = f"{bench.peer.connections - links} links after the first"
    await fresh(bench)


@scenario("pairing-daemon", deadline=240)
async def pairing_daemon(bench: Bench) -> None:
    """X-8, D-9: `pair` through a running daemon ends its open link to the device, which then types encrypted, with the new keys."""
    await fresh(bench)
    await through_daemon(bench, ())


@scenario("pairing-daemon-line", deadline=240, once=True)
async def pairing_daemon_line(bench: Bench) -> None:
    """As `pairing-daemon`, but over H4, with our own Security Manager."""
    await fresh(bench)
    await lay_line(bench)
    await through_daemon(bench, OVER_LINE)


@scenario("pairing-daemon-gone", deadline=240, once=True)
async def pairing_daemon_gone(bench: Bench) -> None:
    """D-9: a client killed at the passkey question leaves neither link nor key; the daemon continues and can pair again."""
    await fresh(bench)
    daemon = await start(bench)
    await daemon.state("unselected", 20)
    hold(bench, Hands(IO.DISPLAY_OUTPUT_ONLY))
    product = await asked(bench)
    second = await bench.guest.run(BINARY, "pair", NAME, "--console", "none", check=False, seconds=40)
    expect(second.status == 75 and "already being paired" in second.err, f"a second client: {second.status}{second.evidence()}")
    await product.signal(signal.SIGKILL)
    await bench.peer.until_alone()
    expect(await tell(bench, "bonds", "--json") == "", "a bond is kept of a pairing that was called off")
    found = json.loads((await tell(bench, "scan", "--seconds", "3", "--json")).splitlines()[0])
    expect(found["address"] == ADDRESS, f"the daemon hears {found}")
    again = await asked(bench)
    await answered(again)
    bond(again)
    reader = await EventReader.open(bench, daemon.node)
    await tell(bench, "use", NAME)
    await until_connected(bench, daemon)
    await until_status(bench, 10, "an authenticated link", lambda a: a["link"]["security"] == "authenticated")
    sent = await typed(bench, reader, range(1, 3))
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = "killed at the question, then paired and typed for"
    await fresh(bench)
