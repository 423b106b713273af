// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Devices
package import Link
package import Texts

extension Reason {
    init(_ failure: DeviceLink.Failure) {
        switch failure {
        case .link(let failure): self.init(failure.message)
        case .handshake(let failure): self.init(failure.message)
        case .scan(let error): self.init(CommandFailure(error))
        case .procedure(let error, let device, let isEncrypted): self.init(error, device, isEncrypted: isEncrypted)
        }
    }

    package init(_ lack: LinkSetup.Lack) {
        switch lack {
        case .profile(let profiles, let services): self.init(lacking: profiles, in: services)
        case .characteristic(let uuid): self.init(LinkFaultText.noCharacteristic.message("\(uuid)"))
        case .writing(let uuid): self.init(LinkFaultText.notWritable.message("\(uuid)"))
        case .notification(let uuid): self.init(LinkFaultText.noNotification.message("\(uuid)"))
        case .anyInput: self.init(LinkFaultText.nothingToRead.message())
        case .anyOutput: self.init(LinkFaultText.takesNothing.message())
        case .keyboard(let lack): self.init(lack.failure)
        }
    }

    /// Creates the reason for a failed procedure; if the device requires more security, the remedy is pairing.
    private init(_ error: GATTError, _ device: DeviceAddress?, isEncrypted: Bool) {
        guard case .errorResponse(_, _, let answer) = error,
            answer == .insufficientAuthentication || answer == .insufficientEncryption
        else {
            self.init(Message(detail: "\(error)"))
            return
        }
        let fault: LinkFaultText = isEncrypted ? .wantsNumber : .wantsPairing
        self.init(CommandFailure(.permission, fault, "\(error)", device.map { "\($0.address)" } ?? "DEVICE"))
    }

    private static let mostNamed = 4
    /// Services that all devices have and that carry no data.
    private static let common: Set<BluetoothUUID> = [.genericAccess, .genericAttribute]

    /// Creates the reason why a device with these services is not supported (LK-15).
    ///
    /// It names the services that the device offers, and contains a remedy.
    private init(lacking profiles: [Profile], in services: [BluetoothUUID]) {
        let isSerial = Profile.serial.contains { services.contains($0.service) }
        let offered = Self.names(of: services)
        let failure =
            if !isSerial, services.contains(.humanInterfaceDevice) {
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
            let title = Profile.serial.first { $0.service == uuid }?.title ?? AssignedNumbers.name(of: uuid)
            let name = title ?? "\(uuid)"
            if !names.contains(name) { names.append(name) }
        }
        let named = names.prefix(mostNamed) + (names.count > mostNamed ? ["..."] : [])
        return names.isEmpty ? PlainText.nothingElse.message() : Message.listed(named.map { Message(detail: $0) })
    }
}
