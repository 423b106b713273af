// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import Keystrokes
import TestSupport
import Testing
import TextsSupport

/// Manually written table of the session's behavior.
@Suite("The session's table")
struct SessionTableTests {
    static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    static let events: [(name: String, event: Session.Event)] = [
        ("adapter-ready", .adapterReady), ("adapter-lost", .adapterLost("gone")), ("forbidden", .forbidden("denied")),
        ("switched", .switched), ("forgotten", .forgotten), ("connect", .connectAsked),
        ("disconnect", .disconnectAsked),
        ("heard", .heard(device)), ("scan-failed", .scanFailed("busy")), ("ready", .ready),
        ("unsupported", .unsupported("no service")), ("attempt-failed", .attemptFailed("refused")),
        ("link-lost", .linkLost("timeout")), ("flooded", .flooded("too much")), ("link-closed", .linkClosed),
        ("deadline", .deadline), ("pairing", .pairingBegins(endingLink: true)),
        ("pairing-beside", .pairingBegins(endingLink: false)), ("pairing-ends", .pairingEnds),
    ]

    private struct Row {
        var situation: String
        var path: [String]
        var event: String
        var actions: String
        var state: String
        var deadline: String
        var line: Int
    }

    private static func rows() throws -> [Row] {
        var rows: [Row] = []
        var situation = ""
        var path: [String] = []
        for (number, text) in try VectorFile.lines("session-states.txt") {
            let fields = text.split(separator: ":").map { field in
                field.split(separator: " ").joined(separator: " ")
            }
            if text.hasPrefix("=") {
                situation = String(fields[0].dropFirst(2))
                path = fields[1] == "-" ? [] : fields[1].split(separator: " ").map(String.init)
            } else {
                try #require(fields.count == 4, "line \(number)")
                for event in fields[0].split(separator: " ") {
                    rows.append(
                        Row(
                            situation: situation,
                            path: path,
                            event: String(event),
                            actions: fields[1],
                            state: fields[2],
                            deadline: fields[3],
                            line: number
                        )
                    )
                }
            }
        }
        return rows
    }

    private static func name(_ action: Session.Action) -> String {
        switch action {
        case .scan: "scan"
        case .stopScan: "stop-scan"
        case .connect: "connect"
        case .closeLink: "close"
        case .drop(.disconnected): "drop-disconnected"
        case .drop(.switched): "drop-switched"
        case .report(let state, _): "say \(state.rawValue)"
        }
    }

    private static func apply(_ name: String, _ session: inout Session, _ now: inout Duration) throws -> [Session
        .Action]
    {
        let event = try #require(events.first { $0.name == name }, "no event \(name)").event
        if name == "deadline" { now = session.deadline ?? now }
        return session.handle(event, now: now)
    }

    @Test("LK-24: each event in each situation leads to the situation in the table")
    func table() throws {
        let rows = try Self.rows()
        for row in rows {
            var session = Session(isChosen: true)
            var now = Duration.seconds(1000)
            for step in row.path { _ = try Self.apply(step, &session, &now) }
            let actions = try Self.apply(row.event, &session, &now)
            let names = actions.isEmpty ? "-" : actions.map(Self.name).joined(separator: ", ")
            let deadline = session.deadline.map { "\(($0 - now).components.seconds)" } ?? "-"
            let where_ = "\(row.situation), \(row.event), line \(row.line)"
            #expect(names == row.actions, "\(where_)")
            #expect(session.state.rawValue == row.state, "\(where_)")
            #expect(deadline == row.deadline, "\(where_)")
        }
    }

    @Test("The table has every event once in every situation, and situations of all nine states")
    func complete() throws {
        let situations = Dictionary(grouping: try Self.rows(), by: \.situation)
        #expect(situations.count == 26)
        for (situation, rows) in situations {
            #expect(rows.map(\.event).sorted() == Self.events.map(\.name).sorted(), "\(situation)")
        }
        var states: Set<String> = []
        for (_, rows) in situations {
            var session = Session(isChosen: true)
            var now = Duration.seconds(1000)
            for step in rows[0].path { _ = try Self.apply(step, &session, &now) }
            states.insert(session.state.rawValue)
        }
        #expect(states == Set(Session.State.allCases.map(\.rawValue)))
    }
}
