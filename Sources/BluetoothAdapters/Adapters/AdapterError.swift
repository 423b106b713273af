// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// A reason why Bluetooth cannot be used, with its cause and remedy in English.
package enum AdapterError: Error, Equatable {
    /// The kernel was built or started without Bluetooth.
    case noBluetoothInKernel
    case noAdapter
    /// No adapter matches the selector; `available` contains the names of the existing adapters.
    case notFound(AdapterSelector, available: [String])
    /// The adapter with this name does not support Low Energy.
    case lowEnergyUnsupported(String)
    /// The adapter with this name is blocked by rfkill, in software or (`isHard`) by a switch or the firmware.
    case blocked(String, isHard: Bool)
    case notPermitted(missing: [Capability])
    /// The kernel rejected the operation; the values are the operation and the status.
    case refused(String, String)
    /// The kernel does not support this command.
    case unknownToKernel(String)
    case silent(ManagementOpcode)
    /// A system call failed; the values are the operation, worded so that it can follow "cannot", and the error.
    case system(String, Errno)
    case stream(H4Address, Errno)
    /// The controller of this process's host stack, or the connection to it, failed; the text is the cause.
    case controller(String)

    /// Creates the error for a failed bring-up; reads the rfkill state and the missing capabilities from the system.
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

    /// Creates the error for a failed call on the management channel; `what` is the operation, worded so that it can
    /// follow "cannot".
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
        case .noBluetoothInKernel: AdapterErrorDescription.noBluetooth
        case .noAdapter: AdapterErrorDescription.noAdapter
        case .notFound(let selector, let available):
            AdapterErrorDescription.notFound("\(selector)", available.joined(separator: ", "))
        case .lowEnergyUnsupported(let name): AdapterErrorDescription.noLowEnergy(name)
        case .blocked(let name, isHard: false): AdapterErrorDescription.softBlocked(name)
        case .blocked(let name, isHard: true): AdapterErrorDescription.hardBlocked(name)
        case .notPermitted(let missing) where missing.isEmpty: AdapterErrorDescription.refusedByKernel
        case .notPermitted(let missing):
            AdapterErrorDescription.missingRights(missing.map(\.rawValue).joined(separator: " and "))
        case .refused(let what, let status): AdapterErrorDescription.refused(what, status)
        case .unknownToKernel(let what): AdapterErrorDescription.unknownToKernel(what)
        case .silent(let opcode): AdapterErrorDescription.silent("\(opcode)")
        case .system(let what, let error): AdapterErrorDescription.system(what, "\(error)")
        case .stream(let address, .addressNotAvailable): AdapterErrorDescription.noAddress("\(address)")
        case .stream(.serialLine(let path, _), .inappropriateIOCTLForDevice): AdapterErrorDescription.noLine(path)
        case .stream(let address, let error): AdapterErrorDescription.stream("\(address)", "\(error)")
        case .controller(let what): what
        }
    }

    /// The remedy, in one English sentence.
    package var remedy: String {
        switch self {
        case .noBluetoothInKernel: AdapterErrorDescription.Remedy.loadModule
        case .noAdapter: AdapterErrorDescription.Remedy.plugIn
        case .notFound: "name one of these"
        case .lowEnergyUnsupported: AdapterErrorDescription.Remedy.newerAdapter
        case .blocked(_, isHard: false): AdapterErrorDescription.Remedy.unblock
        case .blocked(_, isHard: true): AdapterErrorDescription.Remedy.switchOn
        case .notPermitted: "run as root, or as a service with AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW"
        case .refused: AdapterErrorDescription.Remedy.offAndOn
        case .unknownToKernel: AdapterErrorDescription.Remedy.newerKernel
        case .silent: AdapterErrorDescription.Remedy.plugInAgain
        case .system: AdapterErrorDescription.Remedy.kernelLog
        case .stream(.serialLine(let path, _), .permissionDenied): AdapterErrorDescription.Remedy.lineOwner(path)
        case .stream(.unixSocket, .permissionDenied): AdapterErrorDescription.Remedy.socketOwner
        case .stream(.serialLine, _): AdapterErrorDescription.Remedy.nameLine
        case .stream: AdapterErrorDescription.Remedy.startEmulator
        case .controller: AdapterErrorDescription.Remedy.startAnew
        }
    }
}

