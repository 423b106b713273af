# SPDX-License-Identifier: GPL-2.0-or-later
#
# A radio of Bumble's software controllers. Some of them belong to Bumble's own host stack; the others are offered to the product
# as H4 streams.
#
# Faults of these controllers (bumble 0.0.236, controller.py and link.py), and how the tests avoid them:
#
#  1. A scan response contains the data of the advertisement; the scan response data is never sent. Therefore all data is
#     in the advertisement, and names are short where it also contains a 128-bit UUID.
#  2. Data is always attributed to the sender's random address, even if its connection uses the public address, and is then
#     dropped because no connection matches. Therefore the controllers have no public address.
#  3. The feature bit for extended advertising is set although the supported commands lack the extended ones. With the bit set,
#     all reports are extended, whichever commands the host uses. A port therefore announces one or the other, see `generation`.
#  4. Extended reports mark every advertisement as connectable, but never as scannable or legacy.
#  5. Canceling a connection attempt is answered, but the attempt stays pending, no LE Connection Complete follows, and later
#     attempts are refused. Therefore no test cancels an attempt.
#  6. Reset does not clear any state, not even connections and advertising. Therefore each stream gets a separate controller,
#     which is unplugged with the stream.
#  7. Legacy advertising intervals are interpreted as milliseconds instead of units of 0.625 ms.
#  8. Data packets are reported as completed as soon as they arrive, so no controller is ever slow. A test that needs a slow
#     controller stops reading the stream.
#  9. Fragments are joined: a frame reaches the other host in one packet, however long it is.
# 10. The parameters of a connection differ between its two ends (always 10 and 10 for the peripheral).
#
# Fault of its GATT client: an included service with a 128-bit UUID, whose declaration does not contain the UUID, ends the
# discovery with an exception. The included service of the tests has a 16-bit UUID.

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bumble import hci, ll
from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport.common import StreamPacketSink, StreamPacketSource

from air import generation
from waiting import Changing


class Wire(StreamPacketSource):
    """A stream to the product, and the controller behind it."""

    def __init__(self, port: Port) -> None:
        super().__init__()
        self._port = port
        self._stream: Any = None
        self.controller: Controller | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._stream = transport
        sink = StreamPacketSink(self._stream)
        controller = Controller("port", self, sink, self._port.link, public_address=self._port.address)
        self.controller = generation(controller, self._port.extended)
        self._port.wires.append(self)
        self._port.changed()

    def connection_lost(self, _error: Exception | None) -> None:
        """Stops advertising and disconnects all peers with a time-out (fault 6)."""
        controller, self.controller = self.controller, None
        assert controller is not None
        controller.le_legacy_advertiser.stop()
        for advertising in controller.advertising_sets.values():
            advertising.stop()
        for connection in list(controller.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_CONNECTION_TIMEOUT_ERROR))
        # Frames in flight are still delivered through the controller's connections, so remove it afterwards.
        asyncio.get_running_loop().call_soon(self._port.link.remove_controller, controller)
        self._port.wires.remove(self)
        self._port.changed()

    def unplug(self) -> None:
        """Closes the stream."""
        self._stream.close()

    def hold(self) -> None:
        """Stops reading from the product (fault 8)."""
        self._stream.pause_reading()

    def go_on(self) -> None:
        self._stream.resume_reading()


class Port(Changing):
    """A place where the product connects to a controller."""

    def __init__(self, link: LocalLink, extended: bool, address: str = "") -> None:
        super().__init__()
        self.link = link
        self.address = address or None  # public address
        self.extended = extended
        self.wires: list[Wire] = []
        self.adapter = ""  # value for --adapter
        self._server: asyncio.Server | None = None

    async def listen(self, path: Path | None) -> None:
        """Listens on a unix socket, or on a TCP port of this machine."""
        loop = asyncio.get_running_loop()
        if path is not None:
            self._server = await loop.create_unix_server(lambda: Wire(self), str(path))
            self.adapter = f"h4:unix:{path}"
        else:
            self._server = await loop.create_server(lambda: Wire(self), "127.0.0.1", 0)
            self.adapter = f"h4:tcp:127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def until_free(self) -> None:
        await self.until(lambda: not self.wires, "the product lets go of the controller", 10)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
