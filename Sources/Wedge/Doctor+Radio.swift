// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO

// From the kernel's Bluetooth to the adapter that is meant, and who else uses it.

extension Doctor {
    /// What keeps the radio from being used.
    static func radio(_ facts: SystemFacts) -> [Finding] {
        switch facts.sockets {
        case .unknown: return [withoutBluetooth(facts)]
        case .refused(let error):
            return [
                Finding(
                    .bluetoothRefused,
                    .permission,
                    what: "the kernel refuses Bluetooth sockets to this process: \(error)",
                    why: "without them no adapter can be used",
                    remedy:
                        "permit AF_BLUETOOTH in the service's RestrictAddressFamilies= and in the container's or security module's policy"
                )
            ]
        case .available: break
        }
        if let fault = facts.adapterFault {
            return [
                Finding(
                    .adapterUnreadable,
                    .unavailable,
                    what: "the kernel does not say which adapters there are: \(fault)",
                    why: "no adapter can be used of which nothing is known",
                    remedy: "unplug the adapter and plug it in again; the kernel's log may say more",
                    command: "dmesg | grep -i bluetooth"
                )
            ]
        }
        guard let adapter = facts.adapter else { return [absence(facts)] + otherServices(facts) }
        return state(of: adapter, facts) + otherServices(facts)
    }

    private static func withoutBluetooth(_ facts: SystemFacts) -> Finding {
        Finding(
            .kernelWithoutBluetooth,
            .unavailable,
            what: "this kernel has no Bluetooth (AF_BLUETOOTH is unknown)",
            why: "no adapter can be used, whatever is plugged in",
            remedy: "load the module; where there is none, use a kernel built with CONFIG_BT and CONFIG_BT_LE",
            command: "modprobe bluetooth"
        )
    }

    /// Why the adapter that is meant is not there.
    private static func absence(_ facts: SystemFacts) -> Finding {
        if facts.selector != .any, !facts.adapters.isEmpty {
            let names = facts.adapters.map { "\($0.name) (\($0.address))" }.joined(separator: ", ")
            return Finding(
                .adapterNotFound,
                .unavailable,
                what: "there is no adapter \(facts.selector); there is \(names)",
                why: "no other adapter is used than the one that is named",
                remedy: "name one of these, or none: `adapter` in the configuration, `--adapter` on the command line"
            )
        }
        if let taken = facts.takenControllers.first {
            return Finding(
                .adapterTaken,
                .unavailable,
                what: "another program has \(taken) to itself, or it waits for its configuration",
                why: "the kernel lets nobody else use an adapter that is taken as a whole (HCI user channel)",
                remedy: "end the program that has it: one of those that hold Bluetooth sockets",
                command: "ss --all --packet --processes 2>/dev/null; fuser --verbose /dev/vhci /dev/uhid"
            )
        }
        if let device = facts.serialControllers.first { return unattached(device) }
        return Finding(
            .noAdapter,
            .unavailable,
            what: "no Bluetooth adapter",
            why: "nothing can be heard without one",
            remedy:
                "plug one in; the kernel's log tells of one that did not start, mostly for want of its firmware file",
            command: "dmesg | grep -i -e bluetooth -e firmware"
        )
    }

    private static func unattached(_ device: SerialDevice) -> Finding {
        Finding(
            .uartNotAttached,
            .unavailable,
            what: "the Bluetooth controller behind the serial port \(device.name) (\(device.modalias)) "
                + (device.hasDriver ? "did not start" : "has no driver"),
            why: "a controller on a UART is no adapter until a driver has attached it",
            remedy: device.hasDriver
                ? "look in the kernel's log for a firmware file that is missing, and install it"
                : "load the driver; for a port that the kernel does not drive by itself, run `btattach` of BlueZ",
            command: device.hasDriver ? "dmesg | grep -i -e bluetooth -e firmware" : "modprobe hci_uart"
        )
    }

    /// What is wrong with an adapter that is there.
    private static func state(of adapter: SystemFacts.Adapter, _ facts: SystemFacts) -> [Finding] {
        if !adapter.hasLowEnergy {
            return [
                Finding(
                    .adapterWithoutLowEnergy,
                    .unavailable,
                    what: "\(adapter.name) has no Bluetooth Low Energy, or the kernel was built without it",
                    why: "the device speaks Low Energy only",
                    remedy: "use an adapter of Bluetooth 4.0 or later, and name it where there are several: `--adapter`"
                )
            ]
        }
        var findings: [Finding] = []
        if adapter.isHardBlocked {
            findings.append(
                Finding(
                    .rfkillHard,
                    .unavailable,
                    what: "\(adapter.name) is blocked by a switch or the firmware (rfkill hard)",
                    why: "the radio is silent, and no software can change that",
                    remedy: "turn the switch on, or look for it in the firmware's settings"
                )
            )
        }
        if adapter.isSoftBlocked {
            findings.append(
                Finding(
                    .rfkillSoft,
                    .unavailable,
                    what: "\(adapter.name) is blocked by rfkill (soft)",
                    why: "the kernel does not switch on an adapter that is blocked",
                    remedy: "unblock it; systemd-rfkill keeps that over a restart",
                    command: "rfkill unblock bluetooth"
                )
            )
        }
        // Without a daemon an adapter is off, and the first that needs it switches it on.
        if findings.isEmpty, !adapter.isPowered, case .running = facts.daemon {
            findings.append(
                Finding(
                    .adapterDown,
                    .unavailable,
                    what: "\(adapter.name) is switched off although the daemon runs",
                    why: "the daemon switches it on again every few seconds; somebody else switches it off",
                    remedy: "look who does: a power manager, a script with `hciconfig` or `btmgmt`, a network manager",
                    command: "btmon"
                )
            )
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
                what: "\(other.name) runs beside (process \(other.pid))",
                why:
                    "it scans, connects and switches the same adapter, and may take connections that are meant for others",
                remedy: "stop it where nothing else needs it, or give it another adapter",
                command: "systemctl disable --now bluetooth"
            )
        ]
    }

    /// What this process lacks, where it is to use the adapter itself.
    static func permissions(_ facts: SystemFacts) -> [Finding] {
        guard !facts.missingCapabilities.isEmpty else { return [] }
        let names = facts.missingCapabilities.map(\.rawValue).joined(separator: " and ")
        return [
            Finding(
                .capabilitiesMissing,
                .permission,
                what: "this process lacks \(names)",
                why: "CAP_NET_ADMIN switches the adapter on, CAP_NET_RAW scans",
                remedy: "run as root, install the service with `blewedge setup`, or grant it to the program",
                command: "setcap cap_net_admin,cap_net_raw+ep \"$(command -v blewedge)\""
            )
        ]
    }
}
