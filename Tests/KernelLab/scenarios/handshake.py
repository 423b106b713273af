# SPDX-License-Identifier: GPL-2.0-or-later
#
# A device with a handshake: nothing that it sends is typed before every reply has arrived.

from __future__ import annotations

import signal
from typing import Any

from bench import BINARY, Bench, compare
from clients import client
from daemons import chosen, fresh, start, status, tell, until_connected, use_open, write
from guest import Program
from peer import NAME, NOTIFY, SERVICE, WRITE, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect

PROFILE = "/etc/blewedge/scale.toml"
CONTROL = "/run/blewedge/control"
# Two commands. The second contains the byte from the first reply twice: XORed with a key, and decreased by one.
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
    """Computes the CRC-8 of Dallas/Maxim's 1-Wire bit by bit: x^8 + x^5 + x^4 + 1, least significant bit first."""
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
    """BT-5, BT-7, BT-8: before a handshake has all its replies nothing is typed, and status reports the cause."""
    await fresh(bench)
    await write(bench, PROFILE, GREETING)
    await write(bench, "/etc/blewedge/blewedge.toml", f'profile = "{PROFILE}"\n')
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await use_open(bench)

    first = checked(0xA5, 0x01)
    await asked(bench, first)
    bench.peer.burst([ean13(1)])
    answer = await refused(bench, daemon)
    expect("handshake command 1" in answer["reason"] and "14 bytes" in answer["reason"], f"the reason is {answer}")
    expect(bench.peer.writes == [first], f"written was {bench.peer.writes}")

    await asked(bench, first)
    good = checked(0xA5, 0x81, 0x3C)
    bench.peer.burst([good[:-1] + bytes([good[-1] ^ 1]), ean13(2)])
    answer = await refused(bench, daemon)
    expect("unexpected reply" in answer["reason"], f"the reason is {answer}")

    await asked(bench, first)
    bench.peer.burst([good[:2], good[2:]])  # reply split over two notifications
    await asked(bench, checked(0xA5, 0x02, 0x3C ^ 0x5A, 0x3B))
    expect(reader.text == b"", f"before the handshake was over {reader.text!r} was typed")
    expect(daemon.states[-1] == "connecting", f"the state amid the handshake is {daemon.states[-1]}")
    # The bytes after the last reply are the first to be typed.
    bench.peer.burst([ean13(3), checked(0xA5, 0x82, 0x00) + b"7"])
    await daemon.state("connected", 20)
    sent = 1 + bench.peer.burst([ean13(4)])
    await reader.until(sent, 20)
    compare(b"7" + ean13(4), reader.text)
    expect((await status(bench))["profile"] == "scale", "status has another profile")
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = f"{bench.peer.connections} attempts, {len(bench.peer.writes)} commands"


async def asked(bench: Bench, command: bytes) -> None:
    """Waits until the device receives this command, and checks that it receives no other."""
    count = len(bench.peer.writes)
    await bench.peer.until(lambda: len(bench.peer.writes) > count, f"the command {command.hex()}", 40)
    expect(bench.peer.writes[count:] == [command], f"the device got {bench.peer.writes[count:]}, not {command.hex()}")


async def refused(bench: Bench, daemon: Product) -> dict[str, Any]:
    """Checks that the attempt fails and that nothing is typed, and returns the status."""
    await daemon.state("failed", 20)
    answer = await status(bench)
    expect(answer["state"] == "failed", f"the state is {answer['state']}")
    expect(answer["counts"]["typed"] == 0, f"typed was {answer['counts']}")
    return answer


ASK = ("ask", "A5 01 {crc8-maxim}", "--reply", "A5 81 ?? {crc8-maxim}", "--within", "20s")


async def waits(bench: Bench, request: str) -> Program:
    """Starts a client and waits until the daemon has received its request, which it shows by answering a later one."""
    program = await client(bench, CONTROL, request)
    await status(bench)
    return program


