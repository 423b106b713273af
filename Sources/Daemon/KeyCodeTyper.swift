// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Keystrokes
import Link
import LinuxIO
import Typing

/// Typist for the key codes of beacons (D-30): types each as a separate barcode, in a pause of the received data.
final class KeyCodeTyper {
    /// Longest wait for a pause in the received data, and the interval of the checks.
    private static let patience = Duration.seconds(5)
    private static let interval = Duration.milliseconds(10)
    /// Silence after which a key code cannot be inserted into a barcode.
    private static let silence = Duration.milliseconds(100)

    private(set) var taken: UInt64 = 0
    /// Number of codes that were not typed, because the link has to be secured, or because no pause came in time.
    private(set) var dropped: UInt64 = 0

    private let service: KeyboardService
    private let received: ReceivedReporter
    private let loop: EventLoop

    /// Creates a typist on the service's keyboard, which waits for a pause in the values of `received`.
    init(_ service: KeyboardService, beside received: ReceivedReporter, on loop: EventLoop) {
        self.service = service
        self.received = received
        self.loop = loop
    }

    /// Types a code when no received data is being typed or may be continued.
    func type(_ code: String) {
        // If the link has to be secured, the codes of beacons are not typed, because beacons are not secured.
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
