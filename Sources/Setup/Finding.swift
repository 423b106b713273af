// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
package import Texts

/// The reason why nothing is typed, or why typing may fail.
///
/// It consists of the fault, its effect, and its remedy.
package struct Finding: Equatable, Sendable {
    package enum Severity: String, Sendable, CaseIterable {
        /// Nothing is typed until the fault is repaired.
        case blocks
        /// Characters may be wrong or lost.
        case hinders
        /// Information only; it does not change the exit status.
        case note
    }

    /// Stable identifier of the cause, for use in scripts.
    package enum Cause: String, Sendable, CaseIterable {
        // Findings about the radio.
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
        // Findings about the permissions of this process or of the service.
        case capabilitiesMissing = "capabilities-missing"
        // Findings about the keyboard.
        case uinputMissing = "uinput-missing"
        case uinputNotPermitted = "uinput-not-permitted"
        case uinputRefused = "uinput-refused"
        case evdevMissing = "evdev-missing"
        case eventNodeNotReadable = "event-node-not-readable"
        case oldInputDriver = "old-input-driver"
        // Findings about the configuration and the selected device.
        case configurationWrong = "configuration-wrong"
        case selectionUnreadable = "selection-unreadable"
        case nothingSelected = "nothing-selected"
        case legacyBond = "legacy-bond"
        // Findings about the daemon.
        case daemonSilent = "daemon-silent"
        case daemonNotAskable = "daemon-not-askable"
        case daemonNotRunning = "daemon-not-running"
        case daemonOff = "daemon-bluetooth-off"
        case daemonUnauthorized = "daemon-unauthorized"
        case deviceUnsupported = "device-unsupported"
        case deviceNotReached = "device-not-reached"
        case deviceNotPaired = "device-not-paired"
        case keyboardSilent = "keyboard-silent"
        case keyboardRefusesKeys = "keyboard-refuses-keys"
        case linkLost = "link-lost"
        case disconnectedByUser = "disconnected-by-user"
        case paused
        case allDiscarded = "all-discarded"
        case bytesLost = "bytes-lost"
        case valuesBeforeEncryption = "values-before-encryption"
        case keysBeyondText = "keys-beyond-text"
        // Findings about beacons.
        case beaconsWithoutRegions = "beacons-without-regions"
        case beaconsUnavailable = "beacons-unavailable"
        case beaconNotAdvertised = "beacon-not-advertised"
        case noBeaconNear = "no-beacon-near"
        // Findings about the applications that read the keys.
        case consoleIgnoresKeys = "console-ignores-keys"
        case consoleLeaksKeys = "console-leaks-keys"
        case loginPromptInFront = "login-prompt-in-front"
        case layoutDiffers = "layout-differs-from-console"
        // Findings about faults of the kernel.
        case kernelUnfit = "kernel-unfit"
        case kernelLacks = "kernel-lacks"
        case kernelQuirk = "kernel-quirk"
        case kernelQuirkPossible = "kernel-quirk-possible"
    }

    package var cause: Cause
    package var severity: Severity
    /// Exit status of a command that reports this finding (D-10).
    package var status: ExitStatus
    /// Fault, in one sentence.
    package var what: Message
    /// Effect of the fault, in one sentence.
    package var why: Message
    /// Remedy, in one sentence.
    package var remedy: Message
    package var command: String?

    /// Creates a finding from the texts for its cause and from their arguments.
    ///
    /// `remedy` replaces the remedy from these texts.
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

    /// Finding as a JSON object for programs, in English.
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

    /// Returns the finding as text: at most four lines, each with a line feed, without terminal control characters.
    package func text(_ language: Language) -> String {
        var lines = [
            "\(severity.text(language)): \(what.text(language)) [\(cause.rawValue)]",
            LogText.why.text(language, why.text(language)),
            LogText.toMend.text(language, remedy.text(language)),
        ]
        if let command { lines.append("    \(command)") }
        return lines.map { LocalName.printable($0) + "\n" }.joined()
    }
}
