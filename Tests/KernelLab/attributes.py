# SPDX-License-Identifier: GPL-2.0-or-later
#
# Attributes of the peer's server, read from its own table, and values in the format that the product prints.

from __future__ import annotations

from typing import Any

from bumble import gatt
from bumble.core import UUID
from bumble.device import Device

from waiting import expect

CUSTOM = "0000AA00-1212-EFDE-1523-785FEABCD123"
LONG = "0000AA01-1212-EFDE-1523-785FEABCD123"
INDICATED = "0000AA02-1212-EFDE-1523-785FEABCD123"
LOCKED = "0000AA03-1212-EFDE-1523-785FEABCD123"
VALUE = bytes(n % 251 for n in range(512))

NAMES = {
    gatt.GATT_PRIMARY_SERVICE_ATTRIBUTE_TYPE: "service",
    gatt.GATT_INCLUDE_ATTRIBUTE_TYPE: "include",
    gatt.GATT_CHARACTERISTIC_ATTRIBUTE_TYPE: "characteristic",
}

Properties = gatt.Characteristic.Properties


def rich(device: Device) -> gatt.Service:
    """Adds a second service to the peer, with a long value, an indicated value with a description, and a value that requires
    encryption."""
    service = gatt.Service(
        CUSTOM,
        [
            gatt.Characteristic(
                LONG,
                Properties.READ | Properties.WRITE,
                gatt.Characteristic.READABLE | gatt.Characteristic.WRITEABLE,
                VALUE,
                [gatt.Descriptor(UUID.from_16_bits(0x2901), gatt.Descriptor.READABLE, "a long value".encode())],
            ),
            gatt.Characteristic(INDICATED, Properties.INDICATE | Properties.READ, gatt.Characteristic.READABLE, b"\x00\x1b[2J"),
            gatt.Characteristic(LOCKED, Properties.READ, gatt.Characteristic.READ_REQUIRES_ENCRYPTION, b"secret"),
        ],
    )
    device.add_service(service)
    return service


def uuid_text(uuid: UUID) -> str:
    """Returns a UUID in the product's notation: the short form if there is one."""
    return uuid.to_hex_str().upper() if len(uuid.uuid_bytes) == 2 else str(uuid).upper()


def built(device: Device) -> list[tuple[str, int, str]]:
    """Returns the type, handle and UUID of each attribute on the peer, read from the peer's own attribute table."""
    found = []
    values = set()
    for attribute in device.gatt_server.attributes:
        kind = NAMES.get(attribute.type)
        if kind == "service":
            found.append((kind, attribute.handle, uuid_text(attribute.uuid)))
        elif kind == "include":
            found.append((kind, attribute.handle, uuid_text(attribute.service.uuid)))
        elif kind == "characteristic":
            characteristic = attribute.characteristic
            values.add(attribute.handle + 1)
            found.append((kind, attribute.handle + 1, uuid_text(characteristic.uuid)))
        elif attribute.handle not in values:
            found.append(("descriptor", attribute.handle, uuid_text(attribute.type)))
    return found


def only(objects: list[dict[str, Any]]) -> bytes:
    """Returns the value in the output, which must contain exactly one."""
    expect(len(objects) == 1 and objects[0]["type"] == "value", f"not one value: {objects}")
    return bytes.fromhex(objects[0]["hex"])
