# SPDX-License-Identifier: GPL-2.0-or-later
#
# The peripheral role on the kernel's sockets, with Bumble as the central; and both roles on one controller at the same time.

from __future__ import annotations

import asyncio
import signal
from typing import Any

from bumble import gatt, hci

from attributes import VALUE
from bench import BINARY, Bench, compare
from central import BATTERY, check_values, compare_trees, event, find, found_handle, meet, numbered, peer_uuid, subscribe, tree
from guest import Program
from peer import ADDRESS, NAME, NOTIFY, SERVICE, WRITE, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import LabError, expect


async def gattpeer(bench: Bench, adapter: str, *before: str) -> Program:
    """Starts the library as a server with many attributes. `before` is a command that starts it."""
    place = "/run/lab/gattpeer"
    source = bench.machine.beside("gattpeer")
    # Another instance may be running, so replace the program only if it differs.
    await bench.guest.run("sh", "-c", 'cmp -s "$0" "$1" || install -m 755 "$0" "$1"', f"/run/host{source}", place, seconds=60)
    return await bench.start(*before, place, adapter, "GATTPEER")


async def server(bench: Bench) -> tuple[Program, list[dict[str, Any]]]:
    """Starts the library as a server on the kernel's first adapter. Returns it with a list of its attributes."""
    program = await gattpeer(bench, "hci0")
    await event(program, "advertising")
    return program, [line for line in program.objects if "type" in line]


@scenario("server", deadline=180)
async def serving(bench: Bench) -> None:
    """CB-12, CB-21: our server on kernel sockets: Bumble discovers all its attributes and transfers 512 bytes each way, at MTUs of 23 and 247."""
    device = bench.peer.device
    await device.stop_advertising()
    program, built = await server(bench)
    before = VALUE
    for mtu in 0, 247:
        # The second time, this finds the advertising that was restarted after the disconnection.
        connection, client = await meet(device, await find(device, BATTERY, "GATTPEER"), mtu)
        compare_trees(await tree(client), built)
        after = bytes((byte + mtu + 1) & 0xFF for byte in VALUE)
        await check_values(client, built, before, after)
        before = after
        await connection.disconnect()
    await program.write(b"quit\n")
    expect(await program.wait(20) == 0, f"exit {program.status}{program.evidence()}")
    bench.note = f"{len(built)} attributes, 512 bytes each way at two MTUs"


@scenario("server-numbers", deadline=300)
async def numbers(bench: Bench) -> None:
    """CB-26: numbered notifications and indications from kernel sockets to Bumble: none is lost, all in order; 10,000 each with --long."""
    device = bench.peer.device
    await device.stop_advertising()
    program, _ = await server(bench)
    count = 10_000 if bench.long else 200
    for target, command in (peer_uuid(3), "notify"), (peer_uuid(4), "indicate"):
        connection, client = await meet(device, await find(device, BATTERY), 247)
        counter = await subscribe(client, target, command == "notify")
        await program.write(f"{command} {count}\n".encode())
        await counter.numbers(count, 240)
        await connection.disconnect()
        await program.until(lambda: program.out.count('"disconnected"') == program.out.count('"connected"'), "the end", 20)
    bench.note = f"{count} notifications, {count} indications"


@scenario("client-numbers", deadline=300)
async def from_bumble(bench: Bench) -> None:
    """CB-10: as `server-numbers`, but from Bumble to our central on kernel sockets."""
    count = 10_000 if bench.long else 200
    indicated = gatt.Characteristic(peer_uuid(4), gatt.Characteristic.Properties.INDICATE, 0, b"")
    bench.peer.device.add_service(gatt.Service(peer_uuid(0), [indicated]))
    values = [numbered(number) for number in range(count)]
    for target in NOTIFY, peer_uuid(4):
        product = await bench.product("gatt", NAME, "--json", "subscribe", target, "--count", str(count))
        await product.program.until(lambda product=product: "subscribed" in product.program.err, "it subscribes", 40)
        if target == NOTIFY:
            bench.peer.burst(values, in_flight=8)
        else:
            assert bench.peer.connection is not None
            for value in values:
                await bench.peer.device.gatt_server.indicate_subscriber(bench.peer.connection, indicated, value)
        await product.exits(0, 240)
        got = [bytes.fromhex(o["hex"]) for o in product.program.objects]
        expect(got == values, f"{len(got)} values, or others, instead of {count}")
        await bench.peer.until_alone()
    expect(bench.peer.confirmations == count, f"{bench.peer.confirmations} confirmations")
    bench.note = f"{count} notifications, {count} indications"


