# SPDX-License-Identifier: GPL-2.0-or-later
#
# The independent peer: a LINBLE played by Bumble's host stack, here on the build machine, which owns the
# guest's second controller through the relay. The scenarios drive it by calls.

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import cast

from bumble import att, gatt, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import AdvertisingType, Connection, Device, DeviceConfiguration
from bumble.transport import open_transport
from bumble.transport.common import StreamPacketSink, StreamPacketSource, Transport

from waiting import Changing, LabError

NAME = "LINBLE-TEST"
ADDRESS = "F0:F1:F2:F3:F4:F5"
SERVICE = "27ADC9CA-35EB-465A-9154-B8FF9076F3E8"
NOTIFY = "27ADC9CB-35EB-465A-9154-B8FF9076F3E8"
WRITE = "27ADC9CC-35EB-465A-9154-B8FF9076F3E8"
# The service and both characteristics of each kind of peer; "other" has a service that nobody knows, and nothing in it.
KINDS = {
    "linble": (SERVICE, NOTIFY, WRITE),
    "nordic": tuple(f"6E40000{n}-B5A3-F393-E0A9-E50E24DCCA9E" for n in (1, 3, 2)),
    "other": ("0000FFF0-0000-1000-8000-00805F9B34FB", NOTIFY, WRITE),
}
RESTARTS = 20  # looks for the end of an advertisement that begins again by itself

logging.getLogger("bumble").setLevel(logging.CRITICAL)


def ean13(number: int) -> bytes:
    """A valid EAN-13 with the number in it, and the Enter a scanner sends: 14 bytes."""
    digits = f"49{number:010d}"
    total = sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(digits))
    return f"{digits}{-total % 10}\r".encode()


