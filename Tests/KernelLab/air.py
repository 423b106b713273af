# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bumble's software controllers on a radio in this process, corrected where a kernel or the product could not work with them.
# Tests/Bumble/radio.py lists the faults of the originals.

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bumble import hci, ll
from bumble.controller import Controller
from bumble.core import PhysicalTransport
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink, Transport

import peer

EXTENDED_COMMANDS = {
    hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND,
    hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND,
    hci.HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS_COMMAND,
}
ENHANCED = 1 << 9  # LE Enhanced Connection Complete, in the LE event mask


def generation(controller: Controller, extended: bool) -> Controller:
    """Returns the controller with only the commands from before Bluetooth 5, or only those since Bluetooth 5. Bumble's controller
    has half of each."""
    feature = hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
    if extended:
        controller.supported_commands = controller.supported_commands | EXTENDED_COMMANDS
        controller.le_features = controller.le_features | feature
    else:
        controller.le_features = controller.le_features & ~feature
    return controller


class Ends(Transport):
    """Connects Bumble's host to a controller in the same process."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller, AsyncPipeSink(controller))

    async def close(self) -> None:
        pass


class SoftPeer(peer.Peer):
    """The lab's peer on a software controller."""

    def __init__(self, link: LocalLink, extended: bool) -> None:
        super().__init__(Path())
        self._link = link
        self._extended = extended

    async def connect(self) -> None:
        self._transport = Ends(generation(Controller("peer", link=self._link), self._extended))


class Air(LocalLink):
    """A radio that sends each frame from the address with which its connection was created."""

    def send_acl_data(
        self, sender_controller: Controller, destination_address: hci.Address, transport: PhysicalTransport, data: bytes
    ) -> None:
        receiver = self.find_le_controller(destination_address)
        connection = sender_controller.le_connections.get(destination_address)
        if receiver is not None and connection is not None:
            loop = asyncio.get_running_loop()
            loop.call_soon(receiver.on_link_acl_data, connection.self_address, transport, data)


class Adapter(Controller):
    """A controller for a kernel or for the product. It has few buffers, clears its state at Reset, and sends only the events that
    the host enabled."""

    air_seconds = 0.0  # time that a host packet occupies its buffer
    frame_octets = 251  # longest packet sent to the host

    def __init__(self, link: Air, public_address: str) -> None:
        super().__init__("adapter", link=link, public_address=public_address)
        self.taken = 0  # buffers in use
        self.overruns = 0  # packets that were too long, or sent although no buffer was free
        self.unknown: list[str] = []  # unsupported commands received

    def on_hci_command_packet(self, command: hci.HCI_Command) -> None:
        if not hasattr(self, f"on_{command.name.lower()}") or not self._knows(command.op_code):
            self.unknown.append(command.name)
            return self._send_hci_command_status(hci.HCI_UNKNOWN_HCI_COMMAND_ERROR, command.op_code)
        super().on_hci_command_packet(command)

    def _knows(self, opcode: int) -> bool:
        return True

    # Commands that Bumble's controller lists as supported but does not implement.

    def on_hci_read_rssi_command(self, command: hci.HCI_Read_RSSI_Command) -> hci.HCI_Read_RSSI_ReturnParameters:
        return hci.HCI_Read_RSSI_ReturnParameters(hci.HCI_ErrorCode.SUCCESS, handle=command.handle, rssi=-50)

    def on_hci_le_set_data_length_command(self, command: hci.HCI_Command) -> None:
        handle, octets, time = command.parameters[:2], self.frame_octets, (self.frame_octets + 14) * 8
        answer = hci.HCI_GenericStatusReturnParameters(hci.HCI_ErrorCode.SUCCESS, handle)
        self.send_hci_packet(hci.HCI_Command_Complete_Event(1, command.op_code, answer))
        number = int.from_bytes(handle, "little")
        self.send_hci_packet(hci.HCI_LE_Data_Length_Change_Event(number, octets, time, octets, time))

    def on_hci_le_set_phy_command(self, command: hci.HCI_LE_Set_PHY_Command) -> None:
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        fast = hci.HCI_LE_2M_PHY
        self.send_hci_packet(
            hci.HCI_LE_PHY_Update_Complete_Event(hci.HCI_ErrorCode.SUCCESS, command.connection_handle, fast, fast)
        )

    def unplug(self) -> None:
        """Disconnects every peer from this controller."""
        self._forget()
        # Frames in flight are still delivered through the controller's connections, so remove it afterwards.
        asyncio.get_running_loop().call_soon(self.link.remove_controller, self)

    def _forget(self) -> None:
        for connection in list(self.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_CONNECTION_TIMEOUT_ERROR))
        self.pending_le_connection = None
        self.le_scan_enable = False


    def on_hci_acl_data_packet(self, packet: hci.HCI_AclDataPacket) -> None:
        length = self.le_acl_data_packet_length or self.acl_data_packet_length
        count = self.total_num_le_acl_data_packets or self.total_num_acl_data_packets
        self.taken += 1
        if self.taken > count or len(packet.data) > length:
            self.overruns += 1
        asyncio.get_running_loop().call_later(self.air_seconds, self._transmit, packet)

    def _transmit(self, packet: hci.HCI_AclDataPacket) -> None:
        self.taken -= 1
        super().on_hci_acl_data_packet(packet)

    def on_link_acl_data(self, sender_address: hci.Address, transport: PhysicalTransport, data: bytes) -> None:
        connection = self.le_connections.get(sender_address)
        if connection is None:
            return
        for at in range(0, len(data), self.frame_octets):
            part = data[at : at + self.frame_octets]
            self.send_hci_packet(hci.HCI_AclDataPacket(connection.handle, 1 if at else 2, 0, len(part), part))


    def send_hci_packet(self, packet: hci.HCI_Packet) -> None:
        if isinstance(packet, hci.HCI_LE_Connection_Complete_Event) and self.le_event_mask & ENHANCED:
            values: dict[str, Any] = {name: getattr(packet, name) for name in (
                "status", "connection_handle", "role", "peer_address_type", "peer_address", "connection_interval",
                "peripheral_latency", "supervision_timeout", "central_clock_accuracy")}  # fmt: skip
            packet = hci.HCI_LE_Enhanced_Connection_Complete_Event(
                **values, local_resolvable_private_address=hci.Address.ANY, peer_resolvable_private_address=hci.Address.ANY
            )
        super().send_hci_packet(packet)

    def on_hci_le_create_connection_cancel_command(
        self, command: hci.HCI_LE_Create_Connection_Cancel_Command
    ) -> hci.HCI_StatusReturnParameters:
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        asyncio.get_running_loop().call_soon(self._say_cancelled, pending.peer_address)
        return super().on_hci_le_create_connection_cancel_command(command)

    def _say_cancelled(self, address: hci.Address) -> None:
        self.send_hci_packet(
            hci.HCI_LE_Connection_Complete_Event(
                status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
                peer_address_type=address.address_type, peer_address=address, connection_interval=0, peripheral_latency=0,
                supervision_timeout=0, central_clock_accuracy=0,
            )
        )  # fmt: skip

    def on_hci_reset_command(self, command: hci.HCI_Reset_Command) -> hci.HCI_StatusReturnParameters:
        self._forget()
        self.le_connections.clear()
        self.le_event_mask = 0x1F  # the first five events, the default after power-on
        return super().on_hci_reset_command(command)
