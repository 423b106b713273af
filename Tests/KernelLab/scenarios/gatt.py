# SPDX-License-Identifier: GPL-2.0-or-later
#
# `gatt` prints, reads, writes and subscribes to exactly the attributes on the peer; and the hooks of `run`.

from __future__ import annotations

import signal
from typing import Any

from attributes import INDICATED, LOCKED, LONG, VALUE, built, only, rich
from bench import BINARY, OPEN, Bench
from peer import ADDRESS, NAME, NOTIFY, WRITE, ean13
from scenarios import scenario
from waiting import expect

async def look(bench: Bench, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    """Runs `gatt` on the peer and returns its output. Checks that the link is closed afterwards and that the controller is
    idle."""
    product = await bench.product("gatt", NAME, "--json", *arguments)
    await product.exits(code, 40)
    await bench.peer.until_alone()
    await bench.monitor.until_quiet()
    for line in product.program.out.splitlines():
        expect(line.startswith("{"), f"not data on standard output: {line!r}")
    return product.program.objects


@scenario("gatt-tree", deadline=120)
async def tree(bench: Bench) -> None:
    """CB-7, CB-8: `gatt` prints all services, characteristics and descriptors of the peer, with their properties."""
    rich(bench.peer.device)
    objects = await look(bench)
    seen = [(o["type"], int(o["handle"], 16), o["uuid"]) for o in objects]
    expected = built(bench.peer.device)
    expect(len(expected) > 10, f"the peer has built next to nothing: {expected}")
    expect(seen == expected, f"printed {seen}, built {expected}")
    properties = {o["uuid"]: o["properties"] for o in objects if o["type"] == "characteristic"}
    expect(properties[LONG] == ["read", "write"], f"properties of a characteristic: {properties[LONG]}")
    expect(properties[NOTIFY] == ["notify"] and properties[WRITE] == ["write without response"], f"{properties}")
    names = {o["uuid"]: o.get("name") for o in objects}
    expect(names["1800"] == "GAP" and names["2A00"] == "Device Name", f"names: {names}")

    product = await bench.product("gatt", NAME)
    await product.exits(0, 40)
    expect(len(product.program.out.splitlines()) == len(objects), f"as text: {product.program.out!r}")
    bench.note = f"{len(objects)} attributes"


@scenario("gatt-values", deadline=240, once=True)
async def values(bench: Bench) -> None:
    """CB-9, CB-10, CB-11: `gatt read`, `write` and `subscribe` by handle and by UUID, with 512 bytes; the exit codes of refusals."""
    service = rich(bench.peer.device)
    long, indicated, _ = service.characteristics
    expect(only(await look(bench, "read", "2A00")) == NAME.encode(), "the name by its UUID")
    expect(only(await look(bench, "read", LONG)) == VALUE, "512 bytes by UUID")
    expect(only(await look(bench, "read", f"0x{long.handle:04x}")) == VALUE, "512 bytes by handle")
    # Control characters from the device must not reach a terminal.
    product = await bench.product("gatt", NAME, "read", INDICATED)
    await product.exits(0, 40)
    expect("\x1b" not in product.program.out, f"an escape sequence was printed: {product.program.out!r}")
    await look(bench, "read", LOCKED, code=77)
    await look(bench, "read", "2A99", code=74)
    await look(bench, "read", "0xFFF0", code=74)

    await look(bench, "write", LONG, "--hex", VALUE[::-1].hex())
    expect(bytes(long.value) == VALUE[::-1], "512 bytes written")
    await look(bench, "write", f"0x{long.handle:04x}", "--text", "short")
    expect(bytes(long.value) == b"short", f"written: {bytes(long.value)!r}")
    await look(bench, "write", WRITE, "--text", "no answer", "--no-response")
    written = bench.peer.attribute(WRITE).value
    expect(bytes(written) == b"no answer", f"written without response: {written!r}")

    product = await bench.product("gatt", NAME, "--json", "subscribe", NOTIFY, "--count", "3")
    await bench.peer.until_subscribed()
    for number in range(3):
        bench.peer.notify(ean13(number))
    await product.exits(0, 20)
    got = [bytes.fromhex(o["hex"]) for o in product.program.objects]
    expect(got == [ean13(number) for number in range(3)], f"told of {got}")
    await bench.peer.until_alone()

    product = await bench.product("gatt", NAME, "--json", "subscribe", f"0x{indicated.handle:04x}", "--count", "1")
    await product.program.until(lambda: "subscribed" in product.program.err, "the product subscribes", 30)
    await bench.peer.device.indicate_subscribers(indicated, b"indicated")
    await product.exits(0, 20)
    expect(product.program.objects[0]["origin"] == "indication", f"{product.program.objects}")

    product = await bench.product("gatt", NAME, "subscribe", NOTIFY, "--count", "1", "--seconds", "1")
    await product.exits(75, 40)
    product = await bench.product("gatt", NAME, "subscribe", NOTIFY)
    await bench.peer.until_subscribed()
    await product.end(signal.SIGINT, 130)
    await bench.peer.until_alone()
    await bench.monitor.until_quiet()
    await bench.peer.advertise(connectable=False)
    product = await bench.product("gatt", NAME)
    await product.exits(75, 40)
    bench.note = "512 bytes each way, 3 notifications, 1 indication"


@scenario("devices-known", deadline=120, once=True)
async def devices_known(bench: Bench) -> None:
    """CB-14: `devices` lists a device connected by another program, without files, daemon or privileges, and later as a known device."""

    async def listed(*words: str) -> list[dict[str, Any]]:
        return (await bench.guest.run(*words, BINARY, "devices", "--json")).objects

    alone = ("env", "STATE_DIRECTORY=/run/lab/none", "RUNTIME_DIRECTORY=/run/lab/none")
    expect(await listed(*alone) == [], "a device is listed before the first connection")
    product = await bench.product("gatt", NAME, "subscribe", NOTIFY)
    await bench.peer.until_subscribed()
    wanted = {"address": ADDRESS, "chosen": False, "paired": False, "connected": True, "adapter": "hci0"}
    found = await listed(*alone)
    expect(found == [wanted], f"while another program is connected the list has {found}")
    await product.end(signal.SIGINT, 130)
    await bench.peer.until_alone()
    await bench.monitor.until_quiet()
    expect(await listed(*alone) == [], "a connection that has ended is listed")
    known = [(o.get("name"), o["connected"]) for o in await listed() if o["address"] == ADDRESS]
    expect(known == [(NAME, False)], f"known is {known}")


SCRIPT = """#!/bin/sh
echo "$BLEWEDGE_EVENT $BLEWEDGE_COUNT $BLEWEDGE_LENGTH $BLEWEDGE_ADDRESS" >>/run/lab/hooks
[ "$BLEWEDGE_EVENT" != received ] || cat >>/run/lab/hook-input
grep -E "^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs):" /proc/self/status >/run/lab/hook-rights
sleep 0.3
"""


@scenario("hooks", deadline=120, once=True)
async def hooks(bench: Bench) -> None:
    """CB-30, X-18: `run --hook` and `--events` report connections, disconnections and lengths; only the hook receives the barcodes."""
    await bench.guest.run("rm", "-f", "/run/lab/hooks", "/run/lab/hook-input")
    await bench.guest.write_file("/run/lab/hook", SCRIPT.encode())
    await bench.guest.run("chmod", "755", "/run/lab/hook")
    product = await bench.product("run", "--events", "--device", NAME, *OPEN, "--hook", "/run/lab/hook")
    await product.keyboard()
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    scans = [ean13(number) for number in range(100)]
    sent = bench.peer.burst(scans)
    events = product.program

    def received() -> int:
        return sum(o["length"] for o in events.objects if o.get("event") == "received")

    await events.until(lambda: received() == sent, f"{sent} bytes are reported", 30)
    # At its end, `run` waits up to 5 s for the hook.
    whole = f'until [ "$(cat /run/lab/hook-input 2>/dev/null | wc -c)" -ge {sent} ]; do sleep 0.1; done'
    await bench.guest.run("sh", "-c", whole)
    await product.end(signal.SIGINT, 130)
    lines = (await bench.guest.read_file("/run/lab/hooks")).decode().splitlines()
    told = [(kind, int(count), int(length)) for kind, count, length, _address in map(str.split, lines)]
    expect(told[0][0] == "connect" and told[-1][0] == "disconnect", f"the hook was told {told}")
    expect(sum(length for kind, _, length in told if kind == "received") == sent, f"{sent} bytes, told {told}")
    expect(sum(count for kind, count, _ in told if kind == "received") == len(scans), f"the hook was told {told}")
    read = await bench.guest.read_file("/run/lab/hook-input")
    expect(read == b"".join(scans).replace(b"\r", b"\n"), f"the hook has read {len(read)} of {sent} bytes, or others")
    rights = (await bench.guest.read_file("/run/lab/hook-rights")).decode().split()
    wanted = [word for name in ("CapInh:", "CapPrm:", "CapEff:", "CapAmb:") for word in (name, "0" * 16)]
    expect(sorted(rights) == sorted([*wanted, "NoNewPrivs:", "1"]), f"the hook has the rights {rights}")
    expect(len(told) < 30, f"the command ran {len(told)} times")
    kinds = [o["event"] for o in events.objects if o.get("event") in ("connect", "disconnect")]
    expect(kinds == ["connect", "disconnect"], f"the stream told {kinds}")
    reports = [o for o in events.objects if o.get("event") == "received"]
    for scan in scans[:3]:
        digits = scan.decode().strip()
        expect(digits not in events.out and digits not in "".join(lines), "contents were told")
    counts = product.counts()
    expect(counts["received"] == sent, f"{sent} bytes sent, counted: {counts}")
    bench.note = f"{sent} bytes in {len(reports)} reports, {len(told)} runs of the command"
