# SPDX-License-Identifier: GPL-2.0-or-later
#
# The controllers of the matrix that are not BlueZ's. Each has its own radio with the lab's peer on it.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bumble import hci

import canal
import peer
from air import Adapter, Air, SoftPeer, generation
from line import Line, Manners
from waiting import Changing

ADDRESS = "00:1B:DC:07:32:41"
SLOW_SECONDS = 0.015  # one connection interval: time that a packet occupies the only buffer
NEWER_THAN_4_0 = {
    hci.HCI_SET_EVENT_MASK_PAGE_2_COMMAND,
    hci.HCI_READ_AUTHENTICATED_PAYLOAD_TIMEOUT_COMMAND,
    hci.HCI_WRITE_AUTHENTICATED_PAYLOAD_TIMEOUT_COMMAND,
}
LAST_OF_4_0 = hci.HCI_LE_TEST_END_COMMAND


class Radio(Protocol):
    """A controller at the end of a line, and the lab's peer on the same radio."""

    async def start(self) -> None: ...
    async def attach(self, line: Line) -> None:
        """Attaches a controller to the line."""

    def peer(self) -> peer.Peer: ...
    def complaint(self) -> str:
        """Returns an error if a host did something that no controller allows; empty otherwise."""

    def unknown(self) -> list[str]:
        """Returns the unsupported commands received, if they are known."""

    async def close(self) -> None: ...


class BumbleRadio:
    """Two of Bumble's controllers."""

    def __init__(self, kind: type[Adapter], extended: bool) -> None:
        self._kind = kind
        self._extended = extended
        self._air = Air()
        self._adapters: list[Adapter] = []

    async def start(self) -> None:
        pass

    async def attach(self, line: Line) -> None:
        adapter = self._kind(self._air, ADDRESS)
        generation(adapter, self._extended)
        adapter.set_packet_sink(line)
        self._adapters.append(adapter)
        line.join(adapter)

    def peer(self) -> peer.Peer:
        return SoftPeer(self._air, self._extended)

    def complaint(self) -> str:
        overruns = sum(adapter.overruns for adapter in self._adapters)
        return f"{overruns} packets came for which there was no buffer" if overruns else ""

    def unknown(self) -> list[str]:
        return [name for adapter in self._adapters for name in adapter.unknown]

    async def close(self) -> None:
        pass


class Version4Adapter(Adapter):
    """Bluetooth 4.0 with Low Energy only."""

    hci_version = lmp_version = hci.HCI_VERSION_BLUETOOTH_CORE_4_0
    le_features = hci.LeFeatureMask.LE_ENCRYPTION
    frame_octets = 27
    supported_commands = {
        opcode
        for opcode in Adapter.supported_commands - NEWER_THAN_4_0
        if opcode >> 10 != 8 or opcode <= LAST_OF_4_0
    }

    def _knows(self, opcode: int) -> bool:
        return opcode not in NEWER_THAN_4_0 and (opcode >> 10 != 8 or opcode <= LAST_OF_4_0)


class OneBufferAdapter(Version4Adapter):
    """A slow controller with a single buffer of 27 octets, which LE and BR/EDR share."""

    air_seconds = SLOW_SECONDS
    total_num_le_acl_data_packets = 1
    total_num_acl_data_packets = 1


class Late(Manners):
    """Delays every answer by 0.2 s, and some by almost the kernel's time-out of 2 s."""

    def __init__(self) -> None:
        self._count = 0

    def delay(self, _opcode: int) -> float:
        self._count += 1
        return 1.5 if self._count % 10 == 0 else 0.2


class Refusing(Manners):
    """Refuses commands that start a procedure once or twice, as a busy controller does. Always refuses commands that would
    improve a link."""

    TWICE = {
        hci.HCI_LE_SET_SCAN_ENABLE_COMMAND: hci.HCI_COMMAND_DISALLOWED_ERROR,
        hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND: hci.HCI_COMMAND_DISALLOWED_ERROR,
        hci.HCI_LE_CREATE_CONNECTION_COMMAND: hci.HCI_CONNECTION_LIMIT_EXCEEDED_ERROR,
        hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND: hci.HCI_CONNECTION_LIMIT_EXCEEDED_ERROR,
    }
    ALWAYS = {
        hci.HCI_LE_CONNECTION_UPDATE_COMMAND: hci.HCI_UNSUPPORTED_REMOTE_FEATURE_ERROR,
        hci.HCI_LE_SET_DATA_LENGTH_COMMAND: hci.HCI_UNSUPPORTED_FEATURE_OR_PARAMETER_VALUE_ERROR,
        hci.HCI_LE_SET_PHY_COMMAND: hci.HCI_UNSUPPORTED_FEATURE_OR_PARAMETER_VALUE_ERROR,
        hci.HCI_READ_RSSI_COMMAND: hci.HCI_COMMAND_DISALLOWED_ERROR,
    }

    def __init__(self) -> None:
        self._left = dict.fromkeys(self.TWICE, 2)

    def refusal(self, opcode: int) -> int:
        if self._left.get(opcode):
            self._left[opcode] -= 1
            return self.TWICE[opcode]
        return self.ALWAYS.get(opcode, 0)


