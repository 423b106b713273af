# SPDX-License-Identifier: GPL-2.0-or-later
#
# Environment of a test: a separate radio, Bumble in either role, and the product on a port.

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bumble import hci
from bumble.controller import Controller
from bumble.device import Device, DeviceConfiguration
from bumble.link import LocalLink

from air import Ends, SoftPeer, generation
from central import event
from local import LocalProgram
from product import Product
from radio import Port

CENTRAL = "C0:C1:C2:C3:C4:C5"


class Setting:
    """Environment of one test."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.count: int = options.count
        self.note = ""
        self._options = options
        self._folder = tempfile.TemporaryDirectory(prefix="blewedge-bumble.")
        self.folder = Path(self._folder.name)
        self.link = LocalLink()
        self.ports: list[Port] = []
        self.peer: SoftPeer
        self._programs: list[LocalProgram] = []
        self._devices: list[Device] = []

    async def port(self, extended: bool = False, tcp: bool = False, address: str = "") -> Port:
        """Adds a controller for the product, with a public address if one is given."""
        port = Port(self.link, extended, address)
        await port.listen(None if tcp else self.folder / f"port{len(self.ports)}")
        self.ports.append(port)
        return port

    async def serve(self, extended: bool = False) -> SoftPeer:
        """Starts Bumble as a LINBLE."""
        self.peer = SoftPeer(self.link, extended)
        await self.peer.connect()
        await self.peer.start()
        self._devices.append(self.peer.device)
        return self.peer

    async def central(self, extended: bool = False) -> Device:
        """Starts Bumble as a central."""
        ends = Ends(generation(Controller("central", link=self.link), extended))
        config = DeviceConfiguration(name="central", address=hci.Address(CENTRAL))
        device = Device.from_config_with_hci(config, ends.source, ends.sink)
        await device.power_on()
        self._devices.append(device)
        return device

    async def product(self, port: Port | None, *arguments: str) -> Product:
        """Starts the product on a port."""
        adapter = ("--adapter", port.adapter) if port else ()
        program = await LocalProgram.launch(str(self._options.binary), *arguments, *adapter)
        self._programs.append(program)
        return Product(program)

    async def server(self, port: Port) -> tuple[LocalProgram, list[dict[str, Any]]]:
        """Starts the product's library as a server with many attributes. Returns it with a list of the attributes."""
        program = await LocalProgram.launch(str(self._options.server), port.adapter, "GATTPEER")
        self._programs.append(program)
        await event(program, "advertising")
        return program, [line for line in program.objects if "type" in line]

    async def gatt(self, port: Port, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        """Runs `gatt` on the peer and returns its output."""
        product = await self.product(port, "gatt", "LINBLE-TEST", "--json", *arguments)
        await product.exits(code, 60)
        await self.peer.until_alone()
        await port.until_free()
        return product.program.objects

    async def close(self) -> None:
        for program in self._programs:
            if program.status is None:
                await program.stop()
        for port in self.ports:
            port.close()
        for device in self._devices:
            await device.stop_advertising()
        self._folder.cleanup()


Body = Callable[[Setting], Awaitable[None]]
TESTS: dict[str, Body] = {}


def test(name: str) -> Callable[[Body], Body]:
    def register(body: Body) -> Body:
        TESTS[name] = body
        return body

    return register
