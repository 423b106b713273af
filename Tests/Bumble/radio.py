# SPDX-License-Identifier: GPL-2.0-or-later
#
# A radio of Bumble's software controllers: some of them belong to Bumble's own host stack, others are offered to the
# product as H4 streams.
#
# What is wrong with these controllers (bumble 0.0.236, controller.py and link.py), and how the tests live with it:
#
#  1. A scan response carries the advertisement's data; what was set as scan response data is never sent. What is to be
#     heard is therefore put into the advertisement: names are short where a 128-bit UUID is said too.
#  2. Data is said to come from the sender's random address, whatever address its connection was made with: with a public
#     address it finds no connection and is dropped. The controllers get no public address.
#  3. The feature bit for extended advertising is set, the supported commands lack the extended ones, and with the bit all
#     reports are extended ones, whichever commands the host uses. A port says one or the other, see `generation`.
#  4. Extended reports call every advertisement connectable and no more: neither scannable nor legacy.
#  5. Cancelling a connection attempt is answered, but the attempt stays and no LE Connection Complete follows; a later
#     attempt is refused. No test cancels one.
#  6. Reset forgets nothing, connections and advertising included. Each stream gets a controller of its own, which is
#     unplugged with the stream.
#  7. Legacy advertising intervals are counted in milliseconds instead of 0.625 ms.
#  8. Data is called completed as soon as it has come in, and nothing is ever slow: a test that wants a slow controller
#     stops reading the stream.
#  9. Fragments are joined: a frame reaches the other host in one packet, however long.
# 10. A connection has other parameters on either side (10 and 10 for the peripheral).
#
# And of its GATT client: an included service of a 128-bit UUID, whose declaration does not carry the UUID, ends discovery
# with an exception. The included service of the tests has a 16-bit one.

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
    """One stream to the product, and the controller behind it."""

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
        """Whoever is connected finds the other side silent (fault 6)."""
        controller, self.controller = self.controller, None
        assert controller is not None
        controller.le_legacy_advertiser.stop()
        for advertising in controller.advertising_sets.values():
            advertising.stop()
        for connection in list(controller.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_CONNECTION_TIMEOUT_ERROR))
        # What is under way still finds its way by the controller's connections.
        asyncio.get_running_loop().call_soon(self._port.link.remove_controller, controller)
        self._port.wires.remove(self)
        self._port.changed()

    def unplug(self) -> None:
        """Ends the stream from this side."""
        self._stream.close()

    def hold(self) -> None:
        """Takes nothing more from the product (fault 8)."""
        self._stream.pause_reading()

    def go_on(self) -> None:
        self._stream.resume_reading()


class Port(Changing):
    """Where the product finds a controller."""

    def __init__(self, link: LocalLink, extended: bool, address: str = "") -> None:
        super().__init__()
        self.link = link
        self.address = address or None  # public
        self.extended = extended
        self.wires: list[Wire] = []
        self.adapter = ""  # for --adapter
        self._server: asyncio.Server | None = None

    async def listen(self, path: Path | None) -> None:
        """On a unix socket, or on a TCP port of this machine."""
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