class Noisy(Manners):
    """Sends events that no host knows before each packet, cycling through a list."""

    EVENTS = (
        bytes.fromhex("04 ff 05 01 02 03 04 05"),  # vendor event
        bytes.fromhex("04 ff 00"),  # empty vendor event
        bytes.fromhex("04 7e 03 aa bb cc"),  # unknown event code
        bytes.fromhex("04 3e 04 7f 01 02 03"),  # unknown LE subevent
        bytes.fromhex("04 0e 03 01 00 00"),  # Command Complete for no command: only updates the number of commands allowed
        bytes.fromhex("04 13 05 01 ff 0e 01 00"),  # completed packets of an unknown connection
        bytes.fromhex("02 fe 2e 07 00 03 00 04 00 1b 01 00"),  # data of an unknown connection
    )

    def __init__(self) -> None:
        self._count = 0

    def noise(self, _packet: bytes) -> list[bytes]:
        self._count += 1
        return [self.EVENTS[self._count % len(self.EVENTS)]]


class Crossing(Manners, Changing):
    """Establishes a connection while the host is canceling it: the connection event arrives just before the answer to the cancel
    command."""

    CONNECTED = (hci.HCI_LE_CONNECTION_COMPLETE_EVENT, hci.HCI_LE_ENHANCED_CONNECTION_COMPLETE_EVENT)

    def __init__(self) -> None:
        super().__init__()
        self.crosses = True  # true if the next connection is delayed in this way
        self.held: bytes | None = None

    def holds(self, packet: bytes) -> bool:
        if not (self.crosses and packet[:2] == b"\x04\x3e" and packet[3] in self.CONNECTED and packet[4] == 0):
            return False
        self.crosses, self.held = False, packet
        self.changed()
        return True

    def late(self, opcode: int) -> list[bytes]:
        if opcode != hci.HCI_LE_CREATE_CONNECTION_CANCEL_COMMAND or self.held is None:
            return []
        self.held, late = None, [self.held]
        self.changed()
        return late

    def refusal(self, opcode: int) -> int:
        return hci.HCI_COMMAND_DISALLOWED_ERROR if opcode == hci.HCI_LE_CREATE_CONNECTION_CANCEL_COMMAND else 0


@dataclass(frozen=True)
class Variant:
    """A row of the matrix."""

    name: str
    about: str
    radio: Callable[[Path], Radio]  # argument: the folder for its sockets
    manners: Callable[[], Manners] = field(default=Manners)
    given_up_by: tuple[str, ...] = ()  # kernels that fail to set it up; the reason is given where the list is set


def bumble(kind: type[Adapter], extended: bool) -> Callable[[Path], Radio]:
    return lambda _folder: BumbleRadio(kind, extended)


def rootcanal(preset: str) -> Callable[[Path], Radio]:
    return lambda folder: canal.CanalRadio(folder, preset)


# The presets of RootCanal list a supported command that they then refuse as unknown, and a kernel that sends it treats the error
# as fatal: LE Read Transmit Power, which 5.10 does not send to this controller, and Read Stored Link Key.
VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("le-only", "Bumble, Low Energy alone, Bluetooth 5", bumble(Adapter, True)),
        Variant("legacy-4.0", "Bumble, Bluetooth 4.0 with its commands", bumble(Version4Adapter, False)),
        Variant("one-buffer", "Bumble, one ACL buffer of 27 octets", bumble(OneBufferAdapter, False)),
        Variant("late", "Bumble, answering after 0.2 to 1.5 s", bumble(Adapter, True), Late),
        Variant("refusing", "Bumble, refusing commands", bumble(Adapter, True), Refusing),
        Variant("noisy", "Bumble, with vendor and unknown events", bumble(Adapter, True), Noisy),
        Variant("rootcanal", "RootCanal as it comes: both, Bluetooth 5", rootcanal("")),
        Variant("rootcanal-laird", "RootCanal as a Laird BL654: Low Energy alone", rootcanal(canal.LAIRD), given_up_by=("6.1", "6.12", "7.2")),
        Variant("rootcanal-dongle", "RootCanal as a CSR dongle of Bluetooth 4.0", rootcanal(canal.DONGLE), given_up_by=("5.10", "6.1", "6.12", "7.2")),
    )
}
