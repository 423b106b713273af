# SPDX-License-Identifier: GPL-2.0-or-later
#
# The product as server, with Bumble as central: `simulate`, and the library under GATTPeer.

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

from bumble import att, gatt_client
from bumble.device import Device

from attributes import VALUE, uuid_text
from peer import NOTIFY, SERVICE, WRITE
from setting import Counter, Found, Setting, event, numbered, test
from waiting import LabError, expect

BATTERY = "180F"


def uuid(number: int) -> str:
    """Of GATTPeer's characteristics."""
    return f"0000AB{number:02X}-1212-EFDE-1523-785FEABCD123"


def handle(built: list[dict[str, Any]], name: str) -> int:
    return next(int(o["handle"]) for o in built if o["uuid"] == name)


async def tree(client: gatt_client.Client) -> list[tuple[Any, ...]]:
    """All that Bumble finds."""
    found: list[tuple[Any, ...]] = []

    async def characteristics(service: gatt_client.ServiceProxy) -> None:
        for item in await client.discover_characteristics([], service):
            found.append(("characteristic", item.handle, uuid_text(item.uuid), int(item.properties)))
            for descriptor in await client.discover_descriptors(item):
                found.append(("descriptor", descriptor.handle, uuid_text(descriptor.type), 0))

    for service in await client.discover_services():
        found.append(("service", service.handle, uuid_text(service.uuid), 0))
        for included in await client.discover_included_services(service):
            found.append(("secondary", included.handle, uuid_text(included.uuid), 0))
            await characteristics(included)
        await characteristics(service)
    return sorted(found, key=lambda entry: entry[1])


async def discovery(setting: Setting, extended: bool, tcp: bool) -> None:
    device = await setting.central(extended)
    _program, built = await setting.server(await setting.port(extended, tcp))
    _, client = await setting.meet(device, BATTERY)
    expected = [(o["type"], o["handle"], o["uuid"], o["properties"]) for o in built if o["type"] != "include"]
    expect(len(expected) > 20, f"built next to nothing: {expected}")
    seen = await tree(client)
    expect(seen == expected, f"Bumble finds {seen}, built {expected}")
    setting.note = f"{len(built)} attributes"


@test("server-discovery")
async def legacy(setting: Setting) -> None:
    """Bumble finds what our server was built from, by the commands before Bluetooth 5."""
    await discovery(setting, extended=False, tcp=False)


@test("server-discovery-extended")
async def extended(setting: Setting) -> None:
    """The same by extended advertising, over TCP."""
    await discovery(setting, extended=True, tcp=True)


async def write_long(client: gatt_client.Client, target: int, value: bytes) -> None:
    """Prepared writes and their execution: Bumble has the packets, and no procedure."""
    size = client.mtu - 5
    for at in range(0, len(value), size):
        part = value[at : at + size]
        answer = await client.send_request(
            att.ATT_Prepare_Write_Request(attribute_handle=target, value_offset=at, part_attribute_value=part)
        )
        expect(
            isinstance(answer, att.ATT_Prepare_Write_Response)
            and (answer.attribute_handle, answer.value_offset, answer.part_attribute_value) == (target, at, part),
            f"the part at {at} was answered by {answer}",
        )
    answer = await client.send_request(att.ATT_Execute_Write_Request(flags=1))
    expect(isinstance(answer, att.ATT_Execute_Write_Response), f"the execution was answered by {answer}")


