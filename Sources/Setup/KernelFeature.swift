// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import LinuxIO
import SystemPackage
package import Texts

/// Kernel feature that is used if it exists: newer than 4.19, or optional in the kernel's configuration.
package enum KernelFeature: String, CaseIterable, Sendable {
    // Bluetooth.
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
    // The event loop and processes.
    case epoll, timerfd, eventfd, signalfd, inotify, pidfd
    case systemCallFilter = "system-call-filter"
    // The keyboard and the applications that read it.
    case uinput, evdev
    case virtualTerminals = "virtual-terminals"
    case rfkill

    /// Severity of a feature's absence for the user.
    package enum Weight: Equatable, Sendable {
        /// Nothing works.
        case needed
        /// A function is degraded, and only another kernel fixes it.
        case missed
        /// There is a substitute, or the feature is not needed.
        case replaced
    }

    package enum State: Equatable, Sendable {
        case present
        /// The kernel lacks the feature; the error in words, if there was one.
        case absent(String?)
        /// The probe had no result; the error in words, if there was one.
        case unknown(String?)

        package var word: String {
            switch self {
            case .present: "present"
            case .absent: "absent"
            case .unknown: "unknown"
            }
        }
    }

    /// First kernel version with the feature, or the option that the kernel must be built with.
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

    /// Severity of the feature's absence; other findings of the doctor report Bluetooth, uinput and evdev.
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

    /// Returns the feature's row in the table for programs: the id, the first version, the state, and the effect of its
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

    // Probes of the running kernel, all of them harmless.

    /// Management commands without which no adapter can be used.
    private static let adapterCommands: Set<ManagementOpcode> = [
        .readIndexList, .readControllerInformation, .setPowered, .setLowEnergy,
    ]
    /// Management commands without which no device can be paired.
    private static let pairingCommands: Set<ManagementOpcode> = [
        .setBondable, .loadLongTermKeys, .setIOCapability, .pairDevice, .cancelPairDevice, .unpairDevice,
        .userConfirmationReply, .userPasskeyReply, .loadIdentityResolvingKeys,
    ]

    /// Probes the kernel for every feature; the states of sockets, uinput and event nodes come from the facts.
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

    /// Returns the state of commands; those missing from the list are absent only if the list is complete.
    private static func state(_ commands: Set<ManagementOpcode>, in support: SupportedManagement?) -> State {
        guard let support else { return .unknown(nil) }
        if support.commands.isSuperset(of: commands) { return .present }
        return support.isWhole ? .absent(nil) : .unknown(nil)
    }

    /// Returns the state that the error of a socket option shows: unknown if there are no Bluetooth sockets to probe.
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
