// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@testable import BluetoothAdapters

/// Connections that are established after their attempt was given up.
@Suite(.timeLimit(.minutes(10))) struct OrphanedConnectionTests {
    /// Returns LE Connection Complete with handle 0x002A.
    private static func complete(status: UInt8 = 0, role: UInt8 = 0) -> [UInt8] {
        [0x04, 0x3E, 0x13, 0x01, status, 0x2A, 0x00, role, 0x01, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0]
            + [0x18, 0x00, 0x00, 0x00, 0x90, 0x01, 0x00]
    }

    /// Returns Disconnection Complete.
    private static func end(handle: UInt8 = 0x2A, status: UInt8 = 0) -> [UInt8] {
        [0x04, 0x05, 0x04, status, handle, 0x00, 0x13]
    }

    private static func look(_ packets: [UInt8]...) -> OrphanedConnection {
        var look = OrphanedConnection()
        look.noteEnd(now: .seconds(10))
        for packet in packets { look.handle(packet.span, now: .seconds(14)) }
        return look
    }

    @Test("The search for an orphaned connection ends after 5 s without an event")
    func nothing() {
        let look = Self.look()
        #expect(look.deadline == .seconds(15))
        #expect(look.check(now: .seconds(14)) == .wait)
        #expect(look.check(now: .seconds(15)) == .end)
    }

    @Test(
        "A link of which the kernel does not tell within a second is to be ended",
        arguments: [
            [complete()], [complete(), end(handle: 0x2B)], [complete(), end(status: 0x02)],
            [complete(status: 0x02), complete()],
            [[0x04, 0x3E, 0x1F, 0x0A] + complete()[4..<15] + [UInt8](repeating: 0, count: 12) + complete()[15...]],
        ]
    )
    func unknown(_ packets: [[UInt8]]) {
        var look = OrphanedConnection()
        look.noteEnd(now: .seconds(10))
        for packet in packets { look.handle(packet.span, now: .seconds(12)) }
        #expect(look.deadline == .seconds(13))
        #expect(look.check(now: .milliseconds(12_999)) == .wait)
        #expect(look.check(now: .seconds(13)) == .disconnect(handle: 0x2A))
    }

    @Test("A link is known if the kernel's event was read before the controller's, and the next link is not")
    func toldAhead() {
        var look = Self.look()
        look.noteKnownLink()
        look.handle(Self.complete().span, now: .seconds(12))
        #expect(look.check(now: .seconds(20)) == .end)
        look.handle(Self.complete().span, now: .seconds(13))
        #expect(look.check(now: .seconds(20)) == .disconnect(handle: 0x2A))
    }

    @Test("A link may come before the attempt's end is told, as where the kernel itself has given it up")
    func early() {
        var look = OrphanedConnection()
        look.handle(Self.complete().span, now: .seconds(10))
        #expect(look.deadline == nil && look.check(now: .seconds(30)) == .wait)
        look.noteEnd(now: .seconds(30))
        #expect(look.deadline == .seconds(31))
        #expect(look.check(now: .seconds(31)) == .disconnect(handle: 0x2A))
    }

    @Test("A link that the kernel tells of, or that has ended, is left alone")
    func known() {
        var look = Self.look(Self.complete())
        look.noteKnownLink()
        #expect(look.check(now: .seconds(20)) == .end)
        #expect(Self.look(Self.complete(), Self.end()).check(now: .seconds(20)) == .end)
    }

    @Test(
        "Failed attempts, links of a central and malformed events are ignored",
        arguments: [complete(status: 0x3E), complete(role: 1), Array(complete().dropLast()), [0x04, 0x3E], []]
    )
    func other(_ packet: [UInt8]) {
        #expect(Self.look(packet).check(now: .seconds(20)) == .end)
    }
}
