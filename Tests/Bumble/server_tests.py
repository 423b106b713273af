# SPDX-License-Identifier: GPL-2.0-or-later
#
# The product as the server, with Bumble as the central: `simulate`, and the library in gattpeer.

from __future__ import annotations

import asyncio
import signal
from typing import Any

from bumble.device import Device

from attributes import VALUE
from central import BATTERY, Found, check_values, compare_trees, event, find, found_handle, meet, peer_uuid, subscribe, tree
from peer import NOTIFY, SERVICE, WRITE
from setting import Setting, test
from waiting import LabError, expect


async def discovery(setting: Setting, extended: bool, tcp: bool) -> None:
    device = await setting.central(extended)
    _program, built = await setting.server(await setting.port(extended, tcp))
    _, client = await meet(device, await find(device, BATTERY))
    compare_trees(await tree(client), built)
    setting.note = f"{len(built)} attributes"


@test("server-discovery")
async def legacy(setting: Setting) -> None:
    """CB-21, X-11: Bumble discovers all attributes of our server, using only commands from before Bluetooth 5."""
    await discovery(setting, extended=False, tcp=False)


@test("server-discovery-extended")
async def extended(setting: Setting) -> None:
    """As `server-discovery`, but with extended advertising, over TCP."""
    await discovery(setting, extended=True, tcp=True)


@test("server-values")
async def values(setting: Setting) -> None:
    """CB-23, CB-24, CB-27: 512 bytes are read and written in parts, at MTUs of 23, 247 and 517; dynamic values; encrypted values."""
    device = await setting.central()
    program, built = await setting.server(await setting.port())
    before = VALUE
    for mtu in 0, 247, 517:
        connection, client = await meet(device, await find(device, BATTERY), mtu)
        after = bytes((byte + mtu + 1) & 0xFF for byte in VALUE)
        await check_values(client, built, before, after)
        before = after
        await connection.disconnect()

    def commands() -> list[bytes]:
        return [bytes.fromhex(o["hex"]) for o in program.objects if o.get("event") == "command"]

    await program.until(lambda: len(commands()) == 3, "three writes without response", 10)
    expect(commands() == [b"at 23", b"at 247", b"at 517"], f"written without response: {commands()}")


async def numbers(setting: Setting, target: str, command: str) -> None:
    device = await setting.central()
    program, _ = await setting.server(await setting.port())
    _, client = await meet(device, await find(device, BATTERY), 247)
    counter = await subscribe(client, target, command == "notify")
    await event(program, "subscribed")
    await program.write(f"{command} {setting.count}\n".encode())
    await counter.numbers(setting.count, 300)
    await event(program, "sent", 30)
    await program.write(b"quit\n")
    expect((await event(program, "end"))["dropped"] == 0, "events of the server were dropped")
    await program.wait(10)
    await counter.numbers(setting.count, 1)
    setting.note = f"{setting.count} values"


@test("server-notifications")
async def notifications(setting: Setting) -> None:
    """CB-26: all numbered notifications sent at full speed arrive, in order."""
    await numbers(setting, peer_uuid(3), "notify")


@test("server-indications")
async def indications(setting: Setting) -> None:
    """CB-26: all numbered indications arrive, in order, and each is confirmed."""
    await numbers(setting, peer_uuid(4), "indicate")


@test("control-lost")
async def lost(setting: Setting) -> None:
    """Negative control: one of 200 notifications is lost and the next one is duplicated, and the comparison detects it."""
    device = await setting.central()
    program, _ = await setting.server(await setting.port())
    _, client = await meet(device, await find(device, BATTERY), 247)
    counter = await subscribe(client, peer_uuid(3))
    await event(program, "subscribed")
    controller = setting.ports[0].wires[0].controller
    assert controller is not None
    deliver = controller.on_hci_acl_data_packet
    packets: list[Any] = []

    def tamper(packet: Any) -> None:
        packets.append(packet)
        if len(packets) != 50:
            deliver(packet)
        if len(packets) == 51:
            deliver(packet)

    controller.on_hci_acl_data_packet = tamper
    await program.write(b"notify 200\n")
    cause = ""
    try:
        await counter.numbers(200, 30)
    except LabError as error:
        cause = str(error)
    expect(cause == "value 49 is another", f"a lost notification was not noticed: {cause!r}")


async def simulated(setting: Setting, *arguments: str) -> tuple[Any, Device, Found]:
    """Starts `simulate`, and a central that finds it."""
    device = await setting.central()
    product = await setting.product(await setting.port(), "simulate", "--name", "SIM", *arguments)
    return product, device, await find(device, SERVICE, "SIM")


