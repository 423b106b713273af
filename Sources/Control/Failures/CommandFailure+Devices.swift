// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Devices
import LinuxIO
import SystemPackage
package import Texts

// The failures to find, to choose and to pair a device, and to use an adapter.

extension CommandFailure {
    /// Another device is chosen, and nobody said that it may be given up (LK-8).
    package static func chosenAlready(_ choice: SelectedDevice) -> CommandFailure {
        CommandFailure(.usage, CommandFaultText.chosenAlready, choice.labelWithAddress, kind: .chosenAlready)
    }

    /// Refuses to run for a device that was never paired, which nobody has said may be anybody.
    package static func unpaired(_ choice: DeviceSelector) -> CommandFailure {
        CommandFailure(.configuration, LinkFaultText.unpaired, "\(choice)", kind: .openDevice)
    }

    /// No link with the device can have the required security.
    package init(_ lack: SecurityLack, _ status: ExitStatus) {
        let (device, claim) = (lack.device, lack.claim)
        let address = "\(device.address)"
        switch claim.fault {
        case .otherDevice(let identity):
            self.init(status, LinkFaultText.otherDevice, "\(device)", "\(identity)", "\(identity.address)")
        case .otherAdapter(let adapter): self.init(status, LinkFaultText.otherAdapter, address, "\(adapter)")
        case .damaged: self.init(status, LinkFaultText.damagedBond, address)
        case nil:
            let fault: LinkFaultText = claim.keys == .none ? .noBond : claim.isLegacy ? .legacyBond : .weakBond
            self.init(status, fault, address)
        }
    }

    package init(_ failure: DeviceFinder.Failure, of choice: DeviceSelector) {
        switch failure {
        case .several(let devices):
            let addresses = devices.map { "\($0.address.address)" }
            self.init(.usage, LinkFaultText.severalHeard, "\(choice)", Message.list(addresses), addresses.first ?? "")
        case .notHeard(_, let namesake?): self = .heardElsewhere(choice, namesake)
        case .notHeard(let limit, nil):
            self.init(.timeout, LinkFaultText.notHeardInTime, "\(choice)", "\(limit.components.seconds)")
        case .scan(let error): self.init(error)
        }
    }

    /// The name of the kept device is on the air at another address.
    package static func heardElsewhere(_ choice: DeviceSelector, _ namesake: DiscoveredDevice) -> CommandFailure {
        var address = ""
        if case .kept(let kept) = choice { address = "\(kept.device)" }
        let other = namesake.address
        return .init(.timeout, LinkFaultText.heardElsewhere, "\(choice)", "\(other)", address, "\(other.address)")
    }

    package init(_ failure: ManagedPairing.Failure, of device: DeviceAddress, within limit: Duration) {
        switch failure {
        case .refused(let opcode, .permissionDenied):
            self.init(.permission, AdapterFaultText.refused, "\(opcode)", "\(ManagementStatus.permissionDenied)")
        case .refused(let opcode, let status):
            self.init(.unavailable, AdapterFaultText.refused, "\(opcode)", "\(status)")
        case .notReached(let status): self.init(.inputOutput, BondFaultText.notReached, "\(status)")
        case .keyTooShort: self.init(.permission, BondFaultText.keyTooShort)
        case .legacy: self.init(.permission, BondFaultText.legacyOnly)
        case .disagreed: self.init(.inputOutput, BondFaultText.disagreed)
        case .alreadyPaired: self.init(.usage, BondFaultText.knownToKernel, "\(device.address)")
        case .declined: self.init(.usage, BondFaultText.declined)
        case .cancelled: self.init(.timeout, BondFaultText.notInTime, "\(limit.components.seconds)")
        case .notBonded: self.init(.inputOutput, BondFaultText.notBonded)
        case .tooWeak(let security):
            let level: BondText = security.level == .authenticated ? .authenticated : .encrypted
            self.init(.permission, BondFaultText.tooWeak, level.message(), "\(security.keySize)")
        }
    }
}

extension SecurityPolicy.Refusal: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .lessSecure(let asked, let least): .init(.configuration, LinkFaultText.lessSecure, asked.word, least.word)
        case .lacking(let lack): .init(lack, .configuration)
        case .unpaired(let choice):
            .init(
                .configuration,
                LinkFaultText.openDevice,
                choice.labelWithAddress,
                "\(choice.device.address)",
                kind: .openDevice
            )
        }
    }
}

extension PairingError: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .noAdapter: .init(.unavailable, AdapterFaultText.nothingToListenWith)
        case .noAddress(let adapter): .init(.unavailable, BondFaultText.noAddress, adapter)
        case .notFound(let device, let failure): .init(failure, of: device)
        case .nameKnown(let name, let paired, let heard):
            .init(.usage, BondFaultText.nameKnown, name, "\(paired)", "\(heard)")
        case .adapterLost(let loss): .init(loss)
        case .failed(let failure, let device, let limit): .init(failure, of: device, within: limit)
        case .notKept(let failure): failure.failure
        }
    }
}

extension AdapterLock.Refusal: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .used(let adapter, by: 0): .init(.unavailable, AdapterFaultText.used, adapter)
        case .used(let adapter, let process): .init(.unavailable, AdapterFaultText.usedBy, adapter, "\(process)")
        case .notMade(let lock, let error):
            .init(
                error,
                else: .inputOutput,
                AdapterFaultText.noLock,
                "\(lock)",
                fix: .ownerOf,
                "\(lock.removingLastComponent())"
            )
        }
    }
}
