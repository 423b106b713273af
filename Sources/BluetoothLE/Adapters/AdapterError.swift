// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// The reasons for which Bluetooth cannot be used, each with a cause and a remedy in English.
package enum AdapterError: Error, Equatable {
    /// The kernel was built or started without Bluetooth.
    case noBluetoothInKernel
    /// The machine has no adapter.
    case noAdapter
    /// No adapter matches the selector; the names of those that exist are given.
    case notFound(AdapterSelector, available: [String])
    /// The adapter of this name has no Low Energy.
    case lowEnergyUnsupported(String)
    /// The radio of the adapter of this name is blocked by rfkill, in software or (`isHard`) by a switch or the
    /// firmware.
    case blocked(String, isHard: Bool)
    /// The process lacks these capabilities.
    case notPermitted(missing: [Capability])
    /// The kernel refused the operation in the first text, with the status in the second.
    case refused(String, String)
    /// The kernel does not have the command in the text.
    case unknownToKernel(String)
    /// The kernel did not answer this command.
    case silent(ManagementOpcode)
    /// A system call failed: the operation, as it follows "cannot", and the error.
    case system(String, Errno)
    /// The stream to the controller cannot be opened.
    case stream(H4Address, Errno)
    /// The controller of the host stack in this process failed, or the connection to it; the text is the cause.
    case controller(String)

    /// Makes the error of a failed bring-up, with the rfkill state and the missing capabilities read from the system.
    init(_ failure: AdapterFailure) {
        switch failure {
        case .noAdapter: self = .noAdapter
        case .notFound(let selector, let available): self = .notFound(selector, available: available)
        case .lowEnergyUnsupported(let index): self = .lowEnergyUnsupported("hci\(index.rawValue)")
        case .blocked(let index):
            let isHard = RFKill(controller: index.rawValue)?.isHardBlocked ?? false
            self = .blocked("hci\(index.rawValue)", isHard: isHard)
        case .notPermitted:
            self = .notPermitted(missing: Capability.missing)
        case .refused(let opcode, .unknownCommand): self = .unknownToKernel("\(opcode)")
        case .refused(let opcode, let status): self = .refused("\(opcode)", "\(status)")
        case .malformed(let error): self = .refused("an answer of the kernel", "\(error)")
        }
    }

    /// Makes the error of a call on the management channel; the text follows "cannot".
    init(_ error: Errno, _ what: String) {
        switch error.recovery(of: .management) {
        case .absent: self = .noBluetoothInKernel
        case .forbidden: self = .notPermitted(missing: Capability.missing)
        default: self = .system(what, error)
        }
    }

    /// The cause, in one English sentence.
    package var cause: String {
        switch self {
        case .noBluetoothInKernel: AdapterSentence.noBluetooth
        case .noAdapter: AdapterSentence.noAdapter
        case .notFound(let selector, let available):
            AdapterSentence.notFound("\(selector)", available.joined(separator: ", "))
        case .lowEnergyUnsupported(let name): AdapterSentence.noLowEnergy(name)
        case .blocked(let name, isHard: false): AdapterSentence.softBlocked(name)
        case .blocked(let name, isHard: true): AdapterSentence.hardBlocked(name)
        case .notPermitted(let missing) where missing.isEmpty: AdapterSentence.refusedByKernel
        case .notPermitted(let missing):
            AdapterSentence.missingRights(missing.map(\.rawValue).joined(separator: " and "))
        case .refused(let what, let status): AdapterSentence.refused(what, status)
        case .unknownToKernel(let what): AdapterSentence.unknownToKernel(what)
        case .silent(let opcode): AdapterSentence.silent("\(opcode)")
        case .system(let what, let error): AdapterSentence.system(what, "\(error)")
        case .stream(let address, .addressNotAvailable): AdapterSentence.noAddress("\(address)")
        case .stream(.serialLine(let path, _), .inappropriateIOCTLForDevice): AdapterSentence.noLine(path)
        case .stream(let address, let error): AdapterSentence.stream("\(address)", "\(error)")
        case .controller(let what): what
        }
    }

    /// The remedy, in one English sentence.
    package var remedy: String {
        switch self {
        case .noBluetoothInKernel: AdapterSentence.Remedy.loadModule
        case .noAdapter: AdapterSentence.Remedy.plugIn
        case .notFound: "name one of these"
        case .lowEnergyUnsupported: AdapterSentence.Remedy.newerAdapter
        case .blocked(_, isHard: false): AdapterSentence.Remedy.unblock
        case .blocked(_, isHard: true): AdapterSentence.Remedy.switchOn
        case .notPermitted: "run as root, or as a service with AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW"
        case .refused: AdapterSentence.Remedy.offAndOn
        case .unknownToKernel: AdapterSentence.Remedy.newerKernel
        case .silent: AdapterSentence.Remedy.plugInAgain
        case .system: AdapterSentence.Remedy.kernelLog
        case .stream(.serialLine(let path, _), .permissionDenied): AdapterSentence.Remedy.lineOwner(path)
        case .stream(.unixSocket, .permissionDenied): AdapterSentence.Remedy.socketOwner
        case .stream(.serialLine, _): AdapterSentence.Remedy.nameLine
        case .stream: AdapterSentence.Remedy.startEmulator
        case .controller: AdapterSentence.Remedy.startAnew
        }
    }
}
