// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import Texts
import Typing

// The checks of the virtual keyboard, and of the readers of its keys.

extension Doctor {
    /// The findings that prevent the creation of a keyboard, or the reading of its keys.
    static func keyboard(_ facts: SystemFacts) -> [Finding] {
        guard facts.usesKeyboard else { return [] }
        var findings: [Finding] = []
        switch facts.uinput {
        case .open: break
        case .missing(let module): findings.append(missing(module))
        // The service may have permissions that this process lacks.
        case .notPermitted where facts.actsItself:
            findings.append(
                Finding(
                    .uinputNotPermitted,
                    .permission,
                    of: UInputDevice.path,
                    command: "blewedge setup"
                )
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

    /// The findings about the reader in the foreground: the console or a desktop.
    static func readers(_ facts: SystemFacts) -> [Finding] {
        guard facts.usesKeyboard, let console = facts.console else { return [] }
        let name = "tty\(console.terminal)"
        if console.isGraphic {
            // A desktop reads event nodes, and the console beneath it must not read the keys as well.
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
