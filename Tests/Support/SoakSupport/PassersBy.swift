// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import VirtualAdapters

/// Passers-by, simulated by one controller that advertises with changing addresses.
final class PassersBy {
    private let controller: MemoryTransport
    private let loop: EventLoop
    /// Number of addresses used until now.
    private(set) var count = 0

    init(_ controller: MemoryTransport, on loop: EventLoop) {
        self.controller = controller
        self.loop = loop
        command(0x0C03, [])
        // LE Set Advertising Parameters: 160 ms, connectable, with the random address.
        command(0x2006, [0x00, 0x01, 0x00, 0x01, 0x00, 0x01, 0x00] + Array(repeating: 0, count: 6) + [0x07, 0x00])
        // LE Set Advertising Data: flags, and a name that the user has not selected.
        let data: [UInt8] = [0x02, 0x01, 0x06, 0x07, 0x09] + Array("PASSER".utf8)
        command(0x2008, [UInt8(data.count)] + data + Array(repeating: 0, count: 31 - data.count))
    }

    /// Simulates `remaining` passers-by, one every `interval`; each is received two or three times.
    func pass(_ remaining: Int, every interval: Duration) {
        guard remaining > 0 else { return }
        count += 1
        // LE Set Random Address: a new private address.
        command(0x2005, (0..<5).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + [0x40])
        command(0x200A, [0x01])
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(400)) { [unowned self] in command(0x200A, [0x00]) }
        _ = loop.schedule(at: MonotonicClock.now + interval) { [unowned self] in pass(remaining - 1, every: interval) }
    }

    private func command(_ opcode: UInt16, _ parameters: [UInt8]) {
        controller.send([0x01, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters)
    }
}
