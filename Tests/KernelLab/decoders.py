# SPDX-License-Identifier: GPL-2.0-or-later
#
# Decodes the ATT packets of a capture with two independent decoders, Wireshark's and the product's, and compares the results.

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import expect

# PDUs that contain the attribute handle. For all other PDUs, tshark adds the handle from the request.
NAMED = {0x01, 0x05, 0x07, 0x09, 0x0A, 0x0C, 0x11, 0x12, 0x16, 0x17, 0x1B, 0x1D, 0x52}
RANGES = {0x04, 0x06, 0x08, 0x10}


@dataclass(frozen=True)
class Packet:
    """An ATT packet as decoded by one decoder. Handle and value are None if they cannot be compared."""

    sent: bool
    connection: int
    opcode: int
    handle: int | None
    value: bytes | None
    pdu: bytes


def first(text: str) -> int | None:
    return int(text.split(",")[0], 16) if text else None


def tshark(*arguments: str) -> str:
    done = subprocess.run(["tshark", *arguments], capture_output=True, text=True)
    expect(done.returncode == 0, f"tshark ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def by_tshark(path: Path) -> list[Packet]:
    """Returns Wireshark's decoding, with the bytes of each packet."""
    names = ["hci_mon.opcode", "bthci_acl.chandle", "btatt.opcode", "btatt.handle", "btatt.starting_handle", "btatt.value"]
    fields = [word for name in names for word in ("-e", name)]
    rows = tshark("-r", str(path), "-Y", "btatt", "-T", "fields", "-E", "separator=;", *fields).splitlines()
    raw = json.loads(tshark("-r", str(path), "-Y", "btatt", "-T", "jsonraw", "-j", "btatt"))
    expect(len(rows) == len(raw), f"tshark gave {len(rows)} rows and {len(raw)} packets")
    packets = []
    for row, frame in zip(rows, raw, strict=True):
        monitor, connection, code, handle, start, value = row.split(";")
        opcode = int(code, 16)
        packets.append(
            Packet(
                sent=int(monitor, 0) == 4,
                connection=int(connection, 16),
                opcode=opcode,
                handle=first(handle) if opcode in NAMED else first(start) if opcode in RANGES else None,
                value=bytes.fromhex(value.replace(":", "")) if value else None,
                pdu=bytes.fromhex(frame["_source"]["layers"]["btatt_raw"][0]),
            )
        )
    return packets


def by_product(objects: list[dict[str, Any]]) -> list[Packet]:
    return [
        Packet(
            sent=o["direction"] == "sent",
            connection=o["connection"],
            opcode=o["opcode"],
            handle=o.get("handle"),
            value=bytes.fromhex(o["value"]) if "value" in o else None,
            pdu=bytes.fromhex(o["pdu"]),
        )
        for o in objects
    ]


def difference(theirs: list[Packet], ours: list[Packet]) -> str:
    """Returns the first difference between the two lists; empty if there is none. Where tshark splits a value into the fields of
    a known characteristic, the bytes of the packets are compared."""
    if len(theirs) != len(ours):
        return f"tshark sees {len(theirs)} packets, the product {len(ours)}"
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True)):
        same = (a.sent, a.connection, a.opcode, a.pdu) == (b.sent, b.connection, b.opcode, b.pdu)
        if not same or a.handle != b.handle or (a.value is not None and b.value is not None and a.value != b.value):
            return f"packet {number}: tshark sees {a}, the product {b}"
    return ""