@test("simulate-lines")
async def lines(setting: Setting) -> None:
    """CB-26: lines on standard input wait for a central, are blocked while the controller accepts no data, and then all arrive."""
    product, device, found = await simulated(setting, "--json")
    sent = [f"line {number:07d}" for number in range(setting.count * 2)]
    data = "".join(line + "\n" for line in sent).encode()
    writing = asyncio.create_task(product.program.write(data))
    _, client = await meet(device, found, 247)
    counter = await subscribe(client, NOTIFY)
    few = len(data) // 20
    await counter.until(lambda: len(counter.joined) > few, "the first lines", 60)
    wire = setting.ports[0].wires[0]
    wire.hold()
    # Shorter texts fit in the pipe.
    if len(data) > 200_000:
        done, _ = await asyncio.wait([writing], timeout=2)
        expect(not done, "a controller that takes nothing does not hold up the lines")
    wire.go_on()
    await writing
    await product.program.close_input()
    expected = "".join(line + "\r" for line in sent).encode()
    await counter.until(lambda: len(counter.joined) >= len(expected), f"{len(sent)} lines", 300)
    expect(counter.joined == expected, "the lines are others, or in another order")
    expect((await event(product.program, "end"))["lines"] == len(sent), "the count of lines")
    await product.end(signal.SIGINT, 130)
    counts = await event(product.program, "counts")
    expect((counts["lines"], counts["bytes"]) == (len(sent), len(expected)), f"the account: {counts}")
    setting.note = f"{len(sent)} lines"


def is_ean13(value: bytes) -> bool:
    digits = value[:-1].decode()
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits))
    return len(digits) == 13 and digits.isdigit() and value.endswith(b"\r") and total % 10 == 0


@test("simulate-barcodes")
async def barcodes(setting: Setting) -> None:
    """`simulate --barcodes` keeps its rate and sends valid EAN-13 barcodes; received writes are printed as text, hexadecimal or JSON."""
    for form, expected in ("--hex", "68656C6C6F1B"), ("--json", '"hex":"68656C6C6F1B"'), ("", "hello"):
        arguments = ("--barcodes", "30", "--rate", "100", *([form] if form else []))
        product, device, found = await simulated(setting, *arguments)
        _, client = await meet(device, found, 247)
        start = asyncio.get_running_loop().time()
        counter = await subscribe(client, NOTIFY)
        await counter.until(lambda counter=counter: len(counter.values) == 30, "30 barcodes", 30)
        took = asyncio.get_running_loop().time() - start
        expect(took > 0.28, f"30 barcodes at 100 a second took {took:.3f} s")
        expect(len(set(counter.values)) == 30 and all(map(is_ean13, counter.values)), f"{counter.values}")
        await client.write_value(found_handle(client, WRITE), b"hello\x1b")
        await product.program.until(
            lambda product=product, expected=expected: expected in product.program.out, f"{expected} is printed", 10
        )
        expect("\x1b" not in product.program.out, "an escape sequence was printed")
        await product.end(signal.SIGTERM, 143)
        await setting.ports.pop().until_free()


@test("simulate-file")
async def file(setting: Setting) -> None:
    """All lines of a file arrive: with every kind of line end, the last one without one, a long one in parts; `--line-end`."""
    path = setting.folder / "lines.txt"
    path.write_bytes(b"one\r\ntwo\rthree\n\n" + b"x" * 5000 + b"\nlast")
    product, device, found = await simulated(setting, "--json", "--file", str(path), "--line-end", "crlf")
    _, client = await meet(device, found, 247)
    counter = await subscribe(client, NOTIFY)
    expected = b"one\r\ntwo\r\nthree\r\n\r\n" + b"x" * 5000 + b"\r\nlast\r\n"
    await counter.until(lambda: len(counter.joined) >= len(expected), "the file", 20)
    expect(counter.joined == expected, f"{counter.joined[:40]!r}…{counter.joined[-40:]!r} arrived")
    await event(product.program, "end")
    await product.end(signal.SIGINT, 130)


@test("simulate-returning")
async def returning(setting: Setting) -> None:
    """CB-22: advertising resumes after a connection; a line read while no central is connected waits for the next one."""
    product, device, found = await simulated(setting, "--json")
    connection, client = await meet(device, found, 247)
    first = await subscribe(client, NOTIFY)
    await product.program.write(b"one\n")
    await first.until(lambda: first.joined == b"one\r", "the first line", 20)
    await connection.disconnect()
    await event(product.program, "disconnected")
    await product.program.write(b"two\n")
    _, client = await meet(device, await find(device, SERVICE), 247)
    second = await subscribe(client, NOTIFY)
    await second.until(lambda: second.joined == b"two\r", "the line that waited", 20)
    await product.end(signal.SIGINT, 130)


@test("simulate-refusals")
async def refusals(setting: Setting) -> None:
    """CB-22: names that do not fit, missing files and missing controllers each have their exit code."""
    port = await setting.port()
    nowhere = f"h4:unix:{setting.folder}/none"
    cases = [
        (64, ("--name", "x" * 40), port),
        (64, ("--name", "x" * 300), port),
        (74, ("--file", str(setting.folder / "none")), port),
        (74, ("--file", str(setting.folder)), port),
        (69, ("--adapter", nowhere), None),
    ]
    for code, arguments, where in cases:
        product = await setting.product(where, "simulate", *arguments)
        # The product detects a folder only when it reads it, for the first subscriber.
        if arguments[1] == str(setting.folder):
            device = await setting.central()
            _, client = await meet(device, await find(device, SERVICE), 247)
            await subscribe(client, NOTIFY)
        await product.exits(code, 20)
        expect(not product.program.out and product.program.err, f"{arguments}: {product.program.out!r}")
