// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Link
import TestSupport
import Testing

@Suite("Lines that wait for a reader")
struct LineQueueTests {
    /// Line created by the test, and the reported outcomes of its parts.
    private final class Made {
        var parts: [[UInt8]] = []
        /// Outcome of each part; nil until it is reported.
        var outcomes: [Bool?] = []
        var bytes: [UInt8] { parts.flatMap { $0 } }
        var isWhole = false
    }

    /// Reader with the bytes that it has received; `skipped` is the number of lines started before it connected.
    private final class Reader {
        var queue: LineQueue
        var got: [UInt8] = []
        let skipped: Int

        init(_ policy: SlowReaderPolicy, capacity: Int, skipped: Int) {
            queue = LineQueue(policy, capacity: capacity)
            self.skipped = skipped
        }

        func take(_ most: Int) {
            let bytes = queue.next(most)
            got += bytes
            queue.took(bytes.count)
        }
    }

    /// Random deliveries, short reads, and readers that connect and disconnect.
    private final class Run {
        let capacity = 3 * LineQueue.longestLine
        let policy: SlowReaderPolicy
        var generator: SeededGenerator
        var made: [Made] = []
        var here: [Reader] = []
        var gone: [Reader] = []
        /// Number of outcomes that were reported twice.
        var doubled = 0
        var dropped = 0

        init(_ policy: SlowReaderPolicy, seed: UInt64) {
            self.policy = policy
            generator = SeededGenerator(seed: seed)
        }

        func deliver() {
            let isOpen = made.last.map { !$0.isWhole } ?? false
            let line = isOpen ? made[made.count - 1] : Made()
            if !isOpen { made.append(line) }
            let number = made.count
            var part = Array("\(number).\(line.parts.count):".utf8)
            part += [UInt8](repeating: UInt8(ascii: "x"), count: Int.random(in: 0...900, using: &generator))
            let ends = line.parts.count == 3 || Int.random(in: 0..<3, using: &generator) > 0
            if ends { part.append(0x0A) }
            let index = line.parts.count
            line.parts.append(part)
            line.outcomes.append(nil)
            line.isWhole = ends
            let wire = OutputLine(part, cost: part.count, begins: !isOpen, ends: ends) {
                [unowned self, line] isDelivered, cost in
                if line.outcomes[index] != nil || cost != part.count { doubled += 1 }
                line.outcomes[index] = isDelivered
            }
            for reader in here {
                let fits = reader.queue.fits(wire)
                let missed = reader.queue.counts.missed
                let waiting = reader.queue.waiting
                reader.queue.append(wire)
                if wire.begins, fits {
                    #expect(reader.queue.counts.missed == missed, "dropped though there was room")
                    #expect(reader.queue.waiting == waiting + part.count)
                }
                if reader.queue.counts.missed > missed { dropped += 1 }
                #expect(reader.queue.waiting <= capacity)
            }
            wire.letGo(isTaken: false)
        }

        func step() {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<45: deliver()
            case 45..<94:
                if let reader = here.randomElement(using: &generator) {
                    reader.take(Int.random(in: 1...1200, using: &generator))
                }
            case 94..<97:
                if here.count < 4 { here.append(Reader(policy, capacity: capacity, skipped: made.count)) }
            default:
                guard let index = here.indices.randomElement(using: &generator) else { return }
                let reader = here.remove(at: index)
                reader.queue.removeAll()
                gone.append(reader)
            }
        }

        /// Returns true if a reader has received each line once, completely and in order; its last line may be
        /// incomplete.
        func gotWholeLines(_ reader: Reader) -> Bool {
            var rest = reader.got[...]
            for line in made[reader.skipped...] where !rest.isEmpty {
                let bytes = line.bytes
                if rest.starts(with: bytes) {
                    rest = rest.dropFirst(bytes.count)
                } else if bytes.starts(with: rest) {
                    rest = []
                }
            }
            return rest.isEmpty
        }

