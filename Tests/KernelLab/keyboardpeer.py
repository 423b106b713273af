# SPDX-License-Identifier: GPL-2.0-or-later
#
# A HID keyboard simulated with Bumble's host stack, which behaves like a barcode scanner: it requires encryption, keeps its bonds
# and the subscriptions of bonded centrals, sleeps, and returns with directed advertising.

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from bumble import att, gatt, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import AdvertisingType, Connection, Device
from bumble.keys import MemoryKeyStore

from hidshapes import PLAIN, HIDService, Shape, Target
from peer import Peer
from strokes import Stroke
from waiting import LabError

KEYBOARD = "SCANNER-TEST"
# Longest time of high duty cycle directed advertising (Core 6.0, Vol 6, Part B, 4.4.2.4.3). It belongs to the device, so the
# patience of the lab does not apply to it.
DIRECTED_SECONDS = 1.28
APPEARANCE = 0x03C1  # keyboard

HID, BATTERY, DEVICE_INFORMATION = (UUID.from_16_bits(number) for number in (0x1812, 0x180F, 0x180A))
INFORMATION, REPORT_MAP, CONTROL_POINT, REPORT, PROTOCOL_MODE = (UUID.from_16_bits(0x2A4A + number) for number in range(5))
BOOT_INPUT, BOOT_OUTPUT, LEVEL, PNP_ID = (UUID.from_16_bits(number) for number in (0x2A22, 0x2A32, 0x2A19, 0x2A50))
EXTERNAL_REFERENCE, REPORT_REFERENCE, CONFIGURATION = (UUID.from_16_bits(number) for number in (0x2907, 0x2908, 0x2902))
INPUT, OUTPUT = 1, 2  # report types in a report reference

HID_1_11 = bytes.fromhex("11010001")  # version, no country, the device can wake its host
PNP = bytes.fromhex("01ffff01000001")  # a company identifier for tests, product 1, version 1.0.0
PERCENT = bytes([87])

Properties = gatt.Characteristic.Properties
Permissions = gatt.Characteristic.Permissions
READ, WRITE = Permissions.READABLE, Permissions.WRITEABLE
LOCKED = Permissions.READ_REQUIRES_ENCRYPTION | Permissions.WRITE_REQUIRES_ENCRYPTION


