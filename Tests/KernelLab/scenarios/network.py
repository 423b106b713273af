# SPDX-License-Identifier: GPL-2.0-or-later
#
# No network connections except those that the user asks for by name; and digits can always be typed, whatever the device sends.

from __future__ import annotations

import re

from bench import BINARY, Bench, compare
from daemons import CONFIGURATION, fresh, start, tell, until_connected, use_open, write
from peer import NAME, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect

TRACE = "/run/lab/network.trace"
STRACE = ("strace", "-f", "-e", "trace=socket,connect", "-o", TRACE)
FAMILY = re.compile(r"socket\((\w+)")
NO_NETWORK = {"AF_UNIX", "AF_BLUETOOTH"}
SERVER = "https://127.0.0.1:9"
CODE = "/etc/blewedge/app-code"


async def families(bench: Bench) -> set[str]:
    """Returns the address families of the sockets that were opened."""
    return set(FAMILY.findall((await bench.guest.read_file(TRACE)).decode(errors="replace")))


@scenario("no-network", deadline=180, once=True)
async def no_network(bench: Bench) -> None:
    """HK-7, LK-12: only Bluetooth and local sockets are opened, except by commands with h4:tcp or a configured server, as the guide says."""
    await fresh(bench)
    expect("No network connection is used." in await tell(bench, "guide"), "the guide names a use of a network")
    await bench.guest.run("mkdir", "-p", "/etc/blewedge")
    await bench.guest.write_file(CODE, b"code\n")
    await bench.guest.run("chmod", "600", CODE)
    await write(bench, CONFIGURATION, f'[beacons]\nserver = "{SERVER}"\napp-code-file = "{CODE}"\n')
    said = await tell(bench, "guide")
    expect(f"Network: {SERVER} receives" in said and "No network" not in said, f"the guide says {said!r}")
    daemon = await bench.product("run", "--json", before=STRACE)
    await daemon.keyboard()
    reader = await EventReader.open(bench, daemon.node)
    await use_open(bench)
    await until_connected(bench, daemon)
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 60)
    compare(ean13(1), reader.text)
    await tell(bench, "stop")
    await daemon.exits(0, 30)
    found = await families(bench)
    expect(found == NO_NETWORK, f"the daemon has opened sockets of {found}")
    bench.account(sent, len(reader.text), {"discarded": 0})
    commands = 0
    for words, wanted in (
        (("scan", "--once", "--seconds", "1"), NO_NETWORK), (("gatt", NAME), NO_NETWORK), (("doctor",), NO_NETWORK),
        (("status",), {"AF_UNIX"}), (("setup", "--dry-run"), {"AF_UNIX"}),
    ):  # fmt: skip
        await bench.guest.run(*STRACE, BINARY, *words, check=False, seconds=60)
        found = await families(bench)
        expect(found <= wanted, f"{words[0]} has opened sockets of {found}")
        commands += 1
    asked = Product(await bench.start(*STRACE, BINARY, "scan", "--once", "--adapter", "h4:tcp:127.0.0.1:9"))
    await asked.exits(69, 30)
    expect("AF_INET" in await families(bench), "h4:tcp opens no socket of the network: the trace shows nothing")
    refused = await bench.guest.run(*STRACE, BINARY, "beacons", "fetch", check=False, seconds=60)
    expect(refused.status == 77 and await families(bench) <= NO_NETWORK, f"asked without agreement: {refused.evidence()}")
    agreed = await bench.guest.run(BINARY, "beacons", "set-up", "--agree", check=False, seconds=60)
    expect("you agreed to use" in agreed.err, f"nothing is agreed: {agreed.evidence()}")
    fetched = await bench.guest.run(*STRACE, BINARY, "beacons", "fetch", check=False, seconds=60)
    expect(fetched.status == 75 and "AF_INET" in await families(bench), f"the server is not asked: {fetched.evidence()}")
    bench.note = f"the daemon and {commands} commands"


@scenario("digits-at-hand", peer="no adapter", deadline=90, once=True)
async def digits_at_hand(bench: Bench) -> None:
    """HK-7: every digit can be pressed with any table and layout, without a device or an adapter."""
    for layout in ("us", "jp"):
        await fresh(bench)
        await write(bench, "/etc/blewedge/none.table", '0x41 = text "A"\n')
        await write(bench, CONFIGURATION, f'table = "/etc/blewedge/none.table"\nlayout = "{layout}"\n')
        daemon = await start(bench)
        reader = await EventReader.open(bench, daemon.node)
        await tell(bench, "key", *"0123456789")
        await reader.until(10, 20)
        compare(b"0123456789", reader.text)
        await tell(bench, "stop")
        await daemon.exits(0, 20)
    await fresh(bench)