class Peer(Changing):
    """A LINBLE that advertises, is connected to, and sends what its UART would have got."""

    def __init__(self, socket: Path, kind: str = "linble") -> None:
        super().__init__()
        self.connections = 0
        self.reasons: list[int] = []  # why each link ended
        self.subscribed = False
        self.connection: Connection | None = None
        self.confirmations = 0
        self.writes: list[bytes] = []  # what was written for the UART
        self.mute = False  # answer no request
        self.sent = self.received = 0  # bytes on the port
        self._socket = socket
        self._kind = kind
        self._transport: Transport | None = None
        self._device: Device | None = None
        self._characteristic: gatt.Characteristic[bytes] | None = None
        self._answers: list[bytes] = []
        self._asking = False

    async def connect(self) -> None:
        """Takes the host's end of the port; only then the relay may start."""
        transport = self._transport = await open_transport(f"unix:{self._socket}")
        source, sink = cast(StreamPacketSource, transport.source), cast(StreamPacketSink, transport.sink)
        receive, send = source.data_received, sink.on_packet

        def received(data: bytes) -> None:
            self.received += len(data)
            receive(data)
            self.changed()

        def sent(packet: bytes) -> None:
            self.sent += len(packet)
            send(packet)

        source.data_received, sink.on_packet = received, sent  # type: ignore[method-assign]

    async def start(self) -> None:
        """Owns the controller through the relay, and advertises."""
        assert self._transport is not None
        config = DeviceConfiguration(name=NAME, address=hci.Address(ADDRESS))
        device = self._device = Device.from_config_with_hci(config, self._transport.source, self._transport.sink)
        device.gatt_server.max_mtu = 247
        service, notify, writes = KINDS[self._kind]
        self._characteristic = gatt.Characteristic(notify, gatt.Characteristic.Properties.NOTIFY, 0, b"")
        self._characteristic.on(gatt.Characteristic.EVENT_SUBSCRIPTION, self._on_subscription)
        write = gatt.Characteristic(
            writes, gatt.Characteristic.Properties.WRITE_WITHOUT_RESPONSE, gatt.Characteristic.WRITEABLE, b""
        )
        write.on(gatt.Characteristic.EVENT_WRITE, self._on_write)
        device.add_service(gatt.Service(service, [] if self._kind == "other" else [self._characteristic, write]))
        device.on("connection", self._on_connection)
        device.l2cap_channel_manager.register_fixed_channel(att.ATT_CID, self._on_att)
        await device.power_on()
        await self.advertise()

    async def advertise(
        self, connectable: bool = True, manufacturer: bytes = b"", again: bool = True, own: int = hci.OwnAddressType.RANDOM
    ) -> None:
        """The name in the advertisement, the 128-bit UUID in the scan response: together they do not fit.

        With manufacturer data the advertisement has that too, behind the name. It comes `again` after a link.
        """
        assert self._device is not None
        service = KINDS[self._kind][0]
        flags = bytes([AdvertisingData.LE_GENERAL_DISCOVERABLE_MODE_FLAG | AdvertisingData.BR_EDR_NOT_SUPPORTED_FLAG])
        advertisement = AdvertisingData(
            [(AdvertisingData.FLAGS, flags), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())]
            + [(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, manufacturer)] * bool(manufacturer)
        )
        response = AdvertisingData(
            [(AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, UUID(service).to_bytes())]
        )
        kinds = AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE, AdvertisingType.UNDIRECTED_SCANNABLE
        device = self._device
        await self._once_allowed(
            lambda: device.start_advertising(
                advertising_type=kinds[0] if connectable else kinds[1], own_address_type=own,
                advertising_data=bytes(advertisement), scan_response_data=bytes(response), auto_restart=again
            )
        )  # fmt: skip

    async def fall_silent(self) -> None:
        """No advertisement any more."""
        assert self._device is not None
        await self._once_allowed(self._device.stop_advertising)

    async def _once_allowed(self, command: Callable[[], Awaitable[None]]) -> None:
        """After a disconnection Bumble begins to advertise again by itself; what comes in between is disallowed."""
        for attempt in range(RESTARTS):
            try:
                return await command()
            except hci.HCI_Error as error:
                if error.error_code != hci.HCI_COMMAND_DISALLOWED_ERROR or attempt == RESTARTS - 1:
                    raise
                await asyncio.sleep(0.1)

    async def vanish(self) -> None:
        """Out of range: silent from now on, and the other side's supervision timeout ends the link.

        The emulated radio has no such timeout, but it hands a reason through: the kernel under test gets
        the very event that it would get.
        """
        assert self._device is not None and self.connection is not None
        await self._device.stop_advertising()
        await self.connection.disconnect(hci.HCI_CONNECTION_TIMEOUT_ERROR)

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.close()

    def evidence(self) -> str:
        state = "subscribed" if self.subscribed else "connected" if self.connection else "not connected"
        return f" (the peer: {self.connections} connections, now {state})"

    def _on_connection(self, connection: Connection) -> None:
        if connection.role != hci.Role.PERIPHERAL:
            return  # a scenario plays a central
        self.connection = connection
        self.connections += 1
        connection.on("disconnection", self._on_disconnection)
        self.changed()

    def _on_disconnection(self, reason: int) -> None:
        self.reasons.append(reason)
        self.connection = None
        self.subscribed = False
        self.changed()

    def _on_subscription(self, _connection: Connection, notify: bool, _indicate: bool) -> None:
        self.subscribed = notify
        self.changed()

    def _on_write(self, _connection: Connection, value: bytes) -> None:
        self.writes.append(value)
        self.changed()

    def _on_att(self, handle: int, pdu: bytes) -> None:
        assert self._device is not None
        if self.mute:
            return
        if pdu[0] == att.Opcode.ATT_HANDLE_VALUE_CONFIRMATION:
            self.confirmations += 1
            self.changed()
            # Bumble hears of the answers to the indications that it has sent itself.
            connection = self._device.lookup_connection(handle)
            if connection is not None and self._device.gatt_server.pending_confirmations.get(connection):
                self._device.on_gatt_pdu(handle, pdu)
        elif self._asking and pdu[0] & 1:  # a response: ours to look at, Bumble has asked nothing
            self._answers.append(pdu)
            self.changed()
        else:
            self._device.on_gatt_pdu(handle, pdu)

    @property
    def device(self) -> Device:
        """Bumble's device, for scenarios that build more than a LINBLE."""
        assert self._device is not None
        return self._device

    def attribute(self, uuid: str) -> gatt.Characteristic[bytes]:
        """The peer's characteristic of this UUID."""
        found = self.device.gatt_server.get_characteristic_attributes(UUID(SERVICE), UUID(uuid))
        if found is None:
            raise LabError(f"the peer has no characteristic {uuid}")
        return found[1]

    @property
    def configuration(self) -> int:
        """The handle of the client characteristic configuration: Bumble puts it right behind the value."""
        assert self._characteristic is not None
        return self._characteristic.handle + 1

    async def until_subscribed(self, seconds: float = 30) -> None:
        await self.until(lambda: self.subscribed, "the product subscribes", seconds)

    async def until_alone(self, seconds: float = 10) -> None:
        await self.until(lambda: self.connection is None, "the product closes the link", seconds)

    def send_pdu(self, pdu: bytes) -> None:
        if self.connection is None or self._device is None:
            raise LabError("the peer has no link to send on")
        self._device.send_l2cap_pdu(self.connection.handle, att.ATT_CID, pdu)

    def _value(self, opcode: int, value: bytes, offset: int) -> None:
        assert self._characteristic is not None
        self.send_pdu(bytes([opcode]) + (self._characteristic.handle + offset).to_bytes(2, "little") + value)

    def notify(self, value: bytes, offset: int = 0) -> None:
        """Hands a notification to the stack; never waits. `offset` makes it another attribute's."""
        self._value(att.Opcode.ATT_HANDLE_VALUE_NOTIFICATION, value, offset)

    def indicate(self, value: bytes, offset: int = 0) -> None:
        self._value(att.Opcode.ATT_HANDLE_VALUE_INDICATION, value, offset)

    def burst(self, values: Iterable[bytes], in_flight: int = 0) -> int:
        """Notifications one upon the other, without a pause; the bytes handed over.

        The emulated controller says it takes one packet at a time, but takes more: `in_flight` of them.
        """
        if in_flight and self.connection is not None and self._device is not None:
            queue = self._device.host.get_data_packet_queue(self.connection.handle)
            assert queue is not None
            queue.max_in_flight = in_flight
        sent = 0
        for value in values:
            self.notify(value)
            sent += len(value)
        return sent

    async def drained(self, seconds: float) -> None:
        """Waits until the controller has taken all."""
        if self.connection is None or self._device is None:
            raise LabError("the link is gone before all was sent")
        queue = self._device.host.get_data_packet_queue(self.connection.handle)
        assert queue is not None
        try:
            async with asyncio.timeout(seconds):
                await queue.drain(self.connection.handle)
        except TimeoutError:
            raise LabError(f"the controller took {queue.completed} packets of {queue.queued} in {seconds:g} s") from None

    async def ask(self, pdu: bytes, seconds: float = 10) -> bytes:
        """Sends a request of the peer's own to the central; its answer."""
        self._answers.clear()
        self._asking = True
        try:
            self.send_pdu(pdu)
            await self.until(lambda: self._answers, f"an answer to the request {pdu.hex()}", seconds)
            return self._answers[0]
        finally:
            self._asking = False
