// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
package import Texts

/// One cause for which nothing is typed, or may one day not be: what it is, why it matters, and what mends it.
package struct Finding: Equatable, Sendable {
    /// How bad it is.
    package enum Severity: String, Sendable, CaseIterable {
        /// Nothing is typed until it is mended.
        case blocks
        /// What is typed may go wrong, or be lost.
        case hinders
        /// Worth knowing; the exit status does not speak of it.
        case note
    }

    /// Which cause, by a name that stays the same for scripts.
    package enum Cause: String, Sendable, CaseIterable {
        // The radio.
        case kernelWithoutBluetooth = "kernel-without-bluetooth"
        case bluetoothRefused = "bluetooth-refused"
        case noAdapter = "no-adapter"
        case uartNotAttached = "uart-not-attached"
        case adapterTaken = "adapter-taken"
        case adapterNotFound = "adapter-not-found"
        case adapterWithoutLowEnergy = "adapter-without-low-energy"
        case rfkillHard = "rfkill-hard"
        case rfkillSoft = "rfkill-soft"
        case adapterDown = "adapter-down"
        case adapterUnreadable = "adapter-unreadable"
        case otherBluetoothService = "other-bluetooth-service"
        // What this process or the service may do.
        case capabilitiesMissing = "capabilities-missing"
        // The keyboard.
        case uinputMissing = "uinput-missing"
        case uinputNotPermitted = "uinput-not-permitted"
        case uinputRefused = "uinput-refused"
        case evdevMissing = "evdev-missing"
        case eventNodeNotReadable = "event-node-not-readable"
        // What is asked for.
        case configurationWrong = "configuration-wrong"
        case selectionUnreadable = "selection-unreadable"
        case nothingSelected = "nothing-selected"
        // The daemon.
        case daemonSilent = "daemon-silent"
        case daemonNotAskable = "daemon-not-askable"
        case daemonNotRunning = "daemon-not-running"
        case daemonOff = "daemon-bluetooth-off"
        case daemonUnauthorized = "daemon-unauthorized"
        case deviceUnsupported = "device-unsupported"
        case deviceNotReached = "device-not-reached"
        case linkLost = "link-lost"
        case disconnectedByUser = "disconnected-by-user"
        case paused
        case allDiscarded = "all-discarded"
        case bytesLost = "bytes-lost"
        // Who reads the keys.
        case consoleIgnoresKeys = "console-ignores-keys"
        case consoleLeaksKeys = "console-leaks-keys"
        case loginPromptInFront = "login-prompt-in-front"
        case layoutDiffers = "layout-differs-from-console"
        // The kernel's own faults.
        case kernelQuirk = "kernel-quirk"
    }

    /// Which cause.
    package var cause: Cause
    /// How bad it is.
    package var severity: Severity
    /// What a command that meets it ends with (D-10).
    package var status: ExitStatus
    /// What is wrong, in one sentence.
    package var what: Message
    /// Why it matters, in one sentence.
    package var why: Message
    /// What mends it, in one sentence.
    package var remedy: Message
    /// The command for a shell that does so; nil where a hand or an eye is needed.
    package var command: String?

    /// A finding with the texts of its cause, told of `arguments`; `remedy` is another one than the cause's.
    package init(
        _ cause: Cause,
        _ status: ExitStatus,
        _ severity: Severity = .blocks,
        of arguments: any MessageArgument...,
        remedy: FindingPartText? = nil,
        command: String? = nil
    ) {
        self.cause = cause
        self.severity = severity
        self.status = status
        let text = cause.text
        what = Message(text.what, id: nil, arguments)
        why = Message(text.why, id: nil, arguments)
        self.remedy = remedy?.message() ?? Message(text.remedy, id: nil, arguments)
        self.command = command
    }

    /// The finding for programs, in English.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("id", cause.rawValue)
        object.add("severity", severity.rawValue)
        object.add("status", status.rawValue)
        object.add("what", what)
        object.add("why", why)
        object.add("remedy", remedy)
        object.add("command", command)
        return object
    }

    /// The finding for people: four lines at most, each ended; nothing in them acts on a terminal.
    package func text(_ language: Language) -> String {
        var lines = [
            "\(severity.text(language)): \(what.text(language)) [\(cause.rawValue)]",
            NoteText.why.text(language, why.text(language)),
            NoteText.toMend.text(language, remedy.text(language)),
        ]
        if let command { lines.append("    \(command)") }
        return lines.map { LocalName.printable($0) + "\n" }.joined()
    }
}
