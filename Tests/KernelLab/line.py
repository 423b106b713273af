# SPDX-License-Identifier: GPL-2.0-or-later
#
# Connection between a host (a kernel behind relay.c, or the product itself) and a controller of the lab, and the controller's
# behavior on it.

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import Any, Protocol

from bumble import hci
from bumble.transport.common import PacketParser

from waiting import Changing


class Sink(Protocol):
    """A controller."""

    def on_packet(self, packet: bytes) -> None: ...

    def unplug(self) -> None:
        """Handles the disconnection of the host."""


class Manners:
    """Behavior of a controller. This default is correct in every respect."""

    def refusal(self, _opcode: int) -> int:
        """Returns the error code with which to refuse a command that the controller supports; 0 to execute it."""
        return 0

    def delay(self, _opcode: int) -> float:
        """Returns the delay in seconds before the answer to a command. All later packets are delayed too."""
        return 0

    def holds(self, _packet: bytes) -> bool:
        """Returns true to hold back a packet until `late` returns it."""
        return False

    def late(self, _opcode: int) -> list[bytes]:
        """Returns packets held back earlier, to be sent before the answer to a command."""
        return []

    def noise(self, _packet: bytes) -> list[bytes]:
        """Returns unsolicited packets to send before a packet."""
        return []


def answered(packet: bytes) -> int | None:
    """Returns the opcode of the command that an event answers; None if it answers none."""
    if packet[:2] == bytes([hci.HCI_EVENT_PACKET, hci.HCI_COMMAND_COMPLETE_EVENT]) and len(packet) >= 6:
        return int.from_bytes(packet[4:6], "little")
    if packet[:2] == bytes([hci.HCI_EVENT_PACKET, hci.HCI_COMMAND_STATUS_EVENT]) and len(packet) >= 7:
        return int.from_bytes(packet[5:7], "little")
    return None


class Line(asyncio.Protocol, Changing):
    """The controller's end of the connection."""

    def __init__(self, manners: Manners) -> None:
        super().__init__()
        self.sent = self.received = 0  # number of bytes
        self.refused = 0  # number of commands
        self._controller: Sink | None = None
        self._manners = manners
        self._stream: Any = None
        self._early: list[bytes] = []
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._parser = PacketParser(_FromHost(self))

    async def open(self, path: Path) -> None:
        """Connects to relay.c."""
        await asyncio.get_running_loop().create_unix_connection(lambda: self, str(path))

    def join(self, controller: Sink) -> None:
        """Attaches the controller, and delivers the packets that the host has already sent."""
        self._controller = controller
        for packet in self._early:
            self.from_host(packet)
        self._early.clear()

    def end(self) -> None:
        """Disconnects after the controller was removed."""
        self._controller = None
        if self._task is not None:
            self._task.cancel()
        if self._stream is not None:
            self._stream.close()

    async def close(self) -> None:
        self.end()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._stream = transport

    def connection_lost(self, _error: Exception | None) -> None:
        self._stream = None
        controller, self._controller = self._controller, None
        if controller is not None:
            controller.unplug()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        self._parser.feed_data(data)
        self.changed()

    def from_host(self, packet: bytes) -> None:
        if self._controller is None:
            return self._early.append(packet)
        if packet[0] == hci.HCI_COMMAND_PACKET:
            opcode = int.from_bytes(packet[1:3], "little")
            for late in self._manners.late(opcode):
                self._queue(late)
            if code := self._manners.refusal(opcode):
                self.refused += 1
                answer = hci.HCI_Command_Status_Event(status=code, num_hci_command_packets=1, command_opcode=opcode)
                return self.on_packet(bytes(answer))
        self._controller.on_packet(packet)

    def on_packet(self, packet: bytes) -> None:
        """Sends a packet from the controller to the host."""
        if not self._manners.holds(packet):
            self._queue(packet)

    def _queue(self, packet: bytes) -> None:
        opcode = answered(packet)
        delay = 0 if opcode is None else self._manners.delay(opcode)
        for noise in self._manners.noise(packet):
            self._waiting.append((0, noise))
        self._waiting.append((delay, packet))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            delay, packet = self._waiting.popleft()
            if delay:
                await asyncio.sleep(delay)
            if self._stream is None:
                return
            self._stream.write(packet)
            self.sent += len(packet)


class _FromHost:
    def __init__(self, line: Line) -> None:
        self._line = line

    def on_packet(self, packet: bytes) -> None:
        self._line.from_host(packet)
