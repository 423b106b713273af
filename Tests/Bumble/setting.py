# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a test works with: a radio of its own, Bumble in either role, and the product on a port.

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bumble import gatt_client, hci
from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData
from bumble.device import Advertisement, Connection, Device, DeviceConfiguration
from bumble.link import LocalLink

from local import LocalProgram
from product import Product
from radio import Ends, Port, SoftPeer, generation
from waiting import Changing, expect

CENTRAL = "C0:C1:C2:C3:C4:C5"


def numbered(number: int) -> bytes:
    """20 bytes that bear their number; GATTPeer's Sender makes the same."""
    return number.to_bytes(4, "little") + bytes((number * 31 + index) & 0xFF for index in range(4, 20))


class Found(Changing):
    """What a scan has heard."""

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
            self.name = str(advertisement.data.get(AdvertisingData.Type.COMPLETE_LOCAL_NAME) or "")
            self.changed()


class Counter(Changing):
    """The values that arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[bytes] = []

    def take(self, value: bytes) -> None:
        self.values.append(bytes(value))
        self.changed()


class Setting:
    """The surroundings of one test."""

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

    async def port(self, extended: bool = False, tcp: bool = False) -> Port:
        """A controller for the product."""
        port = Port(self.link, extended)
        await port.listen(None if tcp else self.folder / f"port{len(self.ports)}")
        self.ports.append(port)
        return port

    async def serve(self, extended: bool = False) -> SoftPeer:
        """Bumble as a LINBLE."""
        self.peer = SoftPeer(self.link, extended)
        await self.peer.connect()
        await self.peer.start()
        self._devices.append(self.peer.device)
        return self.peer

    async def central(self, extended: bool = False) -> Device:
        """Bumble as a central."""
        ends = Ends(generation(Controller("central", link=self.link), extended))
        config = DeviceConfiguration(name="central", address=hci.Address(CENTRAL))
        device = Device.from_config_with_hci(config, ends.source, ends.sink)
        await device.power_on()
        self._devices.append(device)
        return device

    async def find(self, device: Device, service: str) -> Found:
        """Scans for who advertises a service."""
        found = Found(UUID(service))
        device.on("advertisement", found.heard)
        await device.start_scanning(active=True)
        await found.until(lambda: found.address, f"an advertisement of {service}", 20)
        await device.stop_scanning()
        device.remove_listener("advertisement", found.heard)
        return found

    async def meet(self, device: Device, service: str, mtu: int = 0) -> tuple[Connection, gatt_client.Client]:
        """Finds and connects; with an exchange of MTUs unless `mtu` is 0."""
        found = await self.find(device, service)
        assert found.address is not None
        connection = await device.connect(found.address)
        client = connection.gatt_client
        if mtu:
            expect(await client.request_mtu(mtu) == mtu, f"the MTU is {client.mtu} instead of {mtu}")
        return connection, client

    async def product(self, port: Port | None, *arguments: str) -> Product:
        """The product, on a port."""
        adapter = ("--adapter", port.adapter) if port else ()
        program = await LocalProgram.launch(str(self._options.binary), *arguments, *adapter)
        self._programs.append(program)
        return Product(program)

    async def server(self, port: Port) -> tuple[LocalProgram, list[dict[str, Any]]]:
        """The product's library as a server with a rich database, and what that was built from."""
        program = await LocalProgram.launch(str(self._options.server), port.adapter, "GATTPEER")
        self._programs.append(program)
        await event(program, "advertising")
        return program, [line for line in program.objects if "type" in line]

    async def gatt(self, port: Port, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        """`gatt` on the peer; what it printed."""
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


async def event(program: LocalProgram, name: str, seconds: float = 20) -> dict[str, Any]:
    """Waits for the first of these events."""
    await program.until(lambda: any(o.get("event") == name for o in program.objects), f"the event {name}", seconds)
    return next(o for o in program.objects if o.get("event") == name)


Body = Callable[[Setting], Awaitable[None]]
TESTS: dict[str, Body] = {}


def test(name: str) -> Callable[[Body], Body]:
    def register(body: Body) -> Body:
        TESTS[name] = body
        return body

    return register
