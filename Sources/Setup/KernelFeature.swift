// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import BluetoothPackets
import LinuxIO
import SystemPackage
package import Texts

/// A part of the kernel that is used where it exists: newer than 4.19, or optional in its configuration.
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
    // Options of its sockets.
    case socketDrops = "socket-drops"
    case packetDrops = "packet-drops"
    case packetTimes = "packet-times"
    // The event loop and processes.
    case epoll, timerfd, eventfd, signalfd, inotify, pidfd
    case systemCallFilter = "system-call-filter"
    // The keyboard and its readers.
    case uinput, evdev
    case virtualTerminals = "virtual-terminals"
    case rfkill

    /// What its absence is to the user.
    package enum Weight: Equatable, Sendable {
        /// Nothing works.
        case needed
        /// Something is less than it could be, and only another kernel mends it.
        case missed
        /// Something else does the same, or nobody has asked for it.
        case replaced
    }

    package enum State: Equatable, Sendable {
        case present
        /// It is not there; the error, in words, where there was one.
        case absent(String?)
        /// The kernel has not said; the error, in words, where there was one.
        case unknown(String?)

        package var word: String {
            switch self {
            case .present: "present"
            case .absent: "absent"
            case .unknown: "unknown"
            }
        }
    }

    /// The first kernel that has it, or the configuration's option that a kernel has to be built with.
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

    /// What its absence is to the user; of Bluetooth, uinput and evdev the doctor's other findings tell.
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

    /// The row of the table for programs: what it is, since when, whether it is there and, where not, what is done without.
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

    // The questions to the running kernel, all of them harmless.

    /// The management protocol's commands without which no adapter can be used.
    private static let adapterCommands: Set<ManagementOpcode> = [
        .readIndexList, .readControllerInformation, .setPowered, .setLowEnergy,
    ]
    /// Those without which no device can be paired.
    private static let pairingCommands: Set<ManagementOpcode> = [
        .setBondable, .loadLongTermKeys, .setIOCapability, .pairDevice, .cancelPairDevice, .unpairDevice,
        .userConfirmationReply, .userPasskeyReply, .loadIdentityResolvingKeys,
    ]

    /// Asks the kernel for every feature; what is known of sockets, uinput and event nodes is taken from the facts.
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

    /// Commands that are not in a list are absent where it is the whole list.
    private static func state(_ commands: Set<ManagementOpcode>, in support: SupportedManagement?) -> State {
        guard let support else { return .unknown(nil) }
        if support.commands.isSuperset(of: commands) { return .present }
        return support.isWhole ? .absent(nil) : .unknown(nil)
    }

    /// What the error of an option means: without Bluetooth there is no socket to ask.
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
