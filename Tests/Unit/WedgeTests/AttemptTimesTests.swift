// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Daemon
import TestSupport
import Testing
import TextsSupport

/// Device of `attempt-times.txt`, and the session that connects to it, with a clock that advances in tenths of a
/// second.
struct AttemptTimes: CustomTestStringConvertible, Sendable {
    /// The requirement, and the behavior of the device.
    private(set) var row = ""
    private(set) var title = ""
    private var line = 0
    private var onAir: [ClosedRange<Int>] = []
    private var answers: [String] = []
    private var connects: [Int] = []
    private var switches: [Int] = []
    private var end = 0
    /// Expected start times of attempts, in tenths of a second.
    private(set) var expected: [Int] = []

    var testDescription: String { "line \(line): \(title)" }

    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    static func read() throws -> [Self] {
        var devices: [Self] = []
        for (number, text) in try VectorFile.lines("attempt-times.txt") {
            let words = text.split(separator: " ").map(String.init)
            if words[0] == "=" {
                var device = Self()
                (device.row, device.title, device.line) = (words[1], words.dropFirst(2).joined(separator: " "), number)
                devices.append(device)
            } else {
                try #require(!devices.isEmpty, "line \(number)")
                try devices[devices.count - 1].take(words[0], Array(words.dropFirst()), number)
            }
        }
        return devices
    }

    private mutating func take(_ name: String, _ values: [String], _ line: Int) throws {
        func times() throws -> [Int] { try values.map { try Self.tenths($0) } }
        switch name {
        case "on-air":
            onAir = try values.map { value in
                let ends = try value.split(separator: "-").map { try Self.tenths(String($0)) }
                try #require(ends.count == 2 && ends[0] <= ends[1], "line \(line)")
                return ends[0]...ends[1]
            }
        case "answers": answers = values
        case "connect": connects = try times()
        case "switched": switches = try times()
        case "attempts": expected = try times()
        case "end": end = try #require(try times().first, "line \(line)")
        default: Issue.record("line \(line): \(name)")
        }
    }

    /// Parses a time: `9.5` is 95.
    private static func tenths(_ text: String) throws -> Int {
        Int((try #require(Double(text), "\(text)") * 10).rounded())
    }

    /// Returns the start times of attempts, in tenths of a second.
    func attempts() throws -> [Int] {
        var session = Session(isChosen: true)
        var found: [Int] = []
        var loss: Int?
        _ = session.handle(.adapterReady, now: .zero)
        for tenth in 0...end {
            let now = Duration.milliseconds(tenth * 100)
            if loss == tenth {
                _ = session.handle(.linkLost("timeout"), now: now)
                _ = session.handle(.linkClosed, now: now)
            }
            while let deadline = session.deadline, deadline <= now { _ = session.handle(.deadline, now: now) }
            if connects.contains(tenth) { _ = session.handle(.connectAsked, now: now) }
            if switches.contains(tenth) { _ = session.handle(.switched, now: now) }
            guard session.isListening, onAir.contains(where: { $0.contains(tenth) }),
                session.handle(.heard(Self.device), now: now).contains(.connect(Self.device))
            else { continue }
            let answer = try #require(found.count < answers.count ? answers[found.count] : answers.last)
            found.append(tenth)
            switch answer {
            case "refuses": _ = session.handle(.attemptFailed("refused"), now: now)
            case "no-service": _ = session.handle(.unsupported("no service"), now: now)
            default:
                _ = session.handle(.ready, now: now)
                loss = tenth + (try Self.tenths(answer))
                continue
            }
            _ = session.handle(.linkClosed, now: now)
        }
        return found
    }
}

@Suite("When a device is tried again")
struct AttemptTimesTests {
    @Test(
        "LK-16: pauses between failed attempts are 3, 6, 12, 24, 48, 60 s; a link of 60 s resets them, a new report shortens one",
        arguments: try AttemptTimes.read().filter { $0.row == "LK-16" }
    )
    func failed(_ device: AttemptTimes) throws {
        #expect(try device.attempts() == device.expected)
    }

    @Test(
        "D-5: a device without the service is tried again as one that failed",
        arguments: try AttemptTimes.read().filter { $0.row == "D-5" }
    )
    func unsupported(_ device: AttemptTimes) throws {
        #expect(try device.attempts() == device.expected)
    }

    @Test("Every device of the list is tried")
    func complete() throws {
        let devices = try AttemptTimes.read()
        #expect(devices.count == 13)
        #expect(devices.allSatisfy { ["LK-16", "D-5"].contains($0.row) && $0.expected.count > 2 })
    }
}