/// English messages about an adapter and about scanning; each message is defined only here.
///
/// Callers that build a translation table from these messages pass placeholders such as `{1}` as the arguments.
package enum AdapterErrorDescription {
    static func managementBroken(_ error: String) -> String { "the kernel's management channel failed: \(error)" }
    package static let noBluetooth = "this kernel has no Bluetooth support (AF_BLUETOOTH is unknown)"
    package static let noAdapter = "no Bluetooth adapter"
    package static let refusedByKernel = "permission denied by the kernel"
    package static let scanRefused = "not permitted to scan"
    package static let scanUnsupported = "the controller does not support scanning"
    package static let gone = "the adapter was lost"
    package static func noKeptAddress(_ name: String) -> String {
        "\(name) changes its address at each start, so bonds cannot be kept"
    }

    package static func notFound(_ selector: String, _ available: String) -> String {
        "no adapter \(selector); available: \(available)"
    }

    package static func noLowEnergy(_ name: String) -> String { "\(name) does not support Bluetooth Low Energy" }

    package static func softBlocked(_ name: String) -> String { "\(name) is blocked by rfkill (soft)" }

    package static func hardBlocked(_ name: String) -> String {
        "\(name) is blocked by a switch or the firmware (rfkill hard)"
    }

    package static func removed(_ name: String) -> String { "\(name) was removed" }

    package static func switchedOff(_ name: String) -> String { "\(name) was switched off" }

    package static func controllerError(_ name: String, _ code: UInt8) -> String {
        "\(name) reported a hardware error, code \(code)"
    }

    package static func nothingHeard(_ name: String) -> String {
        "nothing received for a long time: restarting \(name)"
    }

    package static func scanFailsAlways(_ name: String) -> String {
        "scanning fails repeatedly: restarting \(name)"
    }

    package static func endsNothing(_ name: String) -> String {
        "\(name) does not complete requests: restarting it"
    }

    package static func missingRights(_ capabilities: String) -> String { "not permitted: \(capabilities) missing" }

    package static func scanWithoutRights(_ capabilities: String) -> String {
        "\(scanRefused): \(capabilities) missing"
    }

    package static func refused(_ request: String, _ status: String) -> String {
        "the kernel refused \(request): \(status)"
    }

    package static func unknownToKernel(_ request: String) -> String { "this kernel does not support \(request)" }

    package static func silent(_ opcode: String) -> String { "the kernel did not answer \(opcode)" }

    package static func system(_ work: String, _ error: String) -> String { "cannot \(work): \(error)" }

    package static func noAddress(_ address: String) -> String { "h4:\(address) has no IPv4 address" }

    package static func noLine(_ path: String) -> String { "\(path) is not a serial port" }

    package static func stream(_ address: String, _ error: String) -> String { "cannot open h4:\(address): \(error)" }

    /// English messages with remedies.
    package enum Remedy {
        package static let loadModule =
            "load it with `modprobe bluetooth`, or use a kernel built with CONFIG_BT and CONFIG_BT_LE"
        package static let plugIn =
            "plug in an adapter; `dmesg | grep -i bluetooth` shows any that failed to start; a UART controller needs `btattach`"
        package static let plugBackIn = "plug it in again"
        package static let newerAdapter = "use a Bluetooth 4.0 or later adapter"
        package static let unblock = "unblock it with `rfkill unblock bluetooth`"
        package static let switchOn = "turn the switch on, or check the firmware settings"
        package static let kernelLog = "`dmesg` may show details"
        package static let offAndOn = "\(kernelLog); power-cycling the adapter often helps"
        package static let newerKernel = "use a newer kernel, or one with more features enabled"
        package static let plugInAgain = "the adapter may be stuck: unplug it and plug it in again"
        package static let socketOwner = "run as the user who created the socket, or as root"
        package static let nameLine = "specify the controller's serial port; `dmesg | grep tty` lists the ports"
        package static let startEmulator = "start the controller emulator first, and specify its address"
        package static let startAnew =
            "restart the controller: unplug it and plug it in again, or restart the emulator"
        package static let otherScan =
            "another program may be scanning; otherwise unplug the adapter and plug it in again"

        package static func powerOn(_ name: String) -> String {
            "blewedge powers it on again within 3 s; `btmgmt -i \(name) power on` does so immediately"
        }

        package static func lineOwner(_ path: String) -> String {
            "run as root, or as a member of the group that owns it (`ls -l \(path)`)"
        }
    }
}

/// The reason why an adapter in use was lost; the first value is the adapter's name, such as `hci0`.
package enum AdapterLoss: Equatable, Sendable {
    /// The adapter was unplugged, or its driver was unbound.
    case removed(String)
    /// The adapter was powered off, by another program or by rfkill.
    case switchedOff(String)
    /// The controller, or the connection to it, failed; the second value is the cause, in English.
    case failed(String, cause: String)

    package var name: String {
        switch self {
        case .removed(let name), .switchedOff(let name), .failed(let name, _): name
        }
    }

    /// The cause, in one English sentence.
    package var cause: String {
        switch self {
        case .removed(let name): AdapterErrorDescription.removed(name)
        case .switchedOff(let name): AdapterErrorDescription.switchedOff(name)
        case .failed(_, let cause): cause
        }
    }

    /// The remedy, in one English sentence; nil if none is known.
    var remedy: String? {
        switch self {
        case .removed: AdapterErrorDescription.Remedy.plugBackIn
        case .switchedOff(let name): AdapterErrorDescription.Remedy.powerOn(name)
        case .failed: nil
        }
    }

    /// The state of Bluetooth until the next attempt to open the adapter has finished.
    var state: BluetoothState {
        switch self {
        case .switchedOff: .poweredOff
        case .removed, .failed: .resetting
        }
    }
}
