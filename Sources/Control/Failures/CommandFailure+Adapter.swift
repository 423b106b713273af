// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Devices
import LinuxIO
import SystemPackage
package import Texts

// Conversion of errors from BluetoothAdapters, about the adapter, the radio and a link, to failures.

extension CommandFailure {
    package init(_ error: AdapterError) {
        switch error {
        case .noBluetoothInKernel: self.init(.unavailable, AdapterFaultText.noBluetooth)
        case .noAdapter: self.init(.unavailable, AdapterFaultText.noAdapter)
        case .notFound(let selector, let available):
            self.init(.unavailable, AdapterFaultText.notFound, "\(selector)", available.joined(separator: ", "))
        case .lowEnergyUnsupported(let name): self.init(.unavailable, AdapterFaultText.noLowEnergy, name)
        case .blocked(let name, isHard: false): self.init(.unavailable, AdapterFaultText.softBlocked, name)
        case .blocked(let name, isHard: true): self.init(.unavailable, AdapterFaultText.hardBlocked, name)
        case .notPermitted(let missing) where missing.isEmpty: self.init(.permission, AdapterFaultText.refusedByKernel)
        case .notPermitted(let missing):
            self.init(.permission, AdapterFaultText.missingRights, Message.list(missing.map(\.rawValue)))
        case .refused(let what, let status): self.init(.unavailable, AdapterFaultText.refused, what, status)
        case .unknownToKernel(let what): self.init(.unavailable, AdapterFaultText.unknownToKernel, what)
        case .silent(let opcode): self.init(.unavailable, AdapterFaultText.silent, "\(opcode)")
        case .system(let what, let error):
            let isPermission = error == .permissionDenied || error == .notPermitted
            self.init(isPermission ? .permission : .unavailable, AdapterFaultText.system, what, "\(error)")
        case .stream(let address, let error): self.init(opening: address, error)
        case .controller(let what): self.init(.unavailable, AdapterFaultText.controller, what)
        }
    }

    package init(_ loss: AdapterLoss) {
        switch loss {
        case .removed(let name): self.init(.unavailable, AdapterFaultText.removed, name)
        case .switchedOff(let name): self.init(.unavailable, AdapterFaultText.switchedOff, name)
        case .failed(_, let cause): self.init(.unavailable, Message(detail: cause))
        }
    }

    /// Creates the error for a failure to open the stream to a controller.
    private init(opening address: H4Address, _ error: Errno) {
        switch (address, error) {
        case (.serialLine(let path, _), .permissionDenied):
            self.init(.permission, AdapterFaultText.streamNotPermitted, "\(address)", "\(error)", path)
        case (.unixSocket, .permissionDenied):
            self.init(.permission, AdapterFaultText.socketNotPermitted, "\(address)", "\(error)")
        case (.serialLine(let path, _), .inappropriateIOCTLForDevice):
            self.init(.unavailable, AdapterFaultText.noLine, path)
        case (.serialLine, _): self.init(.unavailable, AdapterFaultText.stream, "\(address)", "\(error)")
        case (_, .addressNotAvailable): self.init(.unavailable, AdapterFaultText.noAddress, "\(address)")
        case (_, _):
            let status: ExitStatus = error == .permissionDenied ? .permission : .unavailable
            self.init(status, AdapterFaultText.streamNotListening, "\(address)", "\(error)")
        }
    }

    package init(_ error: ScanError) {
        switch error {
        case .notPermitted(let missing) where missing.isEmpty: self.init(.permission, AdapterFaultText.scanRefused)
        case .notPermitted(let missing):
            self.init(.permission, AdapterFaultText.scanWithoutRights, Message.list(missing.map(\.rawValue)))
        case .system(let what, let error): self.init(.inputOutput, AdapterFaultText.listening, what, "\(error)")
        case .unsupported: self.init(.unavailable, AdapterFaultText.scanUnsupported)
        case .controller(.refused(let opcode, .unknownHCICommand)):
            self.init(.unavailable, AdapterFaultText.scanUnknown, "\(opcode)", "\(HCIStatus.unknownHCICommand)")
        case .controller(let failure): self.init(.unavailable, AdapterFaultText.scanFailed, "\(failure)")
        case .adapterGone: self.init(.unavailable, AdapterFaultText.gone)
        }
    }
}

extension LinkFailure {
    /// Reason why a link ended or was not established, as text for people.
    package var message: Message {
        switch self {
        case .system(.connectionReset): LinkFaultText.ended.message()
        case .system(.timedOut), .notEstablished: LinkFaultText.outOfReach.message()
        case .refused(let command, let status): LinkFaultText.refused.message(command, status)
        case .system(.connectionAbort): LinkFaultText.aborted.message()
        case .system: Message(detail: description)
        case .timedOut(let time): LinkFaultText.notInTime.message("\(time.components.seconds)")
        case .bearer(.transactionTimeout(let opcode)): LinkFaultText.noAnswer.message("\(opcode)")
        case .bearer(let failure): LinkFaultText.protocolBroken.message("\(failure)")
        case .notSecured: LinkFaultText.notSecured.message()
        case .closedByPeer: LinkFaultText.closed.message()
        case .adapterLost(let reason): Message(detail: reason)
        }
    }
}
