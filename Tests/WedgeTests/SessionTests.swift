// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import TestSupport
import Testing
import Wedge

@Suite("The session")
struct SessionTests {
    private let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    /// A session that has taken the given events, one second after another, the first at second 1.
    private func session(after events: Session.Event...) -> (Session, Duration) {
        var session = Session()
        var now = Duration.zero
        for event in events {
            now += .seconds(1)
            _ = session.handle(event, now: now)
        }
        return (session, now)
    }

    @Test(
        "LK-15: an adapter that is ready leads to a scan, a heard device to an attempt, and only ready means connected"
    )
    func straightWay() {
        var session = Session()
        #expect(session.handle(.adapterReady, now: .zero) == [.report(.connecting, reason: nil), .scan])
        #expect(
            session.handle(.heard(device), now: .seconds(1))
                == [
                    .stopScan, .report(.connecting, reason: "heard F0:F1:F2:F3:F4:F5 (random), connecting"),
                    .connect(device),
                ]
        )
        #expect(session.state == .connecting)
        #expect(session.handle(.ready, now: .seconds(2)) == [.report(.connected, reason: nil)])
        #expect(session.state == .connected)
        #expect(session.deadline == nil)
    }

    @Test("LK-19: after a lost link the next scan begins 3 s later, and not before")
    func lostLink() {
        var (session, now) = session(after: .adapterReady, .heard(device), .ready)
        #expect(
            session.handle(.linkLost("timeout"), now: now) == [.closeLink, .report(.lost, reason: "timeout")]
        )
        #expect(session.deadline == now + .seconds(3))
        #expect(session.handle(.deadline, now: now + .milliseconds(2999)) == [])
        #expect(
            session.handle(.deadline, now: now + .seconds(3)) == [.report(.connecting, reason: nil), .scan]
        )
    }

    @Test("LK-16: a failed attempt is tried again, for ever")
    func failedAttempts() {
        var (session, now) = session(after: .adapterReady)
        for _ in 0..<1000 {
            #expect(session.handle(.heard(device), now: now).last == .connect(device))
            #expect(
                session.handle(.attemptFailed("refused"), now: now) == [
                    .closeLink, .report(.failed, reason: "refused"),
                ]
            )
            now += .seconds(3)
            #expect(session.handle(.deadline, now: now).last == .scan)
        }
    }

    @Test("LK-24: a device that is not heard for 10 s is reported once, and still listened for")
    func notHeard() {
        var (session, now) = session(after: .adapterReady)
        now += .seconds(10)
        let actions = session.handle(.deadline, now: now)
        #expect(actions.count == 1)
        #expect(session.state == .failed)
        #expect(session.deadline == nil)
        #expect(session.handle(.heard(device), now: now + .seconds(100)).last == .connect(device))
    }

    @Test("D-5: an unsupported device is left alone, and looked at again after 10 minutes")
    func unsupported() {
        var (session, now) = session(after: .adapterReady, .heard(device))
        #expect(
            session.handle(.unsupported("no service"), now: now)
                == [.closeLink, .report(.unsupported, reason: "no service")]
        )
        #expect(session.handle(.heard(device), now: now + .seconds(1)) == [])
        #expect(session.deadline == now + .seconds(600))
        #expect(session.handle(.deadline, now: now + .seconds(600)).last == .scan)
    }

    @Test("LK-9: an adapter that goes away ends whatever was going on, and its return begins anew")
    func adapterLost() {
        for events: [Session.Event] in [
            [.adapterReady], [.adapterReady, .heard(device)], [.adapterReady, .heard(device), .ready],
            [.adapterReady, .heard(device), .linkLost("gone")],
        ] {
            var session = Session()
            for event in events { _ = session.handle(event, now: .zero) }
            let actions = session.handle(.adapterLost("removed"), now: .seconds(1))
            #expect(actions.last == .report(.bluetoothOff, reason: "removed"))
            #expect(session.deadline == nil)
            #expect(session.handle(.adapterReady, now: .seconds(2)).last == .scan)
        }
    }

    @Test("LK-24: random events never lead to typing without a link, nor to a state without a way forward")
    func randomEvents() {
        var generator = SeededGenerator(seed: 20_261_121)
        var session = Session()
        var now = Duration.zero
        var hasAdapter = false
        var isConnecting = false
        for _ in 0..<200_000 {
            now += .milliseconds(Int.random(in: 0...4000, using: &generator))
            let event: Session.Event =
                switch Int.random(in: 0...9, using: &generator) {
                case 0: .adapterReady
                case 1: .adapterLost("x")
                case 2, 3: .heard(device)
                case 4: .ready
                case 5: .unsupported("x")
                case 6: .attemptFailed("x")
                case 7: .linkLost("x")
                default: .deadline
                }
            switch event {
            case .adapterReady: hasAdapter = true
            case .adapterLost: hasAdapter = false
            default: break
            }
            for action in session.handle(event, now: now) {
                switch action {
                case .connect: isConnecting = true
                case .report(.connected, _): #expect(isConnecting, "connected without an attempt")
                case .closeLink, .scan: isConnecting = false
                default: break
                }
            }
            if session.state == .connected { #expect(hasAdapter && isConnecting) }
            if !hasAdapter { #expect(session.state != .connected) }
        }
    }
}
