# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bumble as a central, which discovers the attributes of our servers and receives their values.

from __future__ import annotations

from typing import Any

from bumble import att, gatt_client, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Advertisement, Connection, Device

from attributes import uuid_text
from guest import Program
from waiting import Changing, LabError, expect

BATTERY = "180F"  # service advertised by gattpeer


def peer_uuid(number: int) -> str:
    """Returns the UUID of a gattpeer characteristic."""
    return f"0000AB{number:02X}-1212-EFDE-1523-785FEABCD123"


def handle(built: list[dict[str, Any]], uuid: str) -> int:
    """Returns the handle of a gattpeer attribute, from the attribute list that gattpeer prints."""
    return next(int(o["handle"]) for o in built if o["uuid"] == uuid)


def numbered(number: int) -> bytes:
    """Returns a 20-byte value that contains its number, as gattpeer creates it."""
    return number.to_bytes(4, "little") + bytes((number * 31 + index) & 0xFF for index in range(4, 20))


async def event(program: Program, name: str, seconds: float = 20) -> dict[str, Any]:
    """Waits for a program's first event with this name."""

    def found() -> dict[str, Any] | None:
        return next((o for o in program.objects if o.get("event") == name), None)

    result: dict[str, Any] = await program.until(found, f"the event {name}", seconds)
    return result


class Found(Changing):
    """Advertising data received in a scan for one service."""

    def __init__(self, service: UUID) -> None:
        super().__init__()
        self._service = service
        self.address: hci.Address | None = None
        self.name = ""

    def heard(self, advertisement: Advertisement) -> None:
        kinds = (
            AdvertisingData.Type.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS,
            AdvertisingData.Type.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
        )
        services = [uuid for kind in kinds for some in advertisement.data.get_all(kind) for uuid in some]
        if self._service in services:
            self.address = advertisement.address
            self.name = str(advertisement.data.get(AdvertisingData.Type.COMPLETE_LOCAL_NAME) or self.name)
            self.changed()


class Counter(Changing):
    """Counts the values received."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[bytes] = []

    def take(self, value: bytes) -> None:
        self.values.append(bytes(value))
        self.changed()

    @property
    def joined(self) -> bytes:
        return b"".join(self.values)

    async def numbers(self, count: int, seconds: float) -> None:
        """Waits for `count` numbered values and checks that they arrive in order, without losses or duplicates."""
        await self.until(lambda: len(self.values) >= count, f"{count} values", seconds)
        wrong = next((n for n, value in enumerate(self.values) if value != numbered(n)), None)
        expect(wrong is None, f"value {wrong} is another")
        expect(len(self.values) == count, f"{len(self.values)} values instead of {count}")


async def find(device: Device, service: str, name: str = "") -> Found:
    """Scans for a device that advertises a service and, if given, a name."""
    found = Found(UUID(service))
    device.on("advertisement", found.heard)
    await device.start_scanning(active=True)
    try:
        what = f"an advertisement of {service} {name}"
        await found.until(lambda: found.address and found.name == (name or found.name), what, 20)
    finally:
        await device.stop_scanning()
        device.remove_listener("advertisement", found.heard)
    return found


async def meet(device: Device, found: Found, mtu: int = 0, **options: Any) -> tuple[Connection, gatt_client.Client]:
    """Connects, and exchanges the MTU unless `mtu` is 0."""
    assert found.address is not None
    connection = await device.connect(found.address, **options)
    client = connection.gatt_client
    if mtu:
        expect(await client.request_mtu(mtu) == mtu, f"the MTU is {client.mtu} instead of {mtu}")
    return connection, client


async def tree(client: gatt_client.Client) -> list[tuple[Any, ...]]:
    """Returns all attributes that Bumble discovers, in the order of their handles."""
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


def compare_trees(seen: list[tuple[Any, ...]], built: list[dict[str, Any]]) -> None:
    """Compares the attributes that were discovered with the attributes of gattpeer."""
    expected = [(o["type"], o["handle"], o["uuid"], o["properties"]) for o in built if o["type"] != "include"]
    expect(len(expected) > 20, f"built next to nothing: {expected}")
    expect(seen == expected, f"Bumble finds {seen}, built {expected}")


async def write_long(client: gatt_client.Client, target: int, value: bytes) -> None:
    """Sends prepared writes and their execution. Bumble has the packets but no function for the whole procedure."""
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


async def check_values(client: gatt_client.Client, built: list[dict[str, Any]], before: bytes, after: bytes) -> None:
    """Reads, writes and reads back 512 bytes, reads a dynamic value, sends a write command, and checks that a value that requires
    encryption cannot be read."""
    long, dynamic = handle(built, peer_uuid(1)), handle(built, peer_uuid(2))
    expect(await client.read_value(long) == before, f"512 bytes read at an MTU of {client.mtu}")
    await write_long(client, long, after)
    expect(await client.read_value(long) == after, f"512 bytes read back at an MTU of {client.mtu}")
    text = f"at {client.mtu}".encode()
    await client.write_value(dynamic, text, with_response=True)
    expect(await client.read_value(dynamic) == text, "a dynamic value")
    await client.write_value(handle(built, peer_uuid(5)), text)
    try:
        await client.read_value(handle(built, peer_uuid(6)))
        raise LabError("a value under lock was read")
    except att.ATT_Error as error:
        expect(error.error_code in (0x05, 0x0F), f"a value under lock: {error}")


async def subscribe(client: gatt_client.Client, target: str, notified: bool = True) -> Counter:
    """Subscribes to a characteristic and returns a counter of the values received."""
    await client.discover_services()
    for service in client.services:
        for item in await client.discover_characteristics([], service):
            if uuid_text(item.uuid) == target:
                counter = Counter()
                await client.discover_descriptors(item)
                await client.subscribe(item, counter.take, prefer_notify=notified)
                return counter
    raise LabError(f"no characteristic {target}")


def found_handle(client: gatt_client.Client, uuid: str) -> int:
    """Returns the handle of a characteristic after `subscribe` discovered it."""
    items = (item for service in client.services for item in service.characteristics)
    return next(item.handle for item in items if uuid_text(item.uuid) == uuid)
