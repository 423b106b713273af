// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

// The virtual keyboard, and who reads what it types.

extension Doctor {
    /// What keeps a keyboard from being made, or its keys from being read.
    static func keyboard(_ facts: SystemFacts) -> [Finding] {
        var findings: [Finding] = []
        switch facts.uinput {
        case .open: break
        case .missing(let module): findings.append(missing(module))
        // What this process may not, the service may.
        case .notPermitted where facts.actsItself:
            findings.append(
                Finding(
                    .uinputNotPermitted,
                    .permission,
                    what: "this process may not open \(UInputDevice.path)",
                    why: "the keyboard is made there",
                    remedy:
                        "run as root, or install the rule for the group `blewedge` with `blewedge setup`, join it and log in again",
                    command: "usermod --append --groups blewedge \"$USER\""
                )
            )
        case .refused(let error) where facts.actsItself:
            findings.append(
                Finding(
                    .uinputRefused,
                    .permission,
                    what: "\(UInputDevice.path) cannot be opened: \(error)",
                    why: "the keyboard is made there",
                    remedy: "permit it in the service's DeviceAllow= and in the container's or security module's policy"
                )
            )
        case .notPermitted, .refused: break
        }
        if !facts.hasEventNodes {
            findings.append(
                Finding(
                    .evdevMissing,
                    .unavailable,
                    .hinders,
                    what: "the kernel makes no event nodes for keyboards (no evdev)",
                    why: "text consoles get the keys, but no desktop and no other program can read them",
                    remedy: "load the module; `blewedge setup` has it loaded at every start",
                    command: "modprobe evdev"
                )
            )
        }
        if let node = facts.unreadableEventNode {
            findings.append(
                Finding(
                    .eventNodeNotReadable,
                    .permission,
                    what: "the keyboard's own event node \(node) cannot be read",
                    why: "`verify` compares what arrives there with what was meant",
                    remedy: "install the rule for it with `blewedge setup`, run as root, or do without `verify`",
                    command: "blewedge setup"
                )
            )
        }
        return findings
    }

    private static func missing(_ module: ModuleState) -> Finding {
        let remedy =
            switch module {
            case .absent: "use a kernel built with CONFIG_INPUT_UINPUT: this one has no module `uinput`"
            case .loaded: "make the node: the kernel's part is there, but devtmpfs or udev is not"
            case .loadable, .unknown: "load the module; `blewedge setup` has it loaded at every start"
            }
        let command: String? =
            switch module {
            case .absent: nil
            case .loaded: "mknod \(UInputDevice.path) c 10 223"
            case .loadable, .unknown: "modprobe uinput"
            }
        return Finding(
            .uinputMissing,
            .unavailable,
            what: "there is no \(UInputDevice.path), or no module behind it",
            why: "the keyboard is made there",
            remedy: remedy,
            command: command
        )
    }

    /// What the reader in front makes of the keys.
    static func readers(_ facts: SystemFacts) -> [Finding] {
        guard let console = facts.console else { return [] }
        let name = "tty\(console.terminal)"
        if console.isGraphic {
            // A desktop reads event nodes, and the console beneath it must not read them too.
            guard console.keys.isText else { return [] }
            return [
                Finding(
                    .consoleLeaksKeys,
                    .configuration,
                    .hinders,
                    what: "a program draws on \(name), and the console beneath it takes keys, too",
                    why: "what is typed goes to a shell or login prompt that nobody sees",
                    remedy: "let the program mute the console (K_OFF), or give it a terminal where nothing else runs",
                    command: "kbd_mode -f -s -C /dev/\(name)"
                )
            ]
        }
        guard console.keys.isText else {
            return [
                Finding(
                    .consoleIgnoresKeys,
                    .configuration,
                    .hinders,
                    what: "\(name) shows text, and its keyboard is \(console.keys == .off ? "off" : "in raw mode")",
                    why:
                        "programs on it get no text of what is typed; often a graphical program has ended without tidying up",
                    remedy: "set its keyboard to Unicode",
                    command: "kbd_mode -f -u -C /dev/\(name)"
                )
            ]
        }
        var findings: [Finding] = []
        if let prompt = facts.loginPrompt {
            findings.append(
                Finding(
                    .loginPromptInFront,
                    .configuration,
                    .hinders,
                    what: "\(prompt.name) (process \(prompt.pid)) asks for a login on \(name), which is in front",
                    why: "what is typed is taken for a name or a password",
                    remedy: "log in there, bring the program's terminal to the front, or turn the prompt off",
                    command: "systemctl disable --now getty@\(name)"
                )
            )
        }
        if !facts.layoutDifferences.isEmpty {
            let examples = facts.layoutDifferences.prefix(3).map { difference in
                let given = difference.given.map { "gives \($0.debugDescription)" } ?? "gives nothing"
                return "\(difference.meant.debugDescription) \(given)"
            }
            findings.append(
                Finding(
                    .layoutDiffers,
                    .configuration,
                    .hinders,
                    what: "layout \(facts.layout) is not that of \(name): \(examples.joined(separator: ", "))"
                        + (facts.layoutDifferences.count > 3 ? ", and \(facts.layoutDifferences.count - 3) more" : ""),
                    why: "other characters come out than the device sent",
                    remedy:
                        "type with the console's own map: `layout = \"console\"` in the configuration, `--layout console` for `run`"
                )
            )
        }
        return findings
    }
}
