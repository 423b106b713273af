# SPDX-License-Identifier: GPL-2.0-or-later
#
# A device that has to be greeted: nothing of it is typed before every reply has come.

from __future__ import annotations

import signal
from typing import Any

from bench import Bench, compare
from daemons import fresh, start, status, tell, write
from peer import NAME, NOTIFY, SERVICE, WRITE, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect

PROFILE = "/etc/blewedge/scale.toml"
# Two commands: the second has the byte that the first reply brought, once under a key and once less one.
GREETING = f"""
title = "Counter scale"
service = "{SERVICE}"
from-device = "{NOTIFY}"
to-device = "{WRITE}"

[[handshake]]
send = "A5 01 {{crc8-maxim}}"
expect = "A5 81 ?1 {{crc8-maxim}}"
within = "2s"

[[handshake]]
send = "A5 02 $1^5A $1+FF {{crc8-maxim}}"
expect = "A5 82 00 {{crc8-maxim}}"
within = "2s"
"""


def crc8_maxim(data: bytes) -> int:
    """Dallas and Maxim's one-wire CRC, bit by bit: x^8 + x^5 + x^4 + 1, the lowest bit first."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x8C if value & 1 else 0)
    return value


def checked(*data: int) -> bytes:
    return bytes([*data, crc8_maxim(bytes(data))])


@scenario("daemon-handshake", deadline=180, once=True)
async def daemon_handshake(bench: Bench) -> None:
    """A handshake comes before the first byte: without a reply, or with a wrong one, nothing is typed and status says why."""
    await fresh(bench)
    await write(bench, PROFILE, GREETING)
    await write(bench, "/etc/blewedge/blewedge.toml", f'profile = "{PROFILE}"\n')
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await tell(bench, "use", NAME)

    first = checked(0xA5, 0x01)
    await asked(bench, first)
    bench.peer.burst([ean13(1)])
    answer = await refused(bench, daemon)
    expect("command 1 of the handshake" in answer["reason"] and "14 bytes" in answer["reason"], f"the reason is {answer}")
    expect(bench.peer.writes == [first], f"written was {bench.peer.writes}")

    await asked(bench, first)
    good = checked(0xA5, 0x81, 0x3C)
    bench.peer.burst([good[:-1] + bytes([good[-1] ^ 1]), ean13(2)])
    answer = await refused(bench, daemon)
    expect("another reply than expected" in answer["reason"], f"the reason is {answer}")

    await asked(bench, first)
    bench.peer.burst([good[:2], good[2:]])  # split over two
    await asked(bench, checked(0xA5, 0x02, 0x3C ^ 0x5A, 0x3B))
    expect(reader.text == b"", f"before the handshake was over {reader.text!r} was typed")
    expect(daemon.states[-1] == "connecting", f"the state amid the handshake is {daemon.states[-1]}")
    # What comes behind the last reply is the first to be typed.
    bench.peer.burst([ean13(3), checked(0xA5, 0x82, 0x00) + b"7"])
    await daemon.state("connected", 20, may_fail=True)
    sent = 1 + bench.peer.burst([ean13(4)])
    await reader.until(sent, 20)
    compare(b"7" + ean13(4), reader.text)
    expect((await status(bench))["profile"] == "scale", "status has another profile")
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = f"{bench.peer.connections} attempts, {len(bench.peer.writes)} commands"


async def asked(bench: Bench, command: bytes) -> None:
    """The device gets that command, and no other."""
    count = len(bench.peer.writes)
    await bench.peer.until(lambda: len(bench.peer.writes) > count, f"the command {command.hex()}", 40)
    expect(bench.peer.writes[count:] == [command], f"the device got {bench.peer.writes[count:]}, not {command.hex()}")


async def refused(bench: Bench, daemon: Product) -> dict[str, Any]:
    """The attempt fails, and nothing was typed; how status tells it."""
    await daemon.state("failed", 20, may_fail=True)
    answer = await status(bench)
    expect(answer["state"] == "failed", f"the state is {answer['state']}")
    expect(answer["counts"]["typed"] == 0, f"typed was {answer['counts']}")
    return answer
