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

    @Test("The interval is in units of 0.625 ms, from 20 ms to 10.24 s; 100 ms is the usual one")
    func units() {
        let intervals: [(Duration, UInt16)] = [
            (.seconds(-1), 32), (.zero, 32), (.microseconds(20_624), 32), (.microseconds(20_625), 33),
            (.milliseconds(1020), 1632), (.milliseconds(10_239), 16_382), (.milliseconds(10_240), 16_384),
            (.seconds(11), 16_384), (.seconds(100), 16_384),
        ]
        for (interval, slots) in intervals {
            #expect(Advertisement(data: [], interval: interval).intervalSlots == slots, "\(interval)")
        }
        let usual = Advertisement(data: [2, 1, 6])
        #expect(
            usual.intervalSlots == 160 && usual.isConnectable && usual.scanResponse.isEmpty && usual.data == [2, 1, 6]
        )
    }
}
