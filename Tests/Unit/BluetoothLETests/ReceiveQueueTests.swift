// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import BluetoothAdapters

@Suite("Possible drops of a receive queue")
struct ReceiveQueueTests {
    /// Returns a queue that was found empty twice, with this number of packets in between.
    private static func queue(after packets: Int) -> ReceiveQueue {
        var queue = ReceiveQueue()
        queue.foundEmpty()
        for _ in 0..<packets { queue.take() }
        queue.foundEmpty()
        return queue
    }

    @Test("A packet that found the queue empty, behind one at most, is not asked what was dropped before it")
    func short() {
        #expect(!Self.queue(after: 0).mayHaveDropped)
        #expect(!Self.queue(after: 1).mayHaveDropped)
    }

    @Test("A drop after the last of several packets is reported with the next packet, however late", arguments: 2...9)
    func long(packets: Int) {
        var queue = Self.queue(after: packets)
        #expect(queue.mayHaveDropped)
        queue.take()
        #expect(queue.mayHaveDropped)
        queue.foundEmpty()
        #expect(!queue.mayHaveDropped)
    }

    @Test("Each packet behind another is asked, and the first of all, of a queue that nobody has looked into")
    func waiting() {
        var queue = ReceiveQueue()
        #expect(queue.mayHaveDropped)
        queue.foundEmpty()
        #expect(queue.mayHaveDropped)
        queue.foundEmpty()
        #expect(!queue.mayHaveDropped)
        queue.take()
        #expect(queue.mayHaveDropped)
    }
}
