// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import BluetoothAdapters

/// Times at which advertising is enabled again.
@Suite(.timeLimit(.minutes(10))) struct AdvertisingWatchTests {
    @Test("Advertising is enabled again each minute, and a second after another program's command")
    func intervals() {
        var watch = AdvertisingWatch()
        #expect(watch.deadline == nil)
        watch.note(foreignCommands: 0, now: .seconds(5))
        #expect(watch.deadline == .seconds(65))
        watch.note(foreignCommands: 0, now: .seconds(20))
        #expect(watch.deadline == .seconds(65))
        watch.note(foreignCommands: 1, now: .seconds(30))
        #expect(watch.deadline == .seconds(31))
        // Repeated foreign commands do not postpone it forever.
        watch.note(foreignCommands: 2, now: .milliseconds(30_900))
        #expect(watch.deadline == .seconds(31))
        watch.resume()
        #expect(watch.deadline == nil)
        watch.note(foreignCommands: 2, now: .seconds(31))
        #expect(watch.deadline == .seconds(91))
    }
}
