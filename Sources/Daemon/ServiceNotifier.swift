// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
package import LinuxIO
import SystemPackage

/// Notifier of the service manager: readiness, state, and watchdog keep-alives.
///
/// Keep-alives are sent only while the program makes progress: by a timer of the event loop, and only if the last `ask`
/// was answered. Use this type on the loop's thread. See sd_notify(3) and sd_watchdog_enabled(3).
package final class ServiceNotifier {
    private let loop: EventLoop
    private var socket: NotifySocket?
    private let interval: Duration?
    private let timer = LoopTimer()
    private var status: String?

    /// Creates a notifier for the manager of this process; if there is no manager, nothing is sent.
    package convenience init(on loop: EventLoop) {
        let number = ProcessFacts.environment("WATCHDOG_PID").flatMap { Int32($0) }
        let isMeant = number == nil || number == ProcessFacts.number
        self.init(
            socket: ProcessFacts.environment("NOTIFY_SOCKET"),
            watchdog: isMeant ? ProcessFacts.environment("WATCHDOG_USEC").flatMap { Int64($0) } : nil,
            on: loop
        )
    }

    /// Creates a notifier for the manager that listens at `path` and expects a keep-alive every `watchdog`
    /// microseconds.
    package init(socket path: String?, watchdog microseconds: Int64?, on loop: EventLoop) {
        self.loop = loop
        if let path { socket = try? NotifySocket(path) } else { socket = nil }
        // Use half of the time, as recommended by sd_watchdog_enabled(3): a shorter interval would wake both threads
        // more often.
        interval = microseconds.flatMap { $0 > 0 ? .microseconds($0 / 2) : nil }
    }

    /// Reports that the daemon is ready, which also counts as a keep-alive.
    package func ready() { socket?.send("READY=1" + life) }

    package func stopping() { end("STOPPING=1") }

    /// Reports that the daemon restarts in the same process; the new daemon then reports that it is ready.
    ///
    /// If a stop were reported instead, the manager would eventually kill the process. The report also counts as a
    /// keep-alive, so that the new program has the full time until the next one; otherwise, the manager would take a
    /// few consecutive reloads for a hang.
    package func reloading() { end("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.nanoseconds / 1000)" + life) }

    private var life: String { interval == nil ? "" : "\nWATCHDOG=1" }

    private func end(_ text: String) {
        timer.cancel()
        socket?.send(text)
    }

    package func tell(_ text: String) {
        // Remove line feeds, because a line feed would begin another assignment.
        let line = LocalName.printable(text)
        guard line != status else { return }
        status = line
        socket?.send("STATUS=\(line)")
    }

    /// Starts sending keep-alives, as long as `hasAnswered` returns true for the last `ask`.
    package func watch(hasAnswered: @escaping () -> Bool, ask: @escaping () -> Void) {
        guard let interval, socket != nil else { return }
        ask()
        arm(interval, hasAnswered, ask)
    }

    private func arm(_ interval: Duration, _ hasAnswered: @escaping () -> Bool, _ ask: @escaping () -> Void) {
        timer.set(on: loop, after: interval) { [unowned self] in
            if hasAnswered() {
                socket?.send("WATCHDOG=1")
                ask()
            }
            arm(interval, hasAnswered, ask)
        }
    }
}
