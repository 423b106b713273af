// SPDX-License-Identifier: GPL-2.0-or-later

@testable import Keystrokes

/// Event queue of one application in the kernel, as in evdev: the application receives only complete frames.
///
/// An event that fills the last free slot discards all unread events except itself, and inserts SYN_DROPPED before it.
/// Linux, drivers/input/evdev.c: `__pass_event` and `evdev_fetch_next_event`.
struct EventQueue {
    /// Event that reports lost events.
    static let dropped = InputEvent(type: 0, code: 3, value: 0)

    private var slots: [InputEvent]
    private var head = 0
    private var tail = 0
    private var frameEnd = 0

    init(_ queue: ReaderQueue) { slots = [InputEvent](repeating: .report, count: queue.size) }

    private var mask: Int { slots.count - 1 }

    mutating func pass(_ event: InputEvent) {
        slots[head] = event
        head = (head + 1) & mask
        if head == tail {
            tail = (head - 2) & mask
            slots[tail] = Self.dropped
            frameEnd = tail
        }
        if event == .report { frameEnd = head }
    }

    /// Reads all events that are available to the application.
    mutating func readAll() -> [InputEvent] {
        var events: [InputEvent] = []
        while tail != frameEnd {
            events.append(slots[tail])
            tail = (tail + 1) & mask
        }
        return events
    }
}
