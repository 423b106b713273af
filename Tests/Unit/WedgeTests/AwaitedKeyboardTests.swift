// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import Devices
import Testing
import TextsSupport

@Suite("Sessions with a keyboard, which is awaited at once after a loss (D-40)")
struct AwaitedKeyboardTests {
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let scan: [Session.Action] = [.report(.connecting, nil), .scan]

    /// Returns a session that is connected since `now`.
    private static func connected(_ awaitsAtOnce: Bool = true) -> (session: Session, now: Duration) {
        var session = Session(isChosen: true)
        session.awaitsAtOnce = awaitsAtOnce
        _ = session.handle(.adapterReady, now: .zero)
        _ = session.handle(.heard(device), now: .seconds(1))
        #expect(session.handle(.ready, now: .seconds(2)) == [.report(.connected, nil)])
        return (session, .seconds(2))
    }

    @Test("The scan begins as soon as a lost link is closed, after any time", arguments: [0, 1, 2999, 3000, 100_000])
    func loss(milliseconds: Int) {
        var (session, start) = Self.connected()
        let now = start + .milliseconds(milliseconds)
        #expect(session.handle(.linkLost("timeout"), now: now) == [.closeLink, .report(.lost, "timeout")])
        #expect(session.handle(.heard(Self.device), now: now) == [])
        #expect(session.handle(.linkClosed, now: now + .milliseconds(20)) == Self.scan)
        // The first advertisement starts an attempt, without a silence before it.
        let actions = session.handle(.heard(Self.device), now: now + .milliseconds(21))
        #expect(actions.first == .stopScan && actions.last == .connect(Self.device))
        #expect(session.handle(.ready, now: now + .milliseconds(500)) == [.report(.connected, nil)])
        #expect(session.handle(.linkLost("reset"), now: now + .milliseconds(501)).first == .closeLink)
        #expect(session.handle(.linkClosed, now: now + .milliseconds(502)) == Self.scan)
    }

    @Test("A link that is never closed delays the scan by 5 s")
    func hungLink() {
        var (session, now) = Self.connected()
        _ = session.handle(.linkLost("timeout"), now: now)
        #expect(session.deadline == now + Session.closingTimeout)
        #expect(session.handle(.deadline, now: now + .milliseconds(4999)) == [])
        #expect(session.handle(.deadline, now: now + .seconds(5)) == Self.scan)
    }

    @Test("The pause of 3 s remains after a link that failed for another reason, and without a keyboard (LK-19)")
    func pauses() {
        let cases: [(awaitsAtOnce: Bool, event: Session.Event)] = [
            (true, .attemptFailed("no answer")), (false, .attemptFailed("no answer")), (false, .linkLost("timeout")),
        ]
        for (awaitsAtOnce, event) in cases {
            var (session, now) = Self.connected(awaitsAtOnce)
            let actions = session.handle(event, now: now)
            #expect(actions.first == .closeLink && actions.count == 2 && session.state == .lost)
            #expect(session.handle(.linkClosed, now: now + .milliseconds(20)) == [])
            #expect(!session.isListening && session.deadline == now + .seconds(3))
            #expect(session.handle(.deadline, now: now + .milliseconds(2999)) == [])
            #expect(session.handle(.deadline, now: now + .seconds(3)) == Self.scan)
        }
    }

    @Test("A flood pauses the session of a keyboard too")
    func flood() {
        var (session, now) = Self.connected()
        #expect(session.handle(.flooded("too much"), now: now) == [.closeLink, .report(.failed, "too much")])
        #expect(session.handle(.linkClosed, now: now) == [])
        #expect(session.deadline == now + .seconds(3))
    }

    @Test(
        "Failed attempts pause, for twice as long each time, also after a loss (LK-16)",
        arguments: [.attemptFailed("refused"), .linkLost("reset"), .unsupported("no keyboard")] as [Session.Event]
    )
    func failedAttempts(event: Session.Event) {
        var (session, now) = Self.connected()
        _ = session.handle(.linkLost("timeout"), now: now)
        #expect(session.handle(.linkClosed, now: now) == Self.scan)
        for seconds in [3, 6, 12, 24, 48, 60, 60] {
            #expect(session.handle(.heard(Self.device), now: now).last == .connect(Self.device))
            #expect(session.handle(event, now: now).first == .closeLink)
            let actions = session.handle(.linkClosed, now: now)
            #expect(actions == (seconds == 3 ? [] : [.scan]))
            #expect(session.deadline == now + .seconds(seconds))
            // The keyboard advertises all the time, so that there is no silence.
            for second in 1..<seconds {
                #expect(session.handle(.heard(Self.device), now: now + .seconds(second)) == [])
            }
            now += .seconds(seconds)
            let wait: [Session.Action] = seconds == 3 ? [] : [.stopScan]
            #expect(session.handle(.deadline, now: now) == wait + Self.scan)
        }
    }

    @Test("A loss during a pairing, or after the user's disconnect, starts no scan")
    func unwanted() {
        var (session, now) = Self.connected()
        _ = session.handle(.linkLost("timeout"), now: now)
        _ = session.handle(.disconnectAsked, now: now)
        #expect(!session.handle(.linkClosed, now: now).contains(.scan))
        var (paired, then) = Self.connected()
        _ = paired.handle(.pairingBegins(endingLink: false), now: then)
        _ = paired.handle(.linkLost("timeout"), now: then)
        #expect(!paired.handle(.linkClosed, now: then).contains(.scan))
        then += .seconds(1)
        #expect(paired.handle(.pairingEnds, now: then) == Self.scan)
    }
}