@test("server-values")
async def values(setting: Setting) -> None:
    """512 bytes read and written, part by part, at MTUs of 23, 247 and 517; dynamic values; what is under lock."""
    device = await setting.central()
    program, built = await setting.server(await setting.port())
    long, dynamic, locked = handle(built, uuid(1)), handle(built, uuid(2)), handle(built, uuid(6))
    expected = VALUE
    for mtu in 0, 247, 517:
        connection, client = await setting.meet(device, BATTERY, mtu)
        expect(await client.read_value(long) == expected, f"512 bytes read at an MTU of {client.mtu}")
        expected = bytes((byte + mtu + 1) & 0xFF for byte in VALUE)
        await write_long(client, long, expected)
        expect(await client.read_value(long) == expected, f"512 bytes read back at an MTU of {client.mtu}")
        text = f"at {client.mtu}".encode()
        await client.write_value(dynamic, text, with_response=True)
        expect(await client.read_value(dynamic) == text, "a dynamic value")
        await client.write_value(handle(built, uuid(5)), text)
        try:
            await client.read_value(locked)
            raise LabError("a value under lock was read")
        except att.ATT_Error as error:
            expect(error.error_code in (0x05, 0x0F), f"a value under lock: {error}")
        await connection.disconnect()

    def commands() -> list[bytes]:
        return [bytes.fromhex(o["hex"]) for o in program.objects if o.get("event") == "command"]

    await program.until(lambda: len(commands()) == 3, "three writes without response", 10)
    expect(commands() == [b"at 23", b"at 247", b"at 517"], f"written without response: {commands()}")


async def subscribe(client: gatt_client.Client, target: str, notified: bool) -> Counter:
    """Subscribes to a characteristic; what then arrives."""
    await client.discover_services()
    for service in client.services:
        for item in await client.discover_characteristics([], service):
            if uuid_text(item.uuid) != target:
                continue
            counter = Counter()
            await client.discover_descriptors(item)
            await client.subscribe(item, counter.take, prefer_notify=notified)
            return counter
    raise LabError(f"no characteristic {target}")


async def numbers(setting: Setting, target: str, command: str) -> None:
    device = await setting.central()
    program, _ = await setting.server(await setting.port())
    _, client = await setting.meet(device, BATTERY, 247)
    counter = await subscribe(client, target, command == "notify")
    await event(program, "subscribed")
    await program.write(f"{command} {setting.count}\n".encode())
    await counter.until(lambda: len(counter.values) >= setting.count, f"{setting.count} values", 300)
    await event(program, "sent", 30)
    wrong = next((n for n, value in enumerate(counter.values) if value != numbered(n)), None)
    expect(wrong is None, f"value {wrong} is another")
    await program.write(b"quit\n")
    expect((await event(program, "end"))["dropped"] == 0, "events of the server were dropped")
    await program.wait(10)
    expect(len(counter.values) == setting.count, f"{len(counter.values)} values")
    setting.note = f"{setting.count} values"


@test("server-notifications")
async def notifications(setting: Setting) -> None:
    """Numbered notifications as fast as they go: every one arrives, in order."""
    await numbers(setting, uuid(3), "notify")


@test("server-indications")
async def indications(setting: Setting) -> None:
    """Numbered indications, each confirmed: every one arrives, in order."""
    await numbers(setting, uuid(4), "indicate")


async def simulated(setting: Setting, *arguments: str) -> tuple[Any, Device, Found]:
    """`simulate`, and a central that has found it."""
    device = await setting.central()
    product = await setting.product(await setting.port(), "simulate", "--name", "SIM", *arguments)
    return product, device, await setting.find(device, SERVICE)


async def linked(device: Device, found: Found) -> gatt_client.Client:
    assert found.address is not None
    client = (await device.connect(found.address)).gatt_client
    await client.request_mtu(247)
    return client


def joined(counter: Counter) -> bytes:
    return b"".join(counter.values)


