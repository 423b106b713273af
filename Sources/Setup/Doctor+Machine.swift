// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import Keystrokes
import LinuxIO
import Texts
import Typing

// Checks of the kernel's Bluetooth, of the selected adapter, and of other programs that use the adapter.

extension Doctor {
    private static let kernelLog = "dmesg | grep -i bluetooth"
    private static let firmwareLog = "dmesg | grep -i -e bluetooth -e firmware"

    /// Returns the findings about faults that prevent the use of the radio.
    static func radio(_ facts: SystemFacts) -> [Finding] {
        // A controller on an H4 stream does not need the kernel's Bluetooth.
        guard facts.usesKernelController else { return [] }
        switch facts.sockets {
        case .unknown: return [Finding(.kernelWithoutBluetooth, .unavailable, command: "modprobe bluetooth")]
        case .refused(let error): return [Finding(.bluetoothRefused, .permission, of: error)]
        case .available: break
        }
        if let fault = facts.adapterFault {
            return [Finding(.adapterUnreadable, .unavailable, of: fault, command: kernelLog)]
        }
        // If the daemon uses the user channel or H4, the kernel does not manage its controller.
        if !facts.usesKernelChannels, case .running = facts.daemon { return otherServices(facts) }
        guard let adapter = facts.adapter else { return [absence(facts)] + otherServices(facts) }
        return state(of: adapter, facts) + otherServices(facts)
    }

    /// Returns the finding that the selected adapter does not exist.
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

    /// Returns the findings about an adapter that exists.
    private static func state(of adapter: SystemFacts.Adapter, _ facts: SystemFacts) -> [Finding] {
        if !adapter.hasLowEnergy { return [Finding(.adapterWithoutLowEnergy, .unavailable, of: adapter.name)] }
        var findings: [Finding] = []
        if adapter.isHardBlocked { findings.append(Finding(.rfkillHard, .unavailable, of: adapter.name)) }
        if adapter.isSoftBlocked {
            let command = "rfkill unblock bluetooth"
            findings.append(Finding(.rfkillSoft, .unavailable, of: adapter.name, command: command))
        }
        // If no daemon is running, the adapter may be off: the first program that needs it will switch it on.
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

    /// Returns the finding about this process's missing capabilities.
    ///
    /// Call it only if this process would use the adapter itself.
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

    // Checks of the virtual keyboard, and of the applications that read it.

    /// Returns the findings about faults that prevent creating a keyboard or reading its keys.
    static func keyboard(_ facts: SystemFacts) -> [Finding] {
        guard facts.usesKeyboard else { return [] }
        var findings: [Finding] = []
        switch facts.uinput {
        case .open: break
        case .missing(let module): findings.append(missing(module))
        // The service may have permissions that this process lacks.
        case .notPermitted where facts.actsItself:
            findings.append(
                Finding(.uinputNotPermitted, .permission, of: UInputDevice.path, command: "blewedge setup")
            )
        case .refused(let error) where facts.actsItself:
            findings.append(Finding(.uinputRefused, .permission, of: UInputDevice.path, error))
        case .notPermitted, .refused: break
        }
        if !facts.hasEventNodes {
            findings.append(Finding(.evdevMissing, .unavailable, .hinders, command: "modprobe evdev"))
        }
        if let node = facts.unreadableEventNode {
            findings.append(Finding(.eventNodeNotReadable, .permission, of: node, command: "blewedge setup"))
        }
        if facts.queue == .large, let evidence = facts.oldInputDriver {
            findings.append(Finding(.oldInputDriver, .success, .note, of: evidence))
        }
        return findings
    }

    private static func missing(_ module: ModuleState) -> Finding {
        let (remedy, command): (FindingPartText?, String?) =
            switch module {
            case .absent: (.withoutModule, nil)
            case .loaded: (.makeNode, "mknod \(UInputDevice.path) c 10 223")
            case .loadable, .unknown: (nil, "modprobe uinput")
            }
        return Finding(.uinputMissing, .unavailable, of: UInputDevice.path, remedy: remedy, command: command)
    }

    /// Returns the findings about the foreground terminal, which belongs to the console or to a desktop.
    static func readers(_ facts: SystemFacts) -> [Finding] {
        guard facts.usesKeyboard, let console = facts.console else { return [] }
        let name = "tty\(console.terminal)"
        if console.isGraphic {
            // A desktop reads event nodes, so the console behind it must not read the keys as well.
            guard console.keys.isText else { return [] }
            let command = "kbd_mode -f -s -C /dev/\(name)"
            return [Finding(.consoleLeaksKeys, .configuration, .hinders, of: name, command: command)]
        }
        guard console.keys.isText else {
            let mode: FindingPartText = console.keys == .off ? .off : .raw
            let command = "kbd_mode -f -u -C /dev/\(name)"
            return [
                Finding(.consoleIgnoresKeys, .configuration, .hinders, of: name, mode.message(), command: command)
            ]
        }
        var findings: [Finding] = []
        if let prompt = facts.loginPrompt {
            findings.append(
                Finding(
                    .loginPromptInFront,
                    .configuration,
                    .hinders,
                    of: prompt.name,
                    "\(prompt.pid)",
                    name,
                    command: "systemctl disable --now getty@\(name)"
                )
            )
        }
        if !facts.layoutDifferences.isEmpty { findings.append(otherLayout(facts, than: name)) }
        return findings
    }

    private static func otherLayout(_ facts: SystemFacts, than name: String) -> Finding {
        let examples = facts.layoutDifferences.prefix(3).map { difference in
            let meant = difference.meant.debugDescription
            return difference.given.map { FindingPartText.gives.message(meant, $0.debugDescription) }
                ?? FindingPartText.givesNothing.message(meant)
        }
        let more = facts.layoutDifferences.count - examples.count
        return Finding(
            .layoutDiffers,
            .configuration,
            .hinders,
            of: facts.layout,
            name,
            Message.listed(examples),
            more > 0 ? FindingPartText.more.message("\(more)") : Message(detail: "")
        )
    }
}
