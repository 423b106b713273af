// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO

/// Keeper of the bytes of the last received value.
///
/// It keeps the bytes only while a client requests them.
final class LastValueKeeper {
    /// Time after a request during which values are kept.
    static let life = Duration.seconds(10)

    private let device: DeviceSession
    private let loop: EventLoop
    private let timer = LoopTimer()
    private var bytes: [UInt8]?

    init(of device: DeviceSession, on loop: EventLoop) {
        self.device = device
        self.loop = loop
    }

    /// Returns the last value in hexadecimal, and keeps values for another `life`.
    ///
    /// Returns nil if no value was received while values were kept.
    func ask() -> String? {
        device.onValue = { [unowned self] value in keep(value) }
        timer.cancel()
        timer.set(on: loop, after: Self.life) { [unowned self] in forget() }
        return bytes.map { Hexadecimal.text($0) }
    }

    private func keep(_ value: Span<UInt8>) {
        bytes = value.indices.map { value[$0] }
    }

    private func forget() {
        device.onValue = nil
        bytes = nil
    }
}
