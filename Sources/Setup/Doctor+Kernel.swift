// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
package import Texts

// The checks of what the kernel has.

extension Doctor {
    /// The findings of what the kernel lacks and nothing works without; all others about the radio would follow from them.
    static func needs(_ facts: SystemFacts) -> [Finding] {
        let needed: [KernelFeature] = facts.usesKernelController ? [.epoll, .management] : [.epoll]
        return needed.filter(facts.lacks).prefix(1).map { finding(.kernelUnfit, .unavailable, .blocks, [$0]) }
    }

    /// The known faults of this version of the kernel, and what it lacks and would be better with.
    static func kernel(_ facts: SystemFacts) -> [Finding] {
        // A finding of its own tells of event nodes.
        let missed = KernelFeature.allCases.filter { $0.weight == .missed && $0 != .evdev && facts.lacks($0) }
        var findings = missed.isEmpty ? [] : [finding(.kernelLacks, .success, .note, missed)]
        // The user channel and H4 do not use the kernel's channels.
        guard facts.usesKernelChannels, let version = facts.kernelVersion else { return findings }
        switch ChannelFault(version) {
        case .absent: break
        case .present: findings.append(Finding(.kernelQuirk, .unavailable, .hinders, of: version.text))
        case .unknown: findings.append(Finding(.kernelQuirkPossible, .success, .note, of: version.text))
        }
        return findings
    }

    private static func finding(
        _ cause: Finding.Cause,
        _ status: ExitStatus,
        _ severity: Finding.Severity,
        _ features: [KernelFeature]
    ) -> Finding {
        Finding(
            cause,
            status,
            severity,
            of: Message.list(features.map(\.rawValue)),
            Message.listed(features.map { $0.message() }),
            Message.list(features.map(\.since))
        )
    }

    /// The table of what the kernel has, a row a feature; empty where the kernel was not asked.
    package static func table(_ facts: SystemFacts) -> [JSONObject] {
        KernelFeature.allCases.compactMap { feature in facts.kernel[feature].map { feature.row($0) } }
    }
}
