# SPDX-License-Identifier: GPL-2.0-or-later
#
# Connects the HCI ports of two machines, so that a controller of the first machine is the controller of the second machine's
# kernel. Both machines then share the radio of the first one.

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from waiting import Changing


class PortEnd(asyncio.Protocol, Changing):
    """Host end of a machine's HCI port (relay.c), which forwards all bytes to the other machine's port."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = self.received = 0  # number of bytes
        self._other: PortEnd | None = None
        self._stream: Any = None

    async def open(self, path: Path) -> None:
        await asyncio.get_running_loop().create_unix_connection(lambda: self, str(path))

    def forward_to(self, other: PortEnd) -> None:
        self._other = other

    async def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def write(self, data: bytes) -> None:
        """Sends bytes to the machine; discards them if its port is closed, as when one machine is stopped before the other."""
        if self._stream is not None:
            self._stream.write(data)
            self.sent += len(data)
            self.changed()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._stream = transport

    def connection_lost(self, _error: Exception | None) -> None:
        self._stream = None

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self._other is not None:
            self._other.write(data)
        self.changed()


def bridge() -> tuple[PortEnd, PortEnd]:
    """Returns two ends that forward to each other."""
    ends = PortEnd(), PortEnd()
    ends[0].forward_to(ends[1])
    ends[1].forward_to(ends[0])
    return ends