async def in_order(bench: Bench, reader: EventReader) -> bytes:
    """Runs commands of two clients: the second is written after the reply to the first, and bytes outside a reply are typed.
    Returns the typed text."""
    first = await bench.start(BINARY, *ASK)
    await asked(bench, checked(0xA5, 0x01))
    second = await waits(bench, 'ask "A5 02" reply "A5 82"')
    bench.peer.burst([ean13(1)])
    await reader.until(14, 20)
    expect(len(bench.peer.writes) == 1, f"the second command did not wait: {bench.peer.writes}")
    reply = checked(0xA5, 0x81, 0x3C)
    # Send the first byte of a reply without the rest, then a reply in two parts with text before and after it.
    bench.peer.burst([b"1" + reply[:1], b"2" + reply[:2], reply[2:] + b"3\r"])
    await asked(bench, bytes([0xA5, 0x02]))
    expect(await first.wait(20) == 0, f"the first command ends with {first.status}{first.evidence()}")
    expect(first.out == reply.hex().upper() + "\n", f"its reply is {first.out!r}")
    bench.peer.burst([bytes([0xA5, 0x82])])
    await second.wait(20)
    expect('"reply":"A582"' in second.out, f"the second's answer is {second.out!r}")
    # A5 is not in the table, so it is discarded, as it would be without a command.
    typed = ean13(1) + b"123\r"
    await reader.until(len(typed), 20)
    compare(typed, reader.text)
    return typed


@scenario("daemon-commands", deadline=180, once=True)
async def daemon_commands(bench: Bench) -> None:
    """BT-6, BT-9: commands on a link run in sequence, each until its reply, its time-out or the loss of the link; replies are not typed."""
    daemon, reader = await chosen(bench)
    typed = await in_order(bench, reader)
    count = len(bench.peer.writes)

    # Without a reply, the command is written twice and fails with status 75, and the text received meanwhile is typed.
    late = await bench.start(BINARY, "ask", "05", "--reply", "FF 01", "--within", "500ms", "--times", "2")
    await bench.peer.until(lambda: len(bench.peer.writes) == count + 1, "the command", 20)
    bench.peer.burst([b"4\xff"])
    expect(await late.wait(20) == 75 and late.out == "", f"without a reply: {late.status}, {late.out!r}")
    expect("within 500ms" in late.err, f"without a reply: {late.err!r}")
    expect(bench.peer.writes[count:] == [b"\x05", b"\x05"], f"written was {bench.peer.writes[count:]}")
    bench.peer.burst([b"5\r"])
    typed += b"45\r"
    await reader.until(len(typed), 20)
    compare(typed, reader.text)

    # Without an expected reply, a command is done when it is written. Commands pending at the end of a link are not written
    # later.
    await tell(bench, "ask", "06")
    await bench.peer.until(lambda: bench.peer.writes[-1] == b"\x06", "the command without a reply", 20)
    cut = await bench.start(BINARY, *ASK)
    await bench.peer.until(lambda: bench.peer.writes[-1] == checked(0xA5, 0x01), "the command that is cut", 20)
    unsent = await waits(bench, 'ask "A5 07" reply "A5 87"')
    count = len(bench.peer.writes)
    await tell(bench, "disconnect")
    expect(await cut.wait(20) == 69 and "before the reply" in cut.err, f"cut: {cut.status}, {cut.err!r}")
    await unsent.wait(20)
    expect("before the command was written" in unsent.out, f"not sent: {unsent.out!r}")
    await bench.peer.until_alone()
    said = await tell(bench, *ASK, code=69)
    expect("not connected" in said, f"without a link: {said!r}")
    await tell(bench, "connect")
    await until_connected(bench, daemon)
    sent = bench.peer.burst([ean13(6)])
    await reader.until(len(typed) + sent, 20)
    expect(len(bench.peer.writes) == count, f"written on the next link: {bench.peer.writes[count:]}")
    await daemon.end(signal.SIGTERM, 143)
    daemon.counts()
    bench.note = f"{count} commands written, 1 without its reply, 2 lost with the link"
