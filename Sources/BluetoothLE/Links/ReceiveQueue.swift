// SPDX-License-Identifier: GPL-2.0-or-later

/// What is known of a socket's receive queue: whether the kernel can have dropped packets for want of room in it.
///
/// The kernel drops a packet only while others wait, even in the smallest queue, which has room for two of the longest MTU.
/// What it drops behind the last packet that waits is told with the next one, which may come much later. A queue that has
/// held one packet at a time since it was last empty has therefore dropped none, and its next packet need not be asked.
struct ReceiveQueue {
    /// The packets that were taken since the queue was last found empty, two for more.
    private var taken: UInt8 = 2
    /// True unless the queue held one packet at most between the last two times that it was found empty.
    private var wasLonger = true

    /// True if the next packet may tell of dropped ones.
    var mayHaveDropped: Bool { wasLonger || taken > 0 }

    /// Notes that a packet was taken, or that taking it failed.
    mutating func take() { taken = min(taken &+ 1, 2) }

    /// Notes that there was none to take.
    mutating func foundEmpty() {
        wasLonger = taken > 1
        taken = 0
    }
}
