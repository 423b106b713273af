# SPDX-License-Identifier: GPL-2.0-or-later
#
# The product as the central, with Bumble's server.

from __future__ import annotations

import signal

from bumble.gatt import Characteristic

from attributes import INDICATED, LOCKED, LONG, VALUE, built, only, rich
from central import numbered
from peer import NAME, NOTIFY, WRITE
from setting import Setting, test
from waiting import expect


async def discovery(setting: Setting, extended: bool, tcp: bool) -> None:
    await setting.serve(extended)
    rich(setting.peer.device)
    port = await setting.port(extended, tcp)
    objects = await setting.gatt(port)
    seen = [(o["type"], int(o["handle"], 16), o["uuid"]) for o in objects]
    expected = built(setting.peer.device)
    expect(len(expected) > 10, f"the peer has built next to nothing: {expected}")
    expect(seen == expected, f"printed {seen}, built {expected}")
    properties = {o["uuid"]: o["properties"] for o in objects if o["type"] == "characteristic"}
    expect(properties[LONG] == ["read", "write"] and properties[NOTIFY] == ["notify"], f"properties: {properties}")
    setting.note = f"{len(objects)} attributes"


@test("client-discovery")
async def legacy(setting: Setting) -> None:
    """CB-7, CB-8: `gatt` prints all attributes of Bumble's server, over a unix socket, using only commands from before Bluetooth 5."""
    await discovery(setting, extended=False, tcp=False)


@test("client-discovery-extended")
async def extended(setting: Setting) -> None:
    """As `client-discovery`, but over TCP, with extended scanning and initiating."""
    await discovery(setting, extended=True, tcp=True)


@test("client-values")
async def values(setting: Setting) -> None:
    """CB-9, CB-11, CB-12: 512 bytes are read and written in parts, at MTUs of 23 and 247; each refusal has its exit code."""
    await setting.serve()
    service = rich(setting.peer.device)
    long = service.characteristics[0]
    port = await setting.port()
    for mtu in 23, 247:
        setting.peer.device.gatt_server.max_mtu = mtu
        long.value = VALUE
        expect(only(await setting.gatt(port, "read", LONG)) == VALUE, f"512 bytes read at an MTU of {mtu}")
        await setting.gatt(port, "write", LONG, "--hex", VALUE[::-1].hex())
        expect(bytes(long.value) == VALUE[::-1], f"512 bytes written at an MTU of {mtu}: {bytes(long.value)!r}")
    await setting.gatt(port, "write", WRITE, "--text", "no answer", "--no-response")
    expect(bytes(setting.peer.attribute(WRITE).value) == b"no answer", "written without response")
    await setting.gatt(port, "read", LOCKED, code=77)
    await setting.gatt(port, "read", "0xFFF0", code=74)


async def follow(setting: Setting, attribute: str, indicated: Characteristic | None = None) -> None:
    """Subscribes, lets the peer send as many values as the test's count, and compares them."""
    port = await setting.port()
    count = setting.count
    product = await setting.product(port, "gatt", NAME, "--json", "subscribe", attribute, "--count", str(count))
    await product.program.until(lambda: "subscribed" in product.program.err, "the product subscribes", 30)
    values = [numbered(number) for number in range(count)]
    if indicated is None:
        setting.peer.burst(values)
    else:
        connection = setting.peer.connection
        assert connection is not None
        for value in values:
            await setting.peer.device.gatt_server.indicate_subscriber(connection, indicated, value)
    await product.exits(0, 300)
    objects = product.program.objects
    got = [bytes.fromhex(o["hex"]) for o in objects]
    expect(len(got) == count, f"{len(got)} values instead of {count}")
    wrong = next((n for n, (a, b) in enumerate(zip(got, values, strict=True)) if a != b), None)
    expect(wrong is None, f"value {wrong} is another")
    origin = "indication" if indicated else "notification"
    expect({o["origin"] for o in objects} == {origin}, f"not all of them came as {origin}")
    await setting.peer.until_alone()
    setting.note = f"{count} values"


@test("client-notifications")
async def notifications(setting: Setting) -> None:
    """CB-10: all numbered notifications sent without a pause arrive, in order."""
    await setting.serve()
    await follow(setting, NOTIFY)


@test("client-indications")
async def indications(setting: Setting) -> None:
    """CB-10: all numbered indications arrive, in order, and each is confirmed."""
    await setting.serve()
    service = rich(setting.peer.device)
    await follow(setting, INDICATED, service.characteristics[1])
    expect(setting.peer.confirmations == setting.count, f"{setting.peer.confirmations} confirmations")


@test("client-interrupted")
async def interrupted(setting: Setting) -> None:
    """CB-13: Ctrl-C during a subscription closes the link at once; the loss of the controller leads to exit code 69."""
    await setting.serve()
    port = await setting.port()
    product = await setting.product(port, "gatt", NAME, "subscribe", NOTIFY)
    await setting.peer.until_subscribed()
    await product.end(signal.SIGINT, 130)
    await setting.peer.until_alone()
    await port.until_free()
    product = await setting.product(port, "gatt", NAME, "subscribe", NOTIFY)
    await setting.peer.until_subscribed()
    port.wires[0].unplug()
    await product.exits(69, 20)
    await port.until_free()
