// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Keystrokes
import LinuxIO
import SystemPackage
import Wedge

/// One keyboard in the foreground, from the first scan to the printed account.
final class KeyboardRun {
    /// What is printed.
    enum Output {
        /// Progress, and the account at the end.
        case people
        /// Both as JSON lines.
        case json
        /// These, and how much was received.
        case events
    }

    private let loop: EventLoop
    private let settings: KeyboardSettings
    private let output: Output
    private let events: KeyboardEvents
    private let captureOptions: CaptureOptions
    private var service: KeyboardService?
    private var outcome: Result<ExitStatus, CommandFailure>?

    init(
        _ settings: KeyboardSettings,
        output: Output,
        hook: String?,
        capture: CaptureOptions
    ) throws(CommandFailure) {
        self.settings = settings
        self.output = output
        captureOptions = capture
        let loop: EventLoop
        do {
            loop = try EventLoop()
        } catch {
            throw CommandFailure(.internal, "cannot make an event loop: \(error)")
        }
        self.loop = loop
        let runner = try hook.map { command throws(CommandFailure) in try HookRunner(command, on: loop) }
        events = KeyboardEvents(isStream: output == .events, hook: runner, on: loop)
    }

    /// Runs until a signal comes; throws the exit status.
    func run() throws {
        // Before any thread is made, so that every thread leaves the signals to the loop.
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            // The second signal does not wait for the controller.
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
        if settings.adapter.needsCapabilities, !Capability.missing.isEmpty {
            throw CommandFailure(AdapterError.notPermitted(missing: Capability.missing))
        }
        let capture = try captureOptions.begin(on: loop, for: settings.adapter)
        defer { capture?.finish() }
        let service = try KeyboardService(settings, on: loop) { [unowned self] event in show(event) }
        service.capture = capture
        service.onReceived = { [unowned self] length in events.received(length) }
        self.service = service
        service.start { [unowned self] result in
            if case .failure(let error) = result { finish(.failure(CommandFailure(error))) }
        }
        try loop.run()
        printCounts(service.counts)
        if let status = try outcome?.get(), status != .success { throw status }
    }

    private func finish(_ result: Result<ExitStatus, CommandFailure>) {
        guard outcome == nil else { return }
        outcome = result
        if let service {
            service.stop { [unowned self] in events.finish { [unowned self] in loop.stop() } }
        } else {
            loop.stop()
        }
    }

    private func show(_ event: KeyboardService.Event) {
        switch event {
        case .keyboard(let node):
            if output != .people {
                var object = JSONObject()
                object.add("event", "keyboard")
                object.add("node", node)
                printEvent(object)
            } else {
                Console.note("the keyboard is \(node ?? "there, but the kernel has no evdev: `modprobe evdev`")")
            }
        case .state(let state, let device, let reason):
            defer { events.take(state, device, reason) }
            if output != .people {
                var object = JSONObject()
                object.add("event", "state")
                object.add("state", state.rawValue)
                object.add("device", "\(settings.device)")
                object.add("address", device.map { "\($0.address)" })
                object.add("addressType", device.map { "\($0.type)" })
                object.add("reason", reason)
                printEvent(object)
            } else {
                Console.note(Self.sentence(state, settings.device, reason))
            }
        case .keyboardFailed(let error):
            finish(.failure(CommandFailure(writingKeys: error)))
        }
    }

    private static func sentence(_ state: Session.State, _ device: DeviceChoice, _ reason: String?) -> String {
        let detail = reason.map { ": \($0)" } ?? ""
        return switch state {
        case .unselected: "no device is chosen"
        case .connecting: "looking for \(device)\(detail)"
        case .connected: "connected to \(device): typing what it sends"
        case .lost: "the link to \(device) was lost\(detail); trying again in 3 s"
        case .disconnected: "disconnected from \(device)"
        case .failed: "no connection to \(device)\(detail); trying again"
        case .unsupported: "\(device) is left alone\(detail)"
        case .bluetoothOff: "Bluetooth is off\(detail); waiting for it"
        case .unauthorized: "not permitted\(detail)"
        }
    }

    private func printCounts(_ counts: KeyboardService.Counts) {
        let bytes = counts.bytes
        if output != .people {
            var object = JSONObject()
            object.add("event", "counts")
            object.add("notifications", counts.notifications)
            for (name, count) in [
                ("received", bytes.received), ("typed", bytes.typed), ("discarded", bytes.discarded),
                ("rejected", bytes.rejected), ("gated", bytes.gated), ("lost", bytes.lost), ("waiting", bytes.waiting),
            ] { object.add(name, count) }
            for (name, count) in Self.causes(bytes) { object.add(name, count) }
            object.add("dropped", counts.dropped)
            object.add("stray", counts.strayValues)
            object.add("verified", counts.check?.verified)
            object.add("differing", counts.check?.differing)
            object.add("readerDropped", counts.check?.dropped)
            printLine(object.text)
        } else {
            let causes = Self.causes(bytes).filter { $0.count > 0 }.map { "\($0.name) \($0.count)" }
            printLine(
                "received \(bytes.received) bytes in \(counts.notifications) notifications: typed \(bytes.typed), "
                    + "discarded \(bytes.discarded), rejected \(bytes.rejected), gated \(bytes.gated), "
                    + "lost \(bytes.lost), waiting \(bytes.waiting)"
                    + (causes.isEmpty ? "" : " (\(causes.joined(separator: ", ")))")
                    + "; notifications dropped by the kernel: \(counts.dropped)"
            )
            if let check = counts.check {
                printLine(
                    "events read back: \(check.verified) as meant, \(check.differing) not as meant; "
                        + "the kernel dropped unread ones \(check.dropped) times"
                )
            }
        }
    }

    /// The bytes rejected and lost, by cause.
    private static func causes(_ bytes: Ledger.Snapshot) -> [(name: String, count: UInt64)] {
        Ledger.Rejection.allCases.map { ("\($0)", bytes.rejected($0)) }
            + Ledger.Loss.allCases.map { ("\($0)", bytes.lost($0)) }
    }

    /// Prints a line while the keyboard works: programs that asked for all events must not hold it up.
    private func printEvent(_ object: JSONObject) {
        if output == .events { events.print(object) } else { printLine(object.text) }
    }

    private func printLine(_ text: String) {
        do throws(Errno) {
            try StandardStream.output.write(text + "\n")
        } catch {
            // A reader that has gone does not stop a keyboard.
        }
    }
}
