// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
import Glibc
import Keystrokes
import Measuring
import Synchronization

/// Straightforward encoder: a dictionary, and a new array of events for each chunk.
struct NaiveEncoder {
    /// Input event in the kernel's format.
    struct Event {
        var seconds = 0
        var microseconds = 0
        var type: UInt16
        var code: UInt16
        var value: Int32
    }

    private static let shift: UInt16 = 42
    private let keys: [UInt8: KeyboardLayout.Stroke]

    init() {
        var keys: [UInt8: KeyboardLayout.Stroke] = [:]
        for (character, strokes) in KeyboardLayout.us.strokes { keys[UInt8(ascii: character)] = strokes.first }
        for (byte, key) in [(8, KeyCode.backspace), (9, .tab), (10, .enter), (13, .enter)] as [(UInt8, KeyCode)] {
            keys[byte] = KeyboardLayout.Stroke(key)
        }
        self.keys = keys
    }

    /// Returns the same events for a chunk as our encoder.
    func encode(_ chunk: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        var isHeld = false
        var previous: UInt8 = 0
        for byte in chunk {
            defer { previous = byte }
            if byte == 10, previous == 13 { continue }
            guard let stroke = keys[byte] else { continue }
            let needsShift = stroke.modifiers.contains(.shift)
            if needsShift != isHeld {
                events.append(Event(type: 1, code: Self.shift, value: needsShift ? 1 : 0))
                isHeld = needsShift
            }
            for value in [1, 0] as [Int32] {
                events.append(Event(type: 1, code: stroke.key.rawValue, value: value))
                events.append(Event(type: 0, code: 0, value: 0))
            }
        }
        if isHeld {
            events.removeLast()
            events.append(Event(type: 1, code: Self.shift, value: 0))
            events.append(Event(type: 0, code: 0, value: 0))
        }
        return events
    }

    /// Encodes all of `input` in blocks of the same size as the other encoders; returns the number of bytes of the
    /// events.
    func encodeAll(_ input: [UInt8]) -> Int {
        var bytes = 0
        for start in stride(from: 0, to: input.count, by: EncoderMeasurement.block) {
            let events = encode(input[start..<min(start + EncoderMeasurement.block, input.count)])
            bytes += events.count * MemoryLayout<Event>.size
        }
        return bytes
    }

    /// Encodes all of `input` and returns the bytes of the events.
    func output(_ input: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: input.count, by: EncoderMeasurement.block) {
            let events = encode(input[start..<min(start + EncoderMeasurement.block, input.count)])
            events.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}

/// Straightforward data path: a deque protected by a mutex, `NaiveEncoder`, and one write per event.
enum NaivePath {
    static func contender(_ pattern: Pattern, chunk: Int, _ descriptor: Int32) -> Contender {
        let encoder = NaiveEncoder()
        return Contender("naive Swift, a write per event") { count in
            let queue = DequeQueue()
            return try ThreadPair.run(
                { queue.produce(pattern, chunk, chunk * count) },
                {
                    var target = [UInt8](repeating: 0, count: 256)
                    var received = 0
                    while received < chunk * count {
                        let taken = queue.pop(chunk, into: &target)
                        guard taken > 0 else {
                            cref_back_off()
                            continue
                        }
                        for event in encoder.encode(target[..<taken]) {
                            withUnsafeBytes(of: event) { _ = write(descriptor, $0.baseAddress, $0.count) }
                        }
                        received += taken
                    }
                }
            )
        }
    }
}