@test("simulate-lines")
async def lines(setting: Setting) -> None:
    """Lines on standard input wait for a central, are held up by a controller that takes nothing, and all arrive."""
    product, device, found = await simulated(setting, "--json")
    expect(found.name == "SIM", f"the name is {found.name!r}")
    sent = [f"line {number:07d}" for number in range(setting.count * 2)]
    data = "".join(line + "\n" for line in sent).encode()
    writing = asyncio.create_task(product.program.write(data))
    client = await linked(device, found)
    counter = await subscribe(client, NOTIFY, True)
    few = len(data) // 20
    await counter.until(lambda: len(joined(counter)) > few, "the first lines", 60)
    wire = setting.ports[0].wires[0]
    wire.hold()
    held = not writing.done()
    if held and setting.count >= 10_000:
        done, _ = await asyncio.wait([writing], timeout=2)
        expect(not done, "a controller that takes nothing does not hold up the lines")
    wire.go_on()
    await writing
    await product.program.close_input()
    expected = "".join(line + "\r" for line in sent).encode()
    await counter.until(lambda: len(joined(counter)) >= len(expected), f"{len(sent)} lines", 300)
    expect(joined(counter) == expected, "the lines are others, or in another order")
    expect((await event(product.program, "end"))["lines"] == len(sent), "the count of lines")
    await product.end(signal.SIGINT, 130)
    counts = await event(product.program, "counts")
    expect((counts["lines"], counts["bytes"]) == (len(sent), len(expected)), f"the account: {counts}")
    setting.note = f"{len(sent)} lines"


@test("simulate-barcodes")
async def barcodes(setting: Setting) -> None:
    """The generator keeps its pace and sends valid EAN-13; what is written to it is printed, in each of the forms."""
    for form, expected in ("--hex", "68656C6C6F1B"), ("--json", '"hex":"68656C6C6F1B"'), ("", "hello"):
        arguments = ("--barcodes", "30", "--rate", "100", *([form] if form else []))
        product, device, found = await simulated(setting, *arguments)
        client = await linked(device, found)
        counter = await subscribe(client, NOTIFY, True)
        start = asyncio.get_running_loop().time()
        await counter.until(lambda counter=counter: len(counter.values) == 30, "30 barcodes", 30)
        took = asyncio.get_running_loop().time() - start
        expect(took > 0.25, f"30 barcodes at 100 a second took {took:.3f} s")
        expect(len(set(counter.values)) == 30 and all(map(is_ean13, counter.values)), f"{counter.values}")
        target = next(item for service in client.services for item in service.characteristics if uuid_text(item.uuid) == WRITE)
        await client.write_value(target.handle, b"hello\x1b")
        await product.program.until(lambda: expected in product.program.out, f"{expected} is printed", 10)
        expect("\x1b" not in product.program.out, "an escape sequence was printed")
        await product.end(signal.SIGTERM, 143)
        await setting.ports.pop().until_free()


def is_ean13(value: bytes) -> bool:
    digits = value[:-1].decode()
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits))
    return len(digits) == 13 and digits.isdigit() and value.endswith(b"\r") and total % 10 == 0


@test("simulate-two-centrals")
async def two_centrals(setting: Setting) -> None:
    """A second central is served while the first one stays; one that leaves and comes back gets what follows."""
    product, device, found = await simulated(setting, "--json")
    first = await linked(device, found)
    counter = await subscribe(first, NOTIFY, True)
    await product.program.write(b"one\n")
    await counter.until(lambda: joined(counter) == b"one\r", "the first line", 20)
    await first.connection.disconnect()
    await event(product.program, "disconnected")
    await product.program.write(b"two\n")
    again = await linked(device, await setting.find(device, SERVICE))
    counter = await subscribe(again, NOTIFY, True)
    await counter.until(lambda: joined(counter) == b"two\r", "the line that waited", 20)
    await product.end(signal.SIGINT, 130)


@test("simulate-refusals")
async def refusals(setting: Setting) -> None:
    """Names that do not fit, files that are not there, controllers that are not there: each has its exit code."""
    port = await setting.port()
    cases: list[tuple[int, Callable[[], tuple[str, ...]], Any]] = [
        (64, lambda: ("simulate", "--name", "x" * 40), port),
        (64, lambda: ("simulate", "--barcodes", "0"), port),
        (64, lambda: ("simulate", "--file", "a", "--barcodes", "1"), port),
        (74, lambda: ("simulate", "--file", str(setting.folder / "none")), port),
        (69, lambda: ("simulate", "--adapter", f"h4:unix:{setting.folder}/none"), None),
    ]
    for code, arguments, where in cases:
        product = await setting.product(where, *arguments())
        await product.exits(code, 20)
        expect(not product.program.out and product.program.err, f"{arguments()}: {product.program.out!r}")
