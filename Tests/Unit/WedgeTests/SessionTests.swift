// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import Devices
import Keystrokes
import Testing
import Texts
import TextsSupport

@Suite("The session")
struct SessionTests {
    private let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    /// Returns a session after the given events, at intervals of a second, starting at second 1.
    private func session(after events: Session.Event...) -> (Session, Duration) {
        var session = Session(isChosen: true)
        var now = Duration.zero
        for event in events {
            now += .seconds(1)
            _ = session.handle(event, now: now)
        }
        return (session, now)
    }

    @Test(
        "LK-15: a ready adapter starts a scan, a report starts an attempt, and the state is connected only when the link is ready"
    )
    func straightWay() {
        var session = Session(isChosen: true)
        #expect(session.handle(.adapterReady, now: .zero) == [.report(.connecting, nil), .scan])
        #expect(
            session.handle(.heard(device), now: .seconds(1))
                == [
                    .stopScan, .report(.connecting, "found F0:F1:F2:F3:F4:F5 (random), connecting"), .connect(device),
                ]
        )
        #expect(session.state == .connecting)
        #expect(session.isAttempting)
        #expect(session.handle(.ready, now: .seconds(2)) == [.report(.connected, nil)])
        #expect(session.state == .connected)
        #expect(!session.isAttempting)
        #expect(session.deadline == nil)
    }

    @Test("After a lost link the next scan begins 3 s later, and not before")
    func lostLink() {
        var (session, now) = session(after: .adapterReady, .heard(device), .ready)
        #expect(session.handle(.linkLost("timeout"), now: now) == [.closeLink, .report(.lost, "timeout")])
        #expect(session.handle(.linkClosed, now: now + .milliseconds(20)) == [])
        #expect(session.deadline == now + .seconds(3))
        #expect(session.handle(.deadline, now: now + .milliseconds(2999)) == [])
        #expect(session.handle(.deadline, now: now + .seconds(3)) == [.report(.connecting, nil), .scan])
    }

    @Test("A failed attempt is tried again, for ever, and never within 3 s of the last, whoever asks")
    func failedAttempts() {
        var (session, now) = session(after: .adapterReady)
        for _ in 0..<1000 {
            #expect(session.handle(.heard(device), now: now).last == .connect(device))
            #expect(session.handle(.attemptFailed("refused"), now: now) == [.closeLink, .report(.failed, "refused")])
            #expect(session.handle(.linkClosed, now: now) == [])
            #expect(session.handle(.connectAsked, now: now) == [.report(.connecting, nil)])
            #expect(session.handle(.heard(device), now: now + .seconds(2)) == [])
            #expect(session.deadline == now + .seconds(3))
            now += .seconds(3)
            #expect(session.handle(.deadline, now: now).last == .scan)
        }
    }

    @Test("A link that was ended for its flood is made again the later, however long each one stood")
    func floods() {
        var (session, now) = session(after: .adapterReady)
        for seconds in [3, 6, 12, 24, 48, 60, 60] {
            // A device that was silent for long is tried at once, but this one was never silent.
            while session.state != .connected {
                if session.handle(.heard(device), now: now).contains(.connect(device)) {
                    _ = session.handle(.ready, now: now)
                }
                now += .seconds(1)
                _ = session.handle(.deadline, now: now)
            }
            now += Session.provenTime * 2
            #expect(session.handle(.flooded("too much"), now: now) == [.closeLink, .report(.failed, "too much")])
            #expect(session.handle(.linkClosed, now: now).isEmpty == (seconds == 3))
            #expect(session.deadline == now + .seconds(seconds))
        }
    }

    @Test("After failed scans, the pause doubles up to a minute; a received report resets it")
    func scanBackOff() {
        var (session, now) = session(after: .adapterReady)
        for seconds in [3, 6, 12, 24, 48, 60, 60, 60] {
            _ = session.handle(.scanFailed("busy"), now: now)
            #expect(session.deadline == now + .seconds(seconds))
            now += .seconds(seconds)
            #expect(session.handle(.deadline, now: now).last == .scan)
        }
        _ = session.handle(.heard(device), now: now)
        _ = session.handle(.attemptFailed("refused"), now: now)
        _ = session.handle(.linkClosed, now: now)
        _ = session.handle(.deadline, now: now + .seconds(3))
        _ = session.handle(.scanFailed("busy"), now: now + .seconds(3))
        #expect(session.deadline == now + .seconds(6))
    }

    @Test("A device that is not heard for 10 s is reported once, and still listened for")
    func notHeard() {
        var (session, now) = session(after: .adapterReady)
        now += .seconds(10)
        let actions = session.handle(.deadline, now: now)
        #expect(actions.count == 1)
        #expect(session.state == .failed)
        #expect(session.deadline == nil)
        #expect(session.handle(.heard(device), now: now + .seconds(100)).last == .connect(device))
    }

    @Test(
        "A name that is heard at another address is the reason in the place of the silence, at once where that was said"
    )
    func heardElsewhere() {
        let elsewhere = Reason("heard at another address")
        var (session, now) = session(after: .adapterReady)
        #expect(session.handle(.heardElsewhere(elsewhere), now: now) == [])
        now += .seconds(10)
        #expect(session.handle(.deadline, now: now) == [.report(.failed, elsewhere)])
        #expect(session.handle(.heardElsewhere(elsewhere), now: now) == [])
        let again = Reason("heard at a third one")
        #expect(session.handle(.heardElsewhere(again), now: now) == [.report(.failed, again)])
        #expect(session.handle(.heard(device), now: now).last == .connect(device))
        #expect(session.handle(.heardElsewhere(elsewhere), now: now) == [])
    }

    @Test("D-5: an unsupported device is left alone for 3 s at first, and the user who asks makes that no shorter")
    func unsupported() {
        var (session, now) = session(after: .adapterReady, .heard(device))
        #expect(
            session.handle(.unsupported("no service"), now: now) == [.closeLink, .report(.unsupported, "no service")]
        )
        #expect(session.handle(.linkClosed, now: now) == [])
        #expect(session.handle(.heard(device), now: now + .seconds(1)) == [])
        #expect(session.deadline == now + .seconds(3))
        #expect(session.handle(.connectAsked, now: now + .seconds(1)) == [.report(.connecting, nil)])
        #expect(session.deadline == now + .seconds(3))
        #expect(session.handle(.deadline, now: now + .seconds(3)).last == .scan)
    }

    @Test("Another choice closes the old link first, drops what waits, and only then listens for the new")
    func switching() {
        var (session, now) = session(after: .adapterReady, .heard(device), .ready)
        #expect(
            session.handle(.switched, now: now)
                == [
                    .drop(.switched), .closeLink,
                    .report(.connecting, "closing the link to the previous device"),
                ]
        )
        #expect(session.handle(.heard(device), now: now) == [])
        #expect(session.handle(.linkClosed, now: now) == [.report(.connecting, nil), .scan])
    }

    @Test("Only the user's disconnect disconnects, for as long as the user wants, and drops what waits (D-1)")
    func disconnecting() {
        var (session, now) = session(after: .adapterReady, .heard(device), .ready)
        #expect(
            session.handle(.disconnectAsked, now: now)
                == [.drop(.disconnected), .closeLink, .report(.disconnected, nil)]
        )
        #expect(session.handle(.linkClosed, now: now) == [])
        #expect(session.handle(.adapterLost("gone"), now: now) == [.report(.bluetoothOff, "gone")])
        #expect(session.handle(.adapterReady, now: now) == [.report(.disconnected, nil)])
        #expect(session.deadline == nil)
        #expect(session.handle(.connectAsked, now: now) == [.report(.connecting, nil), .scan])
    }

    @Test("The power state is looked at before disconnecting: without an adapter there is no link to close")
    func disconnectingWithoutPower() {
        var (session, now) = session(after: .adapterReady, .heard(device), .ready, .adapterLost("off"))
        _ = session.handle(.linkClosed, now: now)
        #expect(!session.handle(.disconnectAsked, now: now).contains(.closeLink))
        #expect(session.state == .bluetoothOff)
        #expect(session.handle(.adapterReady, now: now) == [.report(.disconnected, nil)])
    }

    @Test("An adapter that goes away ends whatever was going on, and its return begins anew")
    func adapterLost() {
        for events: [Session.Event] in [
            [.adapterReady], [.adapterReady, .heard(device)], [.adapterReady, .heard(device), .ready],
            [.adapterReady, .heard(device), .linkLost("gone")],
        ] {
            var session = Session(isChosen: true)
            for event in events { _ = session.handle(event, now: .zero) }
            let reason = Reason("blocked", remedy: "`rfkill unblock bluetooth`")
            #expect(session.handle(.adapterLost(reason), now: .seconds(1)).last == .report(.bluetoothOff, reason))
            #expect(session.deadline == nil)
            #expect(session.handle(.adapterLost(reason), now: .seconds(2)) == [])
            #expect(session.handle(.adapterReady, now: .seconds(9)).last == .scan)
        }
    }

    @Test("A link that never ends is not waited for longer than 5 s")
    func hungLink() {
        var (session, now) = session(after: .adapterReady, .heard(device), .ready, .switched)
        #expect(session.deadline == now + .seconds(5))
        #expect(session.handle(.deadline, now: now + .seconds(5)).last == .scan)
        #expect(session.handle(.linkClosed, now: now + .seconds(6)) == [])
    }
}
