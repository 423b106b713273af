// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("Captures", .timeLimit(.minutes(10)))
struct TrafficCaptureTests {
    /// Calls `body` with a path in a temporary directory, which is deleted afterwards.
    private func withPath(_ body: (String) throws -> Void) throws {
        let directory = try TestDirectory()
        try withExtendedLifetime(directory) { try body(directory("capture")) }
    }

    private func records(_ path: String) throws -> [BtsnoopRecord] {
        var reader = BtsnoopReader()
        reader.append(try FileSystem.contents(of: path, limit: 1 << 20))
        var records: [BtsnoopRecord] = []
        while let record = try reader.next() { records.append(record) }
        try reader.finish()
        return records
    }

    /// H4 packet: received ACL data with a notification of one byte.
    private static let notification: [UInt8] = [0x02, 0x40, 0x20, 8, 0, 4, 0, 4, 0, 0x1B, 3, 0, 0x41]

    @Test("A host's own packets are recorded with type, direction and time, and are in the file at its end")
    func ownHost() throws {
        try withPath { path in
            let loop = try EventLoop()
            let capture = try TrafficCapture(to: path, on: loop)
            let before = WallClock.microseconds
            let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
            let nothing: [UInt8] = []
            let unknown: [UInt8] = [0x77, 0x01]
            let notification = Self.notification
            capture.record(.sent, reset.span)
            capture.record(.received, notification.span)
            capture.record(.received, nothing.span)
            capture.record(.received, unknown.span)
            capture.finish()
            let found = try records(path)
            #expect(found.map(\.opcode) == [.command, .aclReceived])
            #expect(found.map(\.payload) == [[0x03, 0x0C, 0x00], Array(Self.notification.dropFirst())])
            #expect(found.allSatisfy { $0.time >= before && $0.time <= WallClock.microseconds })
            var trace = ATTTrace()
            #expect(found.compactMap { trace.handle($0)?.pdu } == [[0x1B, 3, 0, 0x41]])
        }
    }

    @Test("A capture of an own host names its controller, by at most eight bytes")
    func announced() throws {
        try withPath { path in
            let capture = try TrafficCapture(to: path, on: try EventLoop())
            let notification = Self.notification
            capture.announce("a long name", ControllerIndex(rawValue: 2))
            capture.record(.received, notification.span)
            capture.finish()
            let found = try records(path)
            #expect(found.map(\.opcode) == [.newIndex, .aclReceived])
            #expect(found.map(\.index) == [ControllerIndex(rawValue: 2), ControllerIndex(rawValue: 2)])
            #expect(found.map(\.controllerName) == ["a long n", nil])
        }
    }

    @Test("What was recorded reaches the file within a second, without further packets")
    func flushed() throws {
        try withPath { path in
            let loop = try EventLoop()
            let capture = try TrafficCapture(to: path, on: loop)
            let notification = Self.notification
            capture.record(.received, notification.span)
            _ = loop.schedule(at: MonotonicClock.now + .seconds(1)) { loop.stop() }
            try loop.run()
            #expect(try records(path).count == 1)
            capture.finish()
        }
    }

    @Test("A capture that is full stops, says so once, and leaves a whole file")
    func full() throws {
        try withPath { path in
            let loop = try EventLoop()
            let capture = try TrafficCapture(to: path, on: loop, limit: 100)
            var failures: [TrafficCapture.Failure] = []
            capture.onFailure = { failures.append($0) }
            let notification = Self.notification
            for _ in 0..<10 { capture.record(.received, notification.span) }
            #expect(failures == [.cannotWrite(path, .fileTooLarge)])
            #expect(try records(path).count == 2)
            capture.finish()
        }
    }
}
