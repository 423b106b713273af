// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import LinuxIO
import SystemPackage
package import Texts

/// A kernel feature that is used if it exists.
///
/// It is newer than Linux 4.19, or optional in the kernel's configuration.
package enum KernelFeature: String, CaseIterable, Sendable {
    // Bluetooth features.
    case bluetooth
    case management = "mgmt"
    case stopDiscovery = "mgmt-stop-discovery"
    case connectionParameters = "mgmt-connection-parameters"
    case connectionInformation = "mgmt-connection-information"
    case connections = "mgmt-connections"
    case pairing = "mgmt-pairing"
    case resume = "mgmt-resume"
    // Options of Bluetooth sockets.
    case socketDrops = "socket-drops"
    case packetDrops = "packet-drops"
    case packetTimes = "packet-times"
    // Features for the event loop and for processes.
    case epoll, timerfd, eventfd, signalfd, inotify, pidfd
    case systemCallFilter = "system-call-filter"
    // Features for the keyboard and the applications that read it.
    case uinput, evdev
    case virtualTerminals = "virtual-terminals"
    case rfkill

    /// Severity of the effect on the user if the kernel lacks the feature.
    package enum Weight: Equatable, Sendable {
        /// The program does not work at all.
        case needed
        /// A function is degraded, and only another kernel can fix that.
        case missed
        /// A substitute is used, or the feature is not needed.
        case replaced
    }

    package enum State: Equatable, Sendable {
        case present
        /// The kernel lacks the feature; the value describes the error, if there was one.
        case absent(String?)
        /// The probe was inconclusive; the value describes the error, if there was one.
        case unknown(String?)

        package var word: String {
            switch self {
            case .present: "present"
            case .absent: "absent"
            case .unknown: "unknown"
            }
        }
    }

    /// First kernel version with the feature, or the option with which the kernel must be built.
    package var since: String {
        switch self {
        case .bluetooth: "CONFIG_BT"
        case .management, .stopDiscovery, .connections: "3.4"
        case .connectionInformation: "3.16"
        case .connectionParameters: "3.17"
        case .pairing: "3.14"
        case .resume: "5.10"
        case .socketDrops: "4.12"
        case .packetDrops: "2.6.33"
        case .packetTimes: "5.1 on 32 bits"
        case .epoll: "CONFIG_EPOLL"
        case .timerfd: "CONFIG_TIMERFD"
        case .eventfd: "CONFIG_EVENTFD"
        case .signalfd: "CONFIG_SIGNALFD"
        case .inotify: "CONFIG_INOTIFY_USER"
        case .pidfd: "5.3"
        case .systemCallFilter: "CONFIG_SECCOMP_FILTER"
        case .uinput: "CONFIG_INPUT_UINPUT"
        case .evdev: "CONFIG_INPUT_EVDEV"
        case .virtualTerminals: "CONFIG_VT"
        case .rfkill: "CONFIG_RFKILL"
        }
    }

    /// Severity of the effect if the kernel lacks the feature.
    ///
    /// Other findings report that Bluetooth, uinput or evdev is missing.
    package var weight: Weight {
        switch self {
        case .bluetooth, .management, .epoll, .uinput: .needed
        case .pairing, .socketDrops, .packetDrops, .systemCallFilter, .evdev: .missed
        case .stopDiscovery, .connectionParameters, .connectionInformation, .connections, .resume, .packetTimes,
            .timerfd,
            .eventfd, .signalfd, .inotify, .pidfd, .virtualTerminals, .rfkill:
            .replaced
        }
    }

    /// Returns the feature's row in the table for programs.
    ///
    /// It contains the feature's identifier, the first version with the feature, the state, and the effect of its
    /// absence.
    package func row(_ state: State) -> JSONObject {
        var object = JSONObject()
        object.add("id", rawValue)
        object.add("since", since)
        object.add("state", state.word)
        switch state {
        case .present: return object
        case .absent(let error), .unknown(let error): object.add("error", error)
        }
        if case .absent = state { object.add("without", texts.english) }
        return object
    }

    // Probes of the running kernel, none of which changes anything.

    /// Management commands that are necessary for using an adapter.
    private static let adapterCommands: Set<ManagementOpcode> = [
        .readIndexList, .readControllerInformation, .setPowered, .setLowEnergy,
    ]
    /// Management commands that are necessary for pairing a device.
    private static let pairingCommands: Set<ManagementOpcode> = [
        .setBondable, .loadLongTermKeys, .setIOCapability, .pairDevice, .cancelPairDevice, .unpairDevice,
        .userConfirmationReply, .userPasskeyReply, .loadIdentityResolvingKeys,
    ]

    /// Probes the kernel for every feature.
    ///
    /// The states of sockets, uinput and event nodes are taken from the facts.
    static func ask(_ facts: SystemFacts, sysfs: String) -> [KernelFeature: State] {
        let support = facts.sockets == .available ? try? ManagementSurvey.take() : nil
        return Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.state(facts, support, sysfs: sysfs)) })
    }

    private func state(_ facts: SystemFacts, _ support: SupportedManagement?, sysfs: String) -> State {
        switch self {
        case .bluetooth:
            switch facts.sockets {
            case .available: .present
            case .unknown: .absent(nil)
            case .refused(let error): .unknown(error)
            }
        case .management: Self.state(Self.adapterCommands, in: support)
        case .stopDiscovery: Self.state([.stopDiscovery], in: support)
        case .connectionParameters: Self.state([.loadConnectionParameters], in: support)
        case .connectionInformation: Self.state([.getConnectionInformation], in: support)
        case .connections: Self.state([.getConnections], in: support)
        case .pairing: Self.state(Self.pairingCommands, in: support)
        case .resume: resumeState(support)
        case .socketDrops: Self.state(KernelProbe.fault(of: .memory), facts)
        case .packetDrops: Self.state(KernelProbe.fault(of: .overflow), facts)
        case .packetTimes: Self.state(KernelProbe.fault(of: .times), facts)
        case .epoll: Self.state(KernelProbe.fault(of: .epoll))
        case .timerfd: Self.state(KernelProbe.fault(of: .timer))
        case .eventfd: Self.state(KernelProbe.fault(of: .eventCount))
        case .signalfd: Self.state(KernelProbe.fault(of: .signals))
        case .inotify: Self.state(KernelProbe.fault(of: .directoryChanges))
        case .pidfd: Self.state(KernelProbe.fault(of: .processDescriptor))
        case .systemCallFilter: Self.state(KernelProbe.fault(of: .systemCallFilter))
        case .uinput:
            switch facts.uinput {
            case .open: .present
            case .missing: .absent(nil)
            case .notPermitted: .unknown("\(Errno.permissionDenied)")
            case .refused(let error): .unknown(error)
            }
        case .evdev: facts.hasEventNodes ? .present : .absent(nil)
        case .virtualTerminals: FileSystem.exists("\(sysfs)/class/tty/tty0/active") ? .present : .absent(nil)
        case .rfkill: FileSystem.exists("\(sysfs)/class/rfkill") ? .present : .absent(nil)
        }
    }

    private func resumeState(_ support: SupportedManagement?) -> State {
        guard let support else { return .unknown(nil) }
        if support.events.contains(SupportedManagement.controllerResume) { return .present }
        return support.isWhole ? .absent(nil) : .unknown(nil)
    }

    /// Returns the state of several management commands together.
    ///
    /// If one is not in the kernel's list, they count as absent only if the list is complete.
    private static func state(_ commands: Set<ManagementOpcode>, in support: SupportedManagement?) -> State {
        guard let support else { return .unknown(nil) }
        if support.commands.isSuperset(of: commands) { return .present }
        return support.isWhole ? .absent(nil) : .unknown(nil)
    }

    /// Returns the state that follows from the error that a socket option has caused.
    ///
    /// The state is unknown if Bluetooth sockets are not available.
    private static func state(_ error: Errno?, _ facts: SystemFacts) -> State {
        facts.sockets == .available ? state(error) : .unknown(nil)
    }

    private static func state(_ error: Errno?) -> State {
        switch error {
        case nil: .present
        case .noFunction?, .invalidArgument?, .protocolNotAvailable?, .notSupported?: .absent(error.map { "\($0)" })
        default: .unknown(error.map { "\($0)" })
        }
    }
}
