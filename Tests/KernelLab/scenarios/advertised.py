# SPDX-License-Identifier: GPL-2.0-or-later
#
# A device that is selected by the address printed on it, which it advertises in its manufacturer data.

from __future__ import annotations

import signal

from bench import OPEN, Bench, compare
from daemons import CONFIGURATION, fresh, start, status, tell, until_connected, use_open, write
from peer import ADDRESS, NAME, ean13
from readers import EventReader
from scenarios import scenario
from waiting import expect

PRINTED = "C0:FF:EE:01:02:03"
COMPANY = b"\xff\xff"
# The offset is counted from the company identifier.
SETTINGS = "[advertised-address]\noffset = 2\n"


@scenario("use-advertised", deadline=180, once=True)
async def use_advertised(bench: Bench) -> None:
    """BT-3, CB-31: `use` finds a device by the address in its manufacturer data, with and without a daemon, and scans only once."""
    await bench.peer.device.stop_advertising()
    await bench.peer.advertise(manufacturer=COMPANY + bytes.fromhex(PRINTED.replace(":", "")))
    await fresh(bench)
    await write(bench, CONFIGURATION, SETTINGS)
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await daemon.state("unselected", 20)
    await use_open(bench, PRINTED)
    await until_connected(bench, daemon)
    selection = (await status(bench))["selection"]
    expect((selection["address"], selection["name"]) == (PRINTED, NAME), f"kept: {selection}")
    # Before the kernel connects, it scans too, but passively.
    scans = [scan for scan in bench.monitor.events("scan") if scan["on"] and scan["active"]]
    expect(len(scans) == 1, f"{len(scans)} scans for one choice")
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)
    await daemon.end(signal.SIGTERM, 143)
    await bench.peer.until_alone()
    bench.account(sent, len(reader.text), daemon.counts())

    await tell(bench, "forget")
    # BT-3: the name and the address must both match.
    said = await tell(bench, "use", f"OTHER@{PRINTED}", "--security", "none", code=75)
    expect("press its button" in said, f"no hint to wake a device that sleeps: {said!r}")
    await use_open(bench, f"{NAME.lower()}@{PRINTED}")
    await tell(bench, "forget")
    before = len(bench.monitor.events("scan"))
    said = await use_open(bench, PRINTED)
    scans = [scan for scan in bench.monitor.events("scan")[before:] if scan["on"]]
    expect(len(scans) == 1, f"{len(scans)} scans for one choice without a daemon: {said}")
    daemon = await start(bench)
    await until_connected(bench, daemon)
    await daemon.end(signal.SIGTERM, 143)
    bench.note = "one scan for each choice"


@scenario("run-advertised", deadline=120, once=True)
async def run_advertised(bench: Bench) -> None:
    """BT-3: `run --device` connects by the address in the manufacturer data, but not if the address is at another offset."""
    await bench.peer.device.stop_advertising()
    await bench.peer.advertise(manufacturer=COMPANY + bytes.fromhex(PRINTED.replace(":", "")))
    await fresh(bench)
    await write(bench, CONFIGURATION, SETTINGS.replace("2", "1"))
    product = await bench.product("run", "--json", "--device", PRINTED, *OPEN)
    await product.keyboard()
    await product.state("failed", 30)
    expect(bench.peer.connections == 0, "connected by an address at another offset")
    await product.end(signal.SIGINT, 130)

    await write(bench, CONFIGURATION, SETTINGS)
    product = await bench.product("run", "--json", "--device", PRINTED, *OPEN)
    reader = await EventReader.open(bench, await product.keyboard())
    await until_connected(bench, product)
    connected = [o for o in product.program.objects if o.get("state") == "connected"]
    expect(connected[0]["address"] == ADDRESS, f"the link is with {connected}")
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)
    await product.end(signal.SIGINT, 130)
    bench.account(sent, len(reader.text), product.counts())
    await fresh(bench)