class KeyboardPeer(Peer):
    """A HID keyboard that types text, as if barcodes were scanned."""

    name = KEYBOARD

    def __init__(self, socket: Path) -> None:
        super().__init__(socket)
        self.shape = PLAIN
        self.is_encrypted = False
        self.requests: list[bytes] = []  # ATT requests and commands on this link
        self.requests_before_encryption = 0  # number of them when this link was encrypted
        self.lights: list[bytes] = []  # values written to the output reports
        self.reports = 0  # number of reports sent
        self.unsent = 0  # reports to type in the callback of Encryption Change that were not sent, for lack of a subscription
        self.types_when_connected: bytes = b""  # text to type as soon as the next link is up, encrypted or not
        self.types_when_encrypted: bytes = b""  # text to type in the callback of the next Encryption Change
        self.asks_for_security = False  # sends a Security Request when a link is up
        self.central: hci.Address | None = None  # the last central of an encrypted link
        self._inputs: dict[Target, gatt.Characteristic[bytes]] = {}
        self._kept: defaultdict[str, dict[str, bytes]] = defaultdict(dict)  # configurations of each central, by characteristic
        self._held: list[tuple[int, bytes]] | None = None
        self._is_asleep = False
        self._advertising = asyncio.Lock()
        self._is_advertising_over = False  # a link has begun since the last advertising command
        self._returning: asyncio.Task[None] | None = None

    async def become(self, shape: Shape) -> None:
        """Becomes another device with the same identity address, without bonds, and advertises."""
        await self.sleep()
        server = self.device.gatt_server
        for collection in (server.attributes, server.services, server.attributes_by_handle, server.subscribers):
            collection.clear()  # type: ignore[attr-defined]
        self.shape = shape
        self.device.add_default_services()
        self._add_services(self.device)
        await self.lose_bonds()
        await self.advertise()

    async def lose_bonds(self) -> None:
        """Deletes all keys and kept subscriptions."""
        assert self.device.keystore is not None
        await self.device.keystore.delete_all()
        self._kept.clear()

    # Attributes.

    def _add_services(self, device: Device) -> None:
        device.gatt_server.max_mtu = self.shape.mtu
        self._inputs.clear()
        level = self._characteristic_of(LEVEL, Properties.READ | Properties.NOTIFY, PERCENT, name="battery")
        battery = gatt.Service(BATTERY, [level])
        pnp = self._characteristic_of(PNP_ID, Properties.READ, PNP)
        device.add_service(gatt.Service(DEVICE_INFORMATION, [pnp]))
        # Bumble would put an included service that it does not have yet between the attributes of the other one.
        device.add_service(battery)
        for number, service in enumerate(self.shape.services):
            device.add_service(gatt.Service(HID, self._hid(number, service), included_services=[battery]))

    def _characteristic_of(
        self, uuid: UUID, properties: Properties, value: bytes, descriptors: Iterable[gatt.Descriptor] = (), name: str = ""
    ) -> gatt.Characteristic[bytes]:
        """Returns a characteristic with the permissions that follow from its properties. One that notifies has a configuration,
        which is kept under this name."""
        writes = Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE
        permissions = self._lock | (READ if properties & Properties.READ else 0) | (WRITE if properties & writes else 0)
        found = gatt.Characteristic(uuid, properties, permissions, value, list(descriptors))
        if properties & Properties.NOTIFY:
            access = att.AttributeValueV2(
                read=lambda bearer: self._kept[str(bearer.peer_address)].get(name, bytes(2)),  # type: ignore[union-attr]
                write=lambda bearer, bits: self._configure(bearer, name, bits),  # type: ignore[arg-type]
            )
            found.descriptors.append(gatt.Descriptor(CONFIGURATION, READ | WRITE | self._lock, access))
        return found

    @property
    def _lock(self) -> Permissions:
        return LOCKED if self.shape.is_locked else Permissions(0)

    def _hid(self, number: int, service: HIDService) -> list[gatt.Characteristic[bytes]]:
        external = gatt.Descriptor(EXTERNAL_REFERENCE, READ | self._lock, LEVEL.to_pdu_bytes())
        found = [
            self._characteristic_of(PROTOCOL_MODE, Properties.READ | Properties.WRITE_WITHOUT_RESPONSE, b"\x01"),
            self._characteristic_of(REPORT_MAP, Properties.READ, service.report_map, [external]),
        ]
        for report_id in service.inputs:
            target = Target(number, report_id)
            self._inputs[target] = self._report(INPUT, report_id, Properties.READ | Properties.NOTIFY, f"{target}")
            found.append(self._inputs[target])
        both = Properties.READ | Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE
        for report_id in service.outputs:
            output = self._report(OUTPUT, report_id, both)
            output.on(gatt.Characteristic.EVENT_WRITE, lambda _connection, value: self._light(value))
            found.append(output)
        if service.outputs:  # a boot keyboard
            found.append(self._characteristic_of(BOOT_INPUT, Properties.READ | Properties.NOTIFY, bytes(8), name=f"boot {number}"))
            found.append(self._characteristic_of(BOOT_OUTPUT, both, bytes(1)))
        return [
            *found,
            self._characteristic_of(INFORMATION, Properties.READ, HID_1_11),
            self._characteristic_of(CONTROL_POINT, Properties.WRITE_WITHOUT_RESPONSE, b""),
        ]

    def _report(self, kind: int, report_id: int, properties: Properties, name: str = "") -> gatt.Characteristic[bytes]:
        reference = gatt.Descriptor(REPORT_REFERENCE, READ | self._lock, bytes([report_id, kind]))
        return self._characteristic_of(REPORT, properties, bytes(8 if kind == INPUT else 1), [reference], name)

    def _light(self, value: bytes) -> None:
        self.lights.append(value)
        self.changed()

    # Subscriptions.

    def _configure(self, connection: Connection, name: str, bits: bytes) -> None:
        if len(bits) != 2:
            raise att.ATT_Error(error_code=att.ATT_INVALID_ATTRIBUTE_LENGTH_ERROR)
        self._kept[str(connection.peer_address)][name] = bits
        self.subscribed = self._is_subscribed()
        self.changed()

    def _is_subscribed(self) -> bool:
        """Returns true if the central of this link may receive the report with the keys, or the only report of a mouse."""
        if self.connection is None or self.shape.is_locked and not self.is_encrypted:
            return False
        target = self.shape.keys or Target()
        kept = self._kept.get(str(self.connection.peer_address), {})
        return bool(kept.get(f"{target}", bytes(2))[0] & 1)

    # The link.

    def _on_connection(self, connection: Connection) -> None:
        self.requests.clear()
        self.requests_before_encryption = 0
        self.is_encrypted = False
        super()._on_connection(connection)
        if connection.role != hci.Role.PERIPHERAL:
            return
        self._is_advertising_over = True
        connection.on(connection.EVENT_CONNECTION_ENCRYPTION_CHANGE, lambda: self._on_encryption(connection))
        text, self.types_when_connected = self.types_when_connected, b""
        if text:
            self._send(text)
        if self.asks_for_security:
            self.device.smp_manager.request_pairing(connection)

    def _on_encryption(self, connection: Connection) -> None:
        self.is_encrypted = bool(connection.encryption)
        self.central = connection.peer_address
        self.requests_before_encryption = len(self.requests)
        self.subscribed = self._is_subscribed()
        text, self.types_when_encrypted = self.types_when_encrypted, b""
        if text and self.subscribed:
            self._send(text)
        self.unsent += bool(text) and not self.subscribed
        self.changed()

    def _on_disconnection(self, reason: int) -> None:
        assert self.connection is not None and isinstance(self.device.keystore, MemoryKeyStore)
        address = str(self.connection.peer_address)
        super()._on_disconnection(reason)
        self.is_encrypted = False
        self._held = None
        if address not in self.device.keystore.all_keys:  # only a bonded central keeps its subscriptions
            self._kept.pop(address, None)
        self._returning = asyncio.ensure_future(self._return())

    def _on_att(self, handle: int, pdu: bytes) -> None:
        if not pdu[0] & 1 and pdu[0] != att.Opcode.ATT_HANDLE_VALUE_CONFIRMATION:
            self.requests.append(pdu)
            self.changed()
            if self._held is not None:
                self._held.append((handle, pdu))
                return
        super()._on_att(handle, pdu)

    def hold_requests(self) -> None:
        """Answers no request until `answer_requests` or the end of the link."""
        self._held = self._held or []

    def answer_requests(self) -> int:
        """Answers the requests held since `hold_requests`, and returns their number."""
        held, self._held = self._held or [], None
        for handle, pdu in held:
            super()._on_att(handle, pdu)
        return len(held)

    # Reports.

    def _send(self, text: bytes) -> int:
        count = 0
        for target, report in self.shape.reports(text.decode()):
            handle = self._inputs[target].handle.to_bytes(2, "little")
            self.send_pdu(bytes([att.Opcode.ATT_HANDLE_VALUE_NOTIFICATION]) + handle + report)
            count += 1
        self.reports += count
        return count

    def type(self, text: bytes) -> int:
        """Types text to a central that has subscribed, and returns the number of reports."""
        if not self.subscribed:
            raise LabError("the keyboard cannot type: nobody has subscribed")
        return self._send(text)

    def press(self, strokes: Iterable[Stroke | None]) -> None:
        """Sends a report for each stroke: a key with its modifiers, or no key."""
        assert self.shape.keys is not None
        handle = self._inputs[self.shape.keys].handle.to_bytes(2, "little")
        for stroke in strokes:
            self.send_pdu(bytes([att.Opcode.ATT_HANDLE_VALUE_NOTIFICATION]) + handle + self.shape.pressed(stroke))
            self.reports += 1

    @property
    def targets(self) -> list[Target]:
        """Returns the input reports."""
        return list(self._inputs)

    def handle(self, target: Target) -> int:
        """Returns the handle of an input report."""
        return self._inputs[target].handle

    # Advertising and sleep.

    async def advertise(  # type: ignore[override]
        self, connectable: bool = True, manufacturer: bytes = b"", again: bool = False, own: int = hci.OwnAddressType.RANDOM
    ) -> None:
        """Advertises to all centrals, and again after each link until it sleeps. A bonded device is not discoverable."""
        self._is_asleep = False
        assert self.device.keystore is not None
        is_bonded = bool(await self.device.keystore.get_all()) if self.device.powered_on else False
        flags = AdvertisingData.BR_EDR_NOT_SUPPORTED_FLAG
        flags |= 0 if is_bonded else AdvertisingData.LE_GENERAL_DISCOVERABLE_MODE_FLAG
        parts = [(AdvertisingData.FLAGS, bytes([flags])), (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())]
        if self.shape.advertises_service:
            parts.append((AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, HID.to_bytes()))
            parts.append((AdvertisingData.APPEARANCE, APPEARANCE.to_bytes(2, "little")))
        if manufacturer:
            parts.append((AdvertisingData.MANUFACTURER_SPECIFIC_DATA, manufacturer))
        self._rotate()
        kinds = AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE, AdvertisingType.UNDIRECTED_SCANNABLE
        data = bytes(AdvertisingData(parts))
        await self._once_allowed(
            lambda: self.device.start_advertising(
                advertising_type=kinds[0] if connectable else kinds[1], own_address_type=hci.OwnAddressType(own),
                advertising_data=data, scan_response_data=b"", auto_restart=again,
            )
        )  # fmt: skip

    async def _return(self) -> None:
        """Advertises again after a link, unless the device sleeps."""
        if not self._is_asleep:
            await self.advertise()

    async def _once_allowed(self, command: Callable[[], Awaitable[None]]) -> None:
        """Waits for the end of the previous advertising command before it executes this one."""

        async def execute() -> None:
            found = self.device.legacy_advertising_set
            # A link that begins at once ends the advertising before Bumble has noted that it began.
            if self._is_advertising_over and found is not None:
                found.enabled = False
            self._is_advertising_over = False
            try:
                await command()
            except hci.HCI_Error as error:
                # A link that began meanwhile has ended the advertising, and the controller has removed the set.
                if error.error_code != hci.HCI_UNKNOWN_ADVERTISING_IDENTIFIER_ERROR:
                    raise
                self.device.legacy_advertising_set = None
                await command()

        async with self._advertising:
            await super()._once_allowed(execute)

    def _rotate(self) -> None:
        """Takes a new private address if the device has a resolving key."""
        if key := self.shape.resolving_key:
            self.device.irk = key
            self.device.random_address = hci.Address.generate_private_address(key)
        else:
            self.device.random_address = self.device.static_address

    async def sleep(self) -> None:
        """Disconnects and does not advertise, as after some minutes without a barcode."""
        if self._returning is not None:
            await self._returning
        self._is_asleep = True
        if self.connection is not None:
            await self.connection.disconnect()
        await self.fall_silent()

    async def vanish(self) -> None:
        self._is_asleep = True
        await super().vanish()

    async def wake(self, text: bytes = b"") -> bool:
        """Returns from sleep because a barcode was scanned: advertises for 1.28 s to the bonded central only, then to all
        centrals. The text is typed in the callback of Encryption Change.

        Returns true if the central connected during the directed advertising.
        """
        self.types_when_encrypted = text
        target, before = self.central, self.connections
        if target is None:
            raise LabError("the keyboard has no bonded central to return to")
        self._is_asleep = False
        self._rotate()
        await self._once_allowed(
            lambda: self.device.start_advertising(
                advertising_type=AdvertisingType.DIRECTED_CONNECTABLE_HIGH_DUTY, target=target, auto_restart=False,
            )
        )  # fmt: skip
        try:
            async with asyncio.timeout(DIRECTED_SECONDS):
                await self.until(lambda: self.connections > before, "the central answers", 60)
            return True
        except TimeoutError:
            await self.fall_silent()
        if self.connections > before:
            return True
        await self.advertise()
        return False
