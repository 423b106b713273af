// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import TestSupport
import Testing
import TextsSupport

/// Checks invariants of the session under random events.
@Suite("The session under random events")
struct SessionRandomTests {
    /// State of the world according to the session's actions and events.
    private struct World {
        var isChosen: Bool
        var isWanted = true
        var hasAdapter = false
        var isScanning = false
        var isLinked = false
        /// True while a pairing uses the radio.
        var isHeld = false
        /// Time until which the session waits for the end of a link.
        var closing: Duration?
        /// Time before which no attempt with the same device may start.
        var floor: Duration?
        var faults: [String] = []

        mutating func expect(_ holds: Bool, _ what: StaticString) {
            if !holds { faults.append("\(what)") }
        }

        /// Updates the state for an event, before the session handles it.
        mutating func learn(_ event: Session.Event, _ session: Session, _ now: Duration) {
            switch event {
            case .adapterReady: hasAdapter = true
            case .adapterLost, .forbidden:
                hasAdapter = false
                closing = nil
                if isLinked { floor = now + Session.retryInterval }
            case .switched: (isChosen, isWanted, floor) = (true, true, nil)
            case .forgotten where isChosen: (isChosen, isWanted, floor) = (false, true, nil)
            case .connectAsked where isChosen: isWanted = true
            case .disconnectAsked where isChosen:
                isWanted = false
                if session.isAttempting { floor = now + Session.retryInterval }
            case .linkClosed: closing = nil
            case .pairingBegins:
                isHeld = true
                if session.isAttempting { floor = now + Session.retryInterval }
            case .pairingEnds: isHeld = false
            case .attemptFailed, .linkLost, .flooded, .unsupported:
                let ends = session.isAttempting || session.state == .connected
                if ends, isLinked { floor = now + Session.retryInterval }
            default: break
            }
        }

        /// Carries out an action of the session.
        mutating func carryOut(_ action: Session.Action, _ now: Duration) {
            switch action {
            case .scan:
                expect(!isScanning, "scans twice")
                expect(!isHeld, "scans during a pairing")
                isScanning = true
            case .stopScan:
                expect(isScanning, "stops a scan that is none")
                isScanning = false
            case .connect:
                expect(hasAdapter && isChosen && isWanted, "connects though it may not")
                expect(!isLinked, "connects twice")
                expect(!isHeld, "connects during a pairing")
                expect(!isScanning, "connects while it scans")
                expect(closing.map { now >= $0 } ?? true, "connects before the last link is closed")
                expect(floor.map { now >= $0 } ?? true, "connects too soon after the last attempt")
                isLinked = true
            case .closeLink:
                expect(isLinked, "closes a link that is none")
                isLinked = false
                if hasAdapter { closing = now + Session.closingTimeout }
            case .drop, .report: break
            }
        }

        /// Checks the invariants between two events.
        mutating func check(_ session: Session, _ now: Duration) {
            let state = session.state
            expect(
                (state == .connected) == (isLinked && !session.isAttempting),
                "connected without a link, or a link that does not count"
            )
            expect(hasAdapter || !isLinked && !isScanning, "listens or connects without an adapter")
            expect(
                hasAdapter || ![.connected, .lost, .failed, .unsupported].contains(state),
                "a state that needs an adapter"
            )
            if hasAdapter {
                expect(isChosen == (state != .unselected), "unselected though chosen, or the other way round")
                expect(![.bluetoothOff, .unauthorized].contains(state), "off with an adapter")
                expect(isWanted || [.disconnected].contains(state), "wants a link that nobody wants")
                // There must always be progress: an operation that ends by itself, or a deadline.
                let goesOn = isScanning || isLinked || session.deadline != nil
                expect(
                    isHeld || goesOn == (isChosen && isWanted) || session.deadline != nil,
                    "stuck, or busy for nothing"
                )
            } else {
                expect(session.deadline == nil, "waits for a time without an adapter")
            }
            let longest = session.isAttempting ? Session.usualAttemptTimeout : Session.longestBackOff
            expect(session.deadline.map { $0 - now <= longest } ?? true, "waits too long")
        }
    }

    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    private static func event(_ generator: inout SeededGenerator) -> Session.Event {
        switch Int.random(in: 0..<44, using: &generator) {
        case 0: .adapterLost("x")
        case 1: .forbidden("x")
        case 2: .forgotten
        case 3: .disconnectAsked
        case 4, 5: .switched
        case 6...8: .connectAsked
        case 9, 10: .scanFailed("x")
        case 11, 12: .unsupported("x")
        case 13...15: .attemptFailed("x")
        case 16: .linkLost("x")
        case 17: .flooded("x")
        case 18...20: .adapterReady
        case 21...25: .heard(device)
        case 26...29: .ready
        case 30...33: .linkClosed
        case 34: .pairingBegins(endingLink: true)
        case 35: .pairingBegins(endingLink: false)
        case 36...39: .pairingEnds
        default: .deadline
        }
    }

    @Test("In any sequence of events, nothing is typed without a link, and the session never gets stuck")
    func random() {
        let steps = RunCount.from("BLEWEDGE_SESSION_STEPS", usual: RunCount.isOptimized ? 1_000_000 : 100_000)
        var generator = SeededGenerator(seed: 20_261_121)
        var session = Session(isChosen: false)
        var world = World(isChosen: false)
        var now = Duration.zero
        var seen: Set<Session.State> = []
        for step in 0..<steps {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: now = max(now, session.deadline ?? now)
            case 1: now += .seconds(Int.random(in: 0...700, using: &generator))
            default: now += .milliseconds(Int.random(in: 0...2000, using: &generator))
            }
            let event = Self.event(&generator)
            world.learn(event, session, now)
            for action in session.handle(event, now: now) { world.carryOut(action, now) }
            world.check(session, now)
            seen.insert(session.state)
            guard world.faults.isEmpty else {
                Issue.record("step \(step), \(event) led to \(session): \(world.faults.joined(separator: "; "))")
                return
            }
        }
        #expect(seen == Set(Session.State.allCases), "not every state was reached")
    }
}
