// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import LinuxIO
import Testing

@testable import BluetoothAdapters

/// A peripheral's Security Request that arrives before the event of its connection.
@Suite(.timeLimit(.minutes(10))) struct EarlySecurityRequestTests {
    /// Security Manager PDUs that the central has sent.
    private final class Sent {
        var frames: [[UInt8]] = []

        init(_ adapter: HostAdapter) {
            adapter.onPacket = { [unowned self] isSent, packet in
                guard isSent, packet.count > 9, packet[0] == 2, packet[7] == 6, packet[8] == 0 else { return }
                frames.append((9..<packet.count).map { packet[$0] })
            }
        }
    }

    private func bonded() throws -> (PairingBench, [Bond]) {
        let bench = try PairingBench()
        try bench.open()
        let theirs = try bench.pair(1).get()
        guard case .ended(let ours?) = bench.news.last else { throw ManagedPairing.Failure.notBonded }
        return (bench, [ours, theirs])
    }

    @Test("A bonded device that asks for security before its connection is told is encrypted with, and read from")
    func overtaken() throws {
        let (bench, bonds) = try bonded()
        for index in 0...1 { try bench.restart(index, [bonds[index]]) }
        bench.early.isEarly = true
        let link = try bench.connect(1)
        #expect(try bench.secure(link))
        #expect(link.security.level == .encrypted)
        #expect(try bench.read(link) == .value(PairingBench.secret))
    }

    @Test("A device that asks for security before its connection is told is paired with, and told of no failure")
    func pairing() throws {
        let bench = try PairingBench()
        bench.early.isEarly = true
        try bench.open()
        let sent = Sent(bench.adapters[1])
        _ = try bench.pair(1).get()
        #expect(sent.frames.first?.first == 0x01)
        #expect(!sent.frames.contains { $0.first == 0x05 })
    }

    @Test("Without a bond such a request is refused, as any other")
    func refused() throws {
        let bench = try PairingBench()
        bench.early.isEarly = true
        let sent = Sent(bench.adapters[1])
        let link = try bench.connect(1)
        try bench.run { !sent.frames.isEmpty }
        #expect(sent.frames == [[0x05, 0x05]])
        try bench.disconnect(link)
    }
}