        /// Returns the parts that a reader has received completely.
        func wholeParts(_ reader: Reader) -> Set<[UInt8]> {
            var parts: Set<[UInt8]> = []
            var rest = reader.got[...]
            for part in made[reader.skipped...].flatMap(\.parts) where rest.starts(with: part) {
                parts.insert(part)
                rest = rest.dropFirst(part.count)
            }
            return parts
        }
    }

    @Test(
        "Readers that are slow, come, and go in the middle of a line get whole lines in order, and the counts are exact",
        arguments: SlowReaderPolicy.allCases,
        0..<4
    )
    func random(policy: SlowReaderPolicy, seed: Int) {
        let run = Run(policy, seed: UInt64(seed))
        run.here = [Reader(policy, capacity: run.capacity, skipped: 0)]
        for _ in 0..<3000 { run.step() }
        #expect(run.dropped > 100, "nothing was dropped: this proves nothing")
        #expect(run.gone.count > 10)
        let readers = run.here + run.gone
        // Connected readers read everything that is queued.
        for reader in run.here { while reader.queue.waiting > 0 { reader.take(700) } }
        var delivered: Set<[UInt8]> = []
        for (index, reader) in readers.enumerated() {
            #expect(run.gotWholeLines(reader), "reader \(index) got a torn line")
            let parts = run.wholeParts(reader)
            let count = parts.reduce(0) { $0 + $1.count }
            #expect(reader.queue.counts.delivered == UInt64(count))
            delivered.formUnion(parts)
        }
        for reader in run.here {
            // The reader was connected since then, so it missed everything that it did not receive.
            let since = run.made[reader.skipped...].flatMap(\.parts).reduce(0) { $0 + $1.count }
            let missed = UInt64(since) - UInt64(reader.got.count)
            // It also missed the rest of the line during which it connected.
            #expect(reader.queue.counts.missed >= missed)
        }
        #expect(run.doubled == 0)
        for line in run.made {
            for (part, outcome) in zip(line.parts, line.outcomes) {
                #expect(outcome == delivered.contains(part), "told \(String(describing: outcome))")
            }
        }
    }

    private static func line(_ text: String, _ outcomes: Outcomes, begins: Bool = true, ends: Bool = true) -> OutputLine
    {
        OutputLine(Array(text.utf8), cost: text.utf8.count, begins: begins, ends: ends) { isDelivered, cost in
            outcomes.told.append((text, isDelivered, cost))
        }
    }

    private final class Outcomes {
        var told: [(text: String, isDelivered: Bool, cost: Int)] = []
        var delivered: [String] { told.filter(\.isDelivered).map(\.text) }
        var lost: [String] { told.filter { !$0.isDelivered }.map(\.text) }
    }

    private static func fill(_ queue: inout LineQueue, _ texts: [String], _ outcomes: Outcomes) {
        for text in texts {
            let line = line(text, outcomes)
            queue.append(line)
            line.letGo(isTaken: false)
        }
    }

    private static func all(_ queue: inout LineQueue) -> String {
        let bytes = queue.next(100)
        queue.took(bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Drop-newest drops the line that finds no room, and takes a later one that does")
    func dropNewest() {
        var queue = LineQueue(.dropNewest, capacity: 10)
        let outcomes = Outcomes()
        Self.fill(&queue, ["abc\n", "def\n", "ghi\n", "j\n"], outcomes)
        #expect(outcomes.lost == ["ghi\n"])
        #expect(queue.counts.missed == 4)
        #expect(Self.all(&queue) == "abc\ndef\nj\n")
        #expect(outcomes.delivered == ["abc\n", "def\n", "j\n"])
        #expect(queue.counts.delivered == 10)
    }

    @Test("Drop-oldest makes room by the oldest lines, but never by one that the reader has begun to take")
    func dropOldest() {
        var queue = LineQueue(.dropOldest, capacity: 10)
        let outcomes = Outcomes()
        Self.fill(&queue, ["abc\n", "def\n"], outcomes)
        queue.took(1)
        Self.fill(&queue, ["ghi\n"], outcomes)
        #expect(outcomes.lost == ["def\n"])
        #expect(outcomes.delivered.isEmpty)
        #expect(Self.all(&queue) == "bc\nghi\n")
        // A line that never fits is dropped, whatever is queued.
        Self.fill(&queue, ["much too long\n"], outcomes)
        #expect(outcomes.lost.last == "much too long\n")
    }

    @Test(
        "A line in parts is refused to its end where its beginning was, and has room to its end where it had not"
    )
    func parts() {
        var queue = LineQueue(.dropNewest, capacity: LineQueue.longestLine + 4)
        let outcomes = Outcomes()
        func put(_ text: String, begins: Bool, ends: Bool) {
            let line = Self.line(text, outcomes, begins: begins, ends: ends)
            queue.append(line)
            line.letGo(isTaken: false)
        }
        // The reader connected in the middle of the line.
        put("tail\n", begins: false, ends: true)
        #expect(outcomes.lost == ["tail\n"])
        put("ab", begins: true, ends: false)
        put("cd\n", begins: false, ends: true)
        put("e\n", begins: true, ends: true)
        // There is no room for a line of the maximum length.
        put("fg", begins: true, ends: false)
        #expect(outcomes.lost == ["tail\n", "fg"])
        #expect(Self.all(&queue) == "abcd\ne\n")
        // There is room now, but the beginning of the line was dropped.
        put("hi\n", begins: false, ends: true)
        #expect(outcomes.lost == ["tail\n", "fg", "hi\n"])
        #expect(outcomes.delivered == ["ab", "cd\n", "e\n"])
    }

    @Test("A line counts as delivered when one of its readers took it whole")
    func oneOfTwo() {
        let outcomes = Outcomes()
        var (quick, slow) = (LineQueue(.dropNewest), LineQueue(.dropNewest))
        let line = Self.line("abc\n", outcomes)
        quick.append(line)
        slow.append(line)
        line.letGo(isTaken: false)
        quick.took(4)
        slow.took(3)
        #expect(outcomes.told.isEmpty)
        slow.removeAll()
        #expect(outcomes.delivered == ["abc\n"])
        #expect(slow.counts.missed == 4 && slow.counts.delivered == 0 && quick.counts.delivered == 4)
    }

    @Test("No more lines wait than a bound, however short they are")
    func shortLines() {
        var queue = LineQueue(.dropNewest)
        let outcomes = Outcomes()
        Self.fill(&queue, Array(repeating: "\n", count: LineQueue.mostLines + 1), outcomes)
        #expect(queue.waiting == LineQueue.mostLines)
        #expect(outcomes.lost.count == 1)
    }
}
