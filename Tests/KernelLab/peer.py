# SPDX-License-Identifier: GPL-2.0-or-later
#
# An independent implementation of the peer: a LINBLE simulated with Bumble's host stack on the build machine. It uses the guest's
# second controller through the relay. The scenarios control it with method calls.

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
# UUIDs of the service and both characteristics for each kind of peer. "other" has an unknown service without characteristics.
KINDS = {
    "linble": (SERVICE, NOTIFY, WRITE),
    "nordic": tuple(f"6E40000{n}-B5A3-F393-E0A9-E50E24DCCA9E" for n in (1, 3, 2)),
    "other": ("0000FFF0-0000-1000-8000-00805F9B34FB", NOTIFY, WRITE),
}
RESTARTS = 20  # attempts to stop advertising while Bumble restarts it

logging.getLogger("bumble").setLevel(logging.CRITICAL)


def ean13(number: int) -> bytes:
    """Returns a valid EAN-13 barcode that contains the number, followed by Enter as from a scanner: 14 bytes."""
    digits = f"49{number:010d}"
    total = sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(digits))
    return f"{digits}{-total % 10}\r".encode()


class Peer(Changing):
    """A LINBLE that advertises, accepts a connection, and sends data as if it came from its UART."""

    name = NAME
    address = ADDRESS

    def __init__(self, socket: Path, kind: str = "linble") -> None:
        super().__init__()
        self.connections = 0
        self.reasons: list[int] = []  # reason for the end of each link
        self.subscribed = False
        self.connection: Connection | None = None
        self.confirmations = 0
        self.writes: list[bytes] = []  # values written to the UART
        self.mute = False  # ignore all requests
        self.sent = self.received = 0  # bytes on the port
        self._socket = socket
        self._kind = kind
        self._transport: Transport | None = None
        self._device: Device | None = None
        self._characteristic: gatt.Characteristic[bytes] | None = None
        self._answers: list[bytes] = []
        self._asking = False

    async def connect(self) -> None:
        """Connects to the host end of the port. The relay must not start before this."""
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
        """Takes control of the controller through the relay, and advertises."""
        assert self._transport is not None
        config = DeviceConfiguration(name=self.name, address=hci.Address(self.address))
        device = self._device = Device.from_config_with_hci(config, self._transport.source, self._transport.sink)
        device.gatt_server.max_mtu = 247
        self._add_services(device)
        device.on("connection", self._on_connection)
        device.l2cap_channel_manager.register_fixed_channel(att.ATT_CID, self._on_att)
        await device.power_on()
        await self.advertise()

    def _add_services(self, device: Device) -> None:
        service, notify, writes = KINDS[self._kind]
        self._characteristic = gatt.Characteristic(notify, gatt.Characteristic.Properties.NOTIFY, 0, b"")
        self._characteristic.on(gatt.Characteristic.EVENT_SUBSCRIPTION, self._on_subscription)
        write = gatt.Characteristic(
            writes, gatt.Characteristic.Properties.WRITE_WITHOUT_RESPONSE, gatt.Characteristic.WRITEABLE, b""
        )
        write.on(gatt.Characteristic.EVENT_WRITE, self._on_write)
        device.add_service(gatt.Service(service, [] if self._kind == "other" else [self._characteristic, write]))

    async def advertise(
        self, connectable: bool = True, manufacturer: bytes = b"", again: bool = True, own: int = hci.OwnAddressType.RANDOM
    ) -> None:
        """Advertises with the name in the advertisement and the 128-bit UUID in the scan response, because the two do not fit
        into one packet.

        Manufacturer data is added to the advertisement after the name. With `again`, advertising restarts after each link.
        """
        assert self._device is not None
        service = KINDS[self._kind][0]
        flags = bytes([AdvertisingData.LE_GENERAL_DISCOVERABLE_MODE_FLAG | AdvertisingData.BR_EDR_NOT_SUPPORTED_FLAG])
        advertisement = AdvertisingData(
            [(AdvertisingData.FLAGS, flags), (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())]
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
        """Stops advertising."""
        assert self._device is not None
        await self._once_allowed(self._device.stop_advertising)

    async def _once_allowed(self, command: Callable[[], Awaitable[None]]) -> None:
        """Retries a command that the controller refuses because Bumble is restarting its advertising after a disconnection."""
        for attempt in range(RESTARTS):
            try:
                return await command()
            except hci.HCI_Error as error:
                if error.error_code != hci.HCI_COMMAND_DISALLOWED_ERROR or attempt == RESTARTS - 1:
                    raise
                await asyncio.sleep(0.1)

    async def vanish(self) -> None:
        """Simulates a device that goes out of range: it becomes silent, and the link ends as by the central's supervision
        time-out.

        The emulated radio has no supervision time-out, but it forwards the reason of a disconnection, so the kernel under test
        receives the same event.
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
            return  # the peer is the central in this scenario
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
            # Pass only the confirmations of Bumble's own indications to Bumble.
            connection = self._device.lookup_connection(handle)
            if connection is not None and self._device.gatt_server.pending_confirmations.get(connection):
                self._device.on_gatt_pdu(handle, pdu)
        elif self._asking and pdu[0] & 1:  # a response to our request; Bumble has sent none
            self._answers.append(pdu)
            self.changed()
        else:
            self._device.on_gatt_pdu(handle, pdu)

    @property
    def device(self) -> Device:
        """Bumble's device, for scenarios that need more than a LINBLE."""
        assert self._device is not None
        return self._device

    def attribute(self, uuid: str) -> gatt.Characteristic[bytes]:
        """Returns the peer's characteristic with this UUID."""
        found = self.device.gatt_server.get_characteristic_attributes(UUID(SERVICE), UUID(uuid))
        if found is None:
            raise LabError(f"the peer has no characteristic {uuid}")
        return found[1]

    @property
    def configuration(self) -> int:
        """Handle of the Client Characteristic Configuration descriptor, which Bumble places right after the value."""
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
        """Passes a notification to the stack without waiting. `offset` is added to the handle, to notify another attribute."""
        self._value(att.Opcode.ATT_HANDLE_VALUE_NOTIFICATION, value, offset)

    def indicate(self, value: bytes, offset: int = 0) -> None:
        self._value(att.Opcode.ATT_HANDLE_VALUE_INDICATION, value, offset)

    def burst(self, values: Iterable[bytes], in_flight: int = 0) -> int:
        """Sends notifications without a pause and returns the number of bytes.

        The emulated controller reports a buffer for one packet but accepts more; up to `in_flight` packets are sent at once.
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
        """Waits until the controller has accepted all packets."""
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
        """Sends a request from the peer to the central and returns the response."""
        self._answers.clear()
        self._asking = True
        try:
            self.send_pdu(pdu)
            await self.until(lambda: self._answers, f"an answer to the request {pdu.hex()}", seconds)
            return self._answers[0]
        finally:
            self._asking = False
