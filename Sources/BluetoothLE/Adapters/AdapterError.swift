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
        case .refused(let opcode, let status): self = .refused("\(opcode)", "\(status)")
        case .malformed(let error): self = .refused("an answer of the kernel", "\(error)")
        }
    }

    /// The cause, in one English sentence.
    package var cause: String {
        switch self {
        case .noBluetoothInKernel: "this kernel has no Bluetooth (AF_BLUETOOTH is unknown)"
        case .noAdapter: "no Bluetooth adapter"
        case .notFound(let selector, let available):
            "no adapter \(selector); there is \(available.joined(separator: ", "))"
        case .lowEnergyUnsupported(let name): "\(name) has no Bluetooth Low Energy"
        case .blocked(let name, isHard: false): "\(name) is blocked by rfkill (soft)"
        case .blocked(let name, isHard: true): "\(name) is blocked by a switch or the firmware (rfkill hard)"
        case .notPermitted(let missing):
            "not permitted: "
                + (missing.isEmpty
                    ? "the kernel refuses" : missing.map(\.rawValue).joined(separator: " and ") + " missing")
        case .refused(let what, let status): "the kernel refused \(what): \(status)"
        case .silent(let opcode): "the kernel did not answer \(opcode)"
        case .system(let what, let error): "cannot \(what): \(error)"
        case .stream(let address, .addressNotAvailable): "h4:\(address) has no IPv4 address"
        case .stream(.serialLine(let path, _), .inappropriateIOCTLForDevice): "\(path) is no serial line"
        case .stream(let address, let error): "cannot open h4:\(address): \(error)"
        case .controller(let what): what
        }
    }

    /// The remedy, in one English sentence.
    package var remedy: String {
        switch self {
        case .noBluetoothInKernel:
            "load it with `modprobe bluetooth`, or use a kernel built with CONFIG_BT and CONFIG_BT_LE"
        case .noAdapter:
            "plug one in; `dmesg | grep -i bluetooth` tells of one that did not start, and a UART controller needs `btattach`"
        case .notFound: "name one of these with --adapter"
        case .lowEnergyUnsupported: "use an adapter of Bluetooth 4.0 or later"
        case .blocked(_, isHard: false): "unblock it with `rfkill unblock bluetooth`"
        case .blocked(_, isHard: true): "turn the switch on, or look for it in the firmware's settings"
        case .notPermitted:
            "run as root, or grant it with `setcap cap_net_admin,cap_net_raw+ep` on the blewedge binary"
        case .refused: "`dmesg` may say more; switching the adapter off and on often helps"
        case .silent: "the adapter may hang: unplug it and plug it in again"
        case .system: "`dmesg` may say more"
        case .stream(.serialLine(let path, _), .permissionDenied):
            "run as root, or as a member of the group that owns it (`ls -l \(path)`)"
        case .stream(.unixSocket, .permissionDenied): "run as the user who made the socket, or as root"
        case .stream(.serialLine, _): "name the line that the controller is at; `dmesg | grep tty` lists them"
        case .stream: "start what emulates the controller first, and name where it listens"
        case .controller: "start the controller anew: unplug it and plug it in again, or restart what emulates it"
        }
    }
}
