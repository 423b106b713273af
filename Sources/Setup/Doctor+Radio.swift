// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import Texts

// The checks from the kernel's Bluetooth to the selected adapter, and of other programs that use it.

extension Doctor {
    private static let kernelLog = "dmesg | grep -i bluetooth"
    private static let firmwareLog = "dmesg | grep -i -e bluetooth -e firmware"

    /// The findings that prevent the use of the radio.
    static func radio(_ facts: SystemFacts) -> [Finding] {
        // A controller on an H4 stream needs nothing of the kernel's Bluetooth.
        guard facts.usesKernelController else { return [] }
        switch facts.sockets {
        case .unknown: return [Finding(.kernelWithoutBluetooth, .unavailable, command: "modprobe bluetooth")]
        case .refused(let error): return [Finding(.bluetoothRefused, .permission, of: error)]
        case .available: break
        }
        if let fault = facts.adapterFault {
            return [Finding(.adapterUnreadable, .unavailable, of: fault, command: kernelLog)]
        }
        // The daemon's own controller, over the user channel or H4, is not the kernel's.
        if !facts.usesKernelChannels, case .running = facts.daemon { return otherServices(facts) }
        guard let adapter = facts.adapter else { return [absence(facts)] + otherServices(facts) }
        return state(of: adapter, facts) + otherServices(facts)
    }

    /// The reason for which the selected adapter does not exist.
    private static func absence(_ facts: SystemFacts) -> Finding {
        if facts.selector != .any, !facts.adapters.isEmpty {
            let names = facts.adapters.map { "\($0.name) (\($0.address))" }.joined(separator: ", ")
            return Finding(.adapterNotFound, .unavailable, of: "\(facts.selector)", names)
        }
        if let taken = facts.takenControllers.first {
            let command = "ss --all --packet --processes 2>/dev/null; fuser --verbose /dev/vhci /dev/uhid"
            return Finding(.adapterTaken, .unavailable, of: taken, command: command)
        }
        if let device = facts.serialControllers.first { return unattached(device) }
        return Finding(.noAdapter, .unavailable, command: firmwareLog)
    }

    private static func unattached(_ device: SerialDevice) -> Finding {
        let state: FindingPartText = device.hasDriver ? .notStarted : .withoutDriver
        return Finding(
            .uartNotAttached,
            .unavailable,
            of: device.name,
            device.modalias,
            state.message(),
            remedy: device.hasDriver ? nil : .loadSerialDriver,
            command: device.hasDriver ? firmwareLog : "modprobe hci_uart"
        )
    }

    /// The faults of an adapter that exists.
    private static func state(of adapter: SystemFacts.Adapter, _ facts: SystemFacts) -> [Finding] {
        if !adapter.hasLowEnergy { return [Finding(.adapterWithoutLowEnergy, .unavailable, of: adapter.name)] }
        var findings: [Finding] = []
        if adapter.isHardBlocked { findings.append(Finding(.rfkillHard, .unavailable, of: adapter.name)) }
        if adapter.isSoftBlocked {
            let command = "rfkill unblock bluetooth"
            findings.append(Finding(.rfkillSoft, .unavailable, of: adapter.name, command: command))
        }
        // Without a daemon an adapter is off; the first program that needs it switches it on.
        if findings.isEmpty, !adapter.isPowered, case .running = facts.daemon {
            findings.append(Finding(.adapterDown, .unavailable, of: adapter.name, command: "btmon"))
        }
        return findings
    }

    private static func otherServices(_ facts: SystemFacts) -> [Finding] {
        guard let other = facts.otherServices.first else { return [] }
        return [
            Finding(
                .otherBluetoothService,
                .unavailable,
                .hinders,
                of: other.name,
                "\(other.pid)",
                command: "systemctl disable --now bluetooth"
            )
        ]
    }

    /// The capabilities that this process lacks.
    ///
    /// The check applies if it would use the adapter itself.
    static func permissions(_ facts: SystemFacts) -> [Finding] {
        guard !facts.missingCapabilities.isEmpty else { return [] }
        return [
            Finding(
                .capabilitiesMissing,
                .permission,
                of: Message.list(facts.missingCapabilities.map(\.rawValue)),
                command: "blewedge setup"
            )
        ]
    }
}
