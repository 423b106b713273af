// SPDX-License-Identifier: GPL-2.0-or-later

import SystemPackage
import Testing

@testable import BluetoothAdapters

@Suite("Packets that a descriptor had no room for")
struct OutgoingQueueTests {
    @Test("A packet that is taken in parts of any size is sent once, and the next behind it", arguments: 1...7)
    func parts(most: Int) throws {
        var queue = OutgoingQueue()
        let packets = (0..<5).map { number in (0..<10).map { UInt8(number * 10 + $0) } }
        let isAppended = packets.map { queue.append($0) }
        #expect(isAppended.allSatisfy { $0 })
        var taken: [UInt8] = []
        var room = 0
        var rounds = 0
        while !queue.isEmpty, rounds < 100 {
            rounds += 1
            room = most
            _ = try queue.drain { bytes throws(Errno) in
                guard room > 0 else { return nil }
                let count = min(room, bytes.count)
                for index in 0..<count { taken.append(bytes[index]) }
                room -= count
                return count
            }
        }
        #expect(taken == Array(packets.joined()))
    }
}
