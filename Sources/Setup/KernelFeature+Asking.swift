// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import BluetoothPackets
import LinuxIO
import SystemPackage

// The questions to the running kernel, all of them harmless.

extension KernelFeature {
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
