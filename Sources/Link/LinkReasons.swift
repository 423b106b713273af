// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Devices
import Texts

extension Reason {
    /// The failure of a procedure with a device; where it answers that the link is not secure enough, the pairing that it wants
    /// is the remedy.
    init(_ error: GATTError, _ device: DeviceAddress?, isEncrypted: Bool) {
        guard case .errorResponse(_, _, let answer) = error,
            answer == .insufficientAuthentication || answer == .insufficientEncryption
        else {
            self.init(Message(detail: "\(error)"))
            return
        }
        let fault: LinkFaultText = isEncrypted ? .wantsNumber : .wantsPairing
        self.init(CommandFailure(.permission, fault, "\(error)", device.map { "\($0.address)" } ?? "DEVICE"))
    }
}

extension Reason {
    private static let mostNamed = 4
    /// Services of every device, which carry nothing.
    private static let common: Set<BluetoothUUID> = [BluetoothUUID(0x1800 as UInt16), BluetoothUUID(0x1801 as UInt16)]
    private static let humanInterface = BluetoothUUID(0x1812 as UInt16)

    /// The reason for which a device with these services is unsupported: what it offers, and what can be done (LK-15).
    init(lacking profiles: [Profile], in services: [BluetoothUUID]) {
        let isSerial = Profile.builtIn.contains { services.contains($0.service) }
        let offered = Self.names(of: services)
        let failure =
            if !isSerial, services.contains(Self.humanInterface) {
                CommandFailure(.configuration, LinkFaultText.isKeyboard)
            } else if profiles.count == 1, let title = profiles.first?.title {
                CommandFailure(
                    .configuration,
                    isSerial ? LinkFaultText.otherService : LinkFaultText.noService,
                    title,
                    offered
                )
            } else {
                CommandFailure(.configuration, LinkFaultText.noSerialService, offered)
            }
        self.init(failure)
    }

    private static func names(of services: [BluetoothUUID]) -> Message {
        var names: [String] = []
        for uuid in services where !common.contains(uuid) {
            let title = Profile.builtIn.first { $0.service == uuid }?.title ?? AssignedNumbers.name(of: uuid)
            let name = title ?? "\(uuid)"
            if !names.contains(name) { names.append(name) }
        }
        let named = names.prefix(mostNamed) + (names.count > mostNamed ? ["..."] : [])
        return names.isEmpty ? PlainText.nothingElse.message() : Message.listed(named.map { Message(detail: $0) })
    }
}
