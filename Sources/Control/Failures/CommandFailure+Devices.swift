// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import Devices
package import LinuxIO
package import SystemPackage
package import Texts

// Failures in finding, selecting and pairing a device, in using an adapter, and in storing files.

extension CommandFailure {
    /// Creates the failure to report if another device is selected and replacing it was not confirmed (LK-8).
    package static func chosenAlready(_ choice: SelectedDevice) -> CommandFailure {
        CommandFailure(.usage, CommandFaultText.chosenAlready, choice.labelWithAddress, kind: .chosenAlready)
    }

    /// Creates the failure to report if the device was never paired and unpaired use was not allowed.
    package static func unpaired(_ choice: DeviceSelector) -> CommandFailure {
        CommandFailure(.configuration, LinkFaultText.unpaired, "\(choice)", kind: .openDevice)
    }

    /// Creates the failure to report if a device that can only be used as a keyboard was never paired.
    package static func unpairedKeyboard(_ choice: DeviceSelector) -> CommandFailure {
        let name = "\(choice)"
        return CommandFailure(.configuration, LinkFaultText.unpairedKeyboard, name, name, kind: .unpairedKeyboard)
    }

    /// Creates the failure to report if the device's keys cannot provide the required security.
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

    /// Creates the failure to report if the name of the selected device was heard at another address.
    package static func heardElsewhere(_ choice: DeviceSelector, _ namesake: DiscoveredDevice) -> CommandFailure {
        let address = choice.kept.map { "\($0.device)" } ?? ""
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
        case .unpairedKeyboard(let choice):
            .init(
                .configuration,
                LinkFaultText.unpairedKeyboard,
                choice.labelWithAddress,
                "\(choice.device.address)",
                kind: .unpairedKeyboard
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

extension SelectedDevice.Fault: ReportableContents {
    package static func unreadable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        error.isForbidden
            ? .init(.permission, FileFaultText.choiceForbidden, "\(path)", "\(error)")
            : .init(.inputOutput, FileFaultText.choiceUnreadable, "\(path)", "\(error)")
    }

    package static func unwritable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, FileFaultText.choiceNotKept, forbidden: .choiceNotPermitted)
    }

    package func failure(in path: FilePath) -> CommandFailure {
        .init(.configuration, FileFaultText.choiceGarbled, "\(path)", "\(line)", cause)
    }
}

extension BondStore.Fault: ReportableContents {
    package static func unreadable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, BondFaultText.unreadable, forbidden: .notPermitted)
    }

    package static func unwritable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, BondFaultText.notKept, forbidden: .notPermitted)
    }

    package func failure(in _: FilePath) -> CommandFailure { switch self {} }
}

extension KnownDeviceStore.Fault: ReportableContents {
    package static func unreadable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, FileFaultText.knownUnreadable, forbidden: .knownNotPermitted)
    }

    package static func unwritable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, FileFaultText.knownNotKept, forbidden: .knownNotPermitted)
    }

    package func failure(in _: FilePath) -> CommandFailure { switch self {} }
}

extension HIDDeviceStore.Fault: ReportableContents {
    package static func unreadable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, FileFaultText.keyboardsUnreadable)
    }

    package static func unwritable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, FileFaultText.keyboardsNotKept)
    }

    package func failure(in _: FilePath) -> CommandFailure { switch self {} }
}

extension BondStore.Failure: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .file(let failure): failure.failure
        case .known(let device): .init(.usage, BondFaultText.known, "\(device)", "\(device.address)")
        case .full: .init(.unavailable, BondFaultText.full, "\(BondStore.mostBonds)")
        }
    }
}

extension ChoiceFollower.WatchError: ReportableError {
    package var failure: CommandFailure {
        CommandFailure(
            error,
            else: .inputOutput,
            FileFaultText.choiceNotFollowed,
            "\(directory)",
            fix: .rootOrOwnerOf,
            "\(directory)"
        )
    }
}

extension DaemonPaths.Refusal: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .foreign(let path, let owner, nil): .init(.permission, FileFaultText.stateOfOthers, path, "\(owner)")
        case .foreign(let path, let owner, let file?):
            .init(.permission, FileFaultText.fileOfOthers, path, "\(owner)", "\(file)")
        case .writable(let path, let mode, nil):
            .init(.permission, FileFaultText.stateWritable, path, String(mode, radix: 8))
        case .writable(let path, let mode, let file?):
            .init(.permission, FileFaultText.fileWritable, path, String(mode, radix: 8), "\(file)")
        case .noRuntimeDirectory(let path, let error):
            .init(error, else: .inputOutput, ControlFaultText.noRuntimeDirectory, "\(path)", fix: .setRuntimeDirectory)
        }
    }
}

extension DaemonPaths {
    package static func current() throws(CommandFailure) -> DaemonPaths {
        try found(DaemonPaths(user: ProcessFacts.user, environment: ProcessFacts.environment))
    }

    package static func reachable() throws(CommandFailure) -> [DaemonPaths] {
        try found(reachable(user: ProcessFacts.user, environment: ProcessFacts.environment))
    }

    private static func found<Paths>(_ paths: Paths?) throws(CommandFailure) -> Paths {
        guard let paths else { throw CommandFailure(.configuration, FileFaultText.noPlace) }
        return paths
    }
}

extension EventLoop {
    /// Creates the event loop of a command; throws a command failure if the kernel does not provide one.
    package static func ofCommand() throws(CommandFailure) -> EventLoop {
        do throws(Errno) {
            return try EventLoop()
        } catch {
            throw CommandFailure(.internal, CommandFaultText.noLoop, "\(error)")
        }
    }
}
