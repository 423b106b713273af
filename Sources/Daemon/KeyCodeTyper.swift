// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Keystrokes
import Link
import LinuxIO
import Typing

/// Types the key codes of beacons (D-30), each as a barcode of its own, in a pause of what is received.
final class KeyCodeTyper {
    /// Longest wait for a pause in the received data, and the interval of the checks.
    private static let patience = Duration.seconds(5)
    private static let interval = Duration.milliseconds(10)
    /// The silence behind which a key code cannot come into the middle of a barcode.
    private static let silence = Duration.milliseconds(100)

    private(set) var taken: UInt64 = 0
    /// The codes that were not: the link has to be secured, or no pause came in time.
    private(set) var dropped: UInt64 = 0

    private let service: KeyboardService
    private let received: ReceivedReporter
    private let loop: EventLoop

    /// A typer on the service's keyboard, beside what is `received`.
    init(_ service: KeyboardService, beside received: ReceivedReporter, on loop: EventLoop) {
        self.service = service
        self.received = received
        self.loop = loop
    }

    /// Types a code when nothing that was received is being typed or may go on.
    func type(_ code: String) {
        // A link has to be secured, and a beacon is not: what it says is not typed then.
        guard service.device.requiredSecurity ?? GATTLinkSecurity.Level.none == .none else { return dropped &+= 1 }
        type(Array(code.utf8) + [service.barcodeEnd].compactMap(\.self), until: MonotonicClock.now + Self.patience)
    }

    private func type(_ bytes: [UInt8], until deadline: Duration) {
        let now = MonotonicClock.now
        let isQuiet = received.last.map { now - $0.time >= Self.silence } ?? true
        if isQuiet, service.counts.bytes.waiting == 0 {
            service.device.type(bytes)
            taken &+= 1
        } else if now >= deadline {
            dropped &+= 1
        } else {
            _ = loop.schedule(at: now + Self.interval) { [weak self] in self?.type(bytes, until: deadline) }
        }
    }
}