@scenario("simulate", deadline=120, once=True)
async def simulate(bench: Bench) -> None:
    """CB-22, CB-26: `simulate` on the kernel's adapter: lines arrive in order, writes are printed, advertising resumes, Ctrl-C ends it cleanly."""
    device = bench.peer.device
    await device.stop_advertising()
    product = Product(await bench.start(BINARY, "simulate", "--json"))
    program = product.program
    await event(program, "advertising")
    lines = [f"line {number:05d}" for number in range(500)]
    await program.write("".join(line + "\n" for line in lines).encode())
    # The name is only in the scan response, because the service and the name do not fit into one packet.
    _, client = await meet(device, await find(device, SERVICE, NAME), 247)
    counter = await subscribe(client, NOTIFY)
    expected = "".join(line + "\r" for line in lines).encode()
    await counter.until(lambda: len(counter.joined) >= len(expected), f"{len(lines)} lines", 60)
    expect(counter.joined == expected, "the lines are others, or in another order")
    await client.write_value(found_handle(client, WRITE), b"hello")
    hello = (await event(program, "received"))["text"]
    expect(hello == "hello", f"{hello!r} was printed")
    await client.connection.disconnect()
    await event(program, "disconnected")
    await program.write(b"again\n")
    connection, client = await meet(device, await find(device, SERVICE, NAME))
    counter = await subscribe(client, NOTIFY)
    await counter.until(lambda: counter.joined == b"again\r", "the line that waited", 20)
    gone = asyncio.get_running_loop().create_future()
    connection.on("disconnection", gone.set_result)
    await product.end(signal.SIGINT, 130)
    await asyncio.wait_for(gone, 10)
    bench.note = f"{len(lines) + 1} lines over two connections"


@scenario("simulate-run", peer="", deadline=120, once=True)
async def simulate_run(bench: Bench) -> None:
    """CB-25, X-10: `run` on one controller types what `simulate` sends on the other, over kernel sockets and over the user channel."""
    scans = [ean13(number) for number in range(100)]
    for adapter in "hci1", "user:hci1":
        if adapter.startswith("user:"):
            await bench.guest.run("btmgmt", "--index", "1", "power", "off")
        simulator = Product(await bench.start(BINARY, "simulate", "--json", "--adapter", adapter))
        await event(simulator.program, "advertising")
        product = await bench.run("--adapter", "hci0", "--max-age", "0")
        await product.state("connected", 30)
        await event(simulator.program, "subscribed")
        reader = await EventReader.open(bench, product.node)
        await simulator.program.write(b"".join(scans))
        sent = sum(map(len, scans))
        await reader.until(sent, 60)
        compare(b"".join(scans), reader.text)
        await product.end(signal.SIGINT, 130)
        await event(simulator.program, "disconnected")
        await simulator.end(signal.SIGINT, 130)
        bench.account(sent, len(reader.text), product.counts())
        await reader.program.stop()
    bench.note = "over kernel sockets and over the user channel"


@scenario("both-roles", deadline=180)
async def both_roles(bench: Bench) -> None:
    """X-10: one process on one controller is Bumble's central and Bumble's server at once; values go both ways, none is lost."""
    device = bench.peer.device
    count = 1000 if bench.long else 200
    program, built = await server(bench)
    await program.write(f"connect {ADDRESS} {NOTIFY}\n".encode())
    await event(program, "following", 40)
    await bench.peer.until_subscribed()
    # Use the same two controllers in opposite roles. Bumble's controller is known by its other address.
    _, client = await meet(
        device, await find(device, BATTERY), 247, own_address_type=hci.OwnAddressType.PUBLIC
    )
    counter = await subscribe(client, peer_uuid(3))
    await program.write(f"notify {count}\n".encode())
    bench.peer.burst([numbered(number) for number in range(count)], in_flight=8)
    await check_values(client, built, VALUE, VALUE[::-1])
    await counter.numbers(count, 120)

    def followed() -> bool:
        return any(o.get("event") == "values" and o["count"] == count for o in program.objects)

    await program.until(followed, f"{count} values at our central", 120)
    wrong = [o for o in program.objects if o.get("event") == "values" and o["wrong"]]
    expect(not wrong, f"wrong values at our central: {wrong[:1]}")
    expect(bench.peer.connection is not None, "the central's link was lost meanwhile")
    await program.write(b"quit\n")
    expect(await program.wait(20) == 0, f"exit {program.status}{program.evidence()}")
    await bench.peer.until_alone()
    bench.note = f"{count} notifications each way at once"
