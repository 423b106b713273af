// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Keystrokes
import Link
import LinuxIO
import Typing

/// Typist for the key codes of beacons (D-30).
///
/// It types each code as a separate barcode, during a gap in the received data.
final class KeyCodeTyper {
    /// Longest wait for a gap in the received data, and interval between checks for a gap.
    private static let patience = Duration.seconds(5)
    private static let interval = Duration.milliseconds(10)
    /// Silence in the received data after which a key code cannot interrupt a barcode.
    private static let silence = Duration.milliseconds(100)

    private(set) var taken: UInt64 = 0
    /// Number of codes not typed, because the device requires a secured link, or because there was no gap in time.
    private(set) var dropped: UInt64 = 0

    private let service: KeyboardService
    private let received: [ReceivedReporter]
    private let loop: EventLoop

    /// Creates a typist that uses the service's keyboard, and waits for gaps in the values of `received`.
    init(_ service: KeyboardService, beside received: [ReceivedReporter], on loop: EventLoop) {
        self.service = service
        self.received = received
        self.loop = loop
    }

    /// Types a code as soon as all received data is typed and no more data follows it.
    func type(_ code: String) {
        // Beacons are not secured, so their codes are not typed if the link must be secured.
        let required = service.devices.compactMap(\.session.requiredSecurity).max()
        guard required ?? GATTLinkSecurity.Level.none == .none else { return dropped &+= 1 }
        type(Array(code.utf8) + [service.barcodeEnd].compactMap(\.self), until: MonotonicClock.now + Self.patience)
    }

    private func type(_ bytes: [UInt8], until deadline: Duration) {
        let now = MonotonicClock.now
        let isQuiet = received.compactMap(\.last).allSatisfy { now - $0.time >= Self.silence }
        if isQuiet, service.waitingBytes == 0 {
            service.device.type(bytes)
            taken &+= 1
        } else if now >= deadline {
            dropped &+= 1
        } else {
            _ = loop.schedule(at: now + Self.interval) { [weak self] in self?.type(bytes, until: deadline) }
        }
    }
}
