// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
package import LinuxIO
import SystemPackage

/// Tells the service manager that the daemon is ready, how it stands, and that it still works.
///
/// The watchdog is fed by progress only: by this loop's timer, and then only if whoever `ask` asked has answered. To be
/// used on the loop's thread. sd_notify(3), sd_watchdog_enabled(3).
package final class ServiceNotifier {
    private let loop: EventLoop
    private var socket: NotifySocket?
    private let interval: Duration?
    private let timer = LoopTimer()
    private var status: String?

    /// A notifier for this process's manager; silent where it has none.
    package convenience init(on loop: EventLoop) {
        let number = ProcessFacts.environment("WATCHDOG_PID").flatMap { Int32($0) }
        let isMeant = number == nil || number == ProcessFacts.number
        self.init(
            socket: ProcessFacts.environment("NOTIFY_SOCKET"),
            watchdog: isMeant ? ProcessFacts.environment("WATCHDOG_USEC").flatMap { Int64($0) } : nil,
            on: loop
        )
    }

    /// A notifier for the manager that listens at `path`, and wants a sign of life within `watchdog` microseconds.
    package init(socket path: String?, watchdog microseconds: Int64?, on loop: EventLoop) {
        self.loop = loop
        if let path { socket = try? NotifySocket(path) } else { socket = nil }
        // Half of the time, as sd_watchdog_enabled(3) says: each sign of life wakes both threads.
        interval = microseconds.flatMap { $0 > 0 ? .microseconds($0 / 2) : nil }
    }

    /// The daemon is set up, which is a sign of life.
    package func ready() { socket?.send("READY=1" + life) }

    package func stopping() { end("STOPPING=1") }

    /// The daemon begins anew in the same process, which then says that it is ready.
    ///
    /// A manager that was told of an end instead would bring it about, a while later. It is a sign of life: the time until
    /// the next one is the new program's, else a few reloads in a row would be taken for a hang.
    package func reloading() { end("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.nanoseconds / 1000)" + life) }

    private var life: String { interval == nil ? "" : "\nWATCHDOG=1" }

    private func end(_ text: String) {
        timer.cancel()
        socket?.send(text)
    }

    package func tell(_ text: String) {
        // A line's end would begin another assignment.
        let line = LocalName.printable(text)
        guard line != status else { return }
        status = line
        socket?.send("STATUS=\(line)")
    }

    /// Begins to give signs of life: as long as `hasAnswered` is true of the last `ask`.
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
