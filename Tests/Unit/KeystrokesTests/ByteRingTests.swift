// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("The ring")
struct ByteRingTests {
    /// Returns initial counters: zero, and values that wrap around during the test.
    static func starts(_ capacity: Int) -> [UInt] {
        let size = UInt(capacity)
        return (0..<size).map { $0 } + (0...size).map { UInt.max - $0 }
    }

    @Test("Every capacity, start and count keeps its bytes", arguments: [2, 4, 8, 16, 32, 64])
    func exhaustive(capacity: Int) throws {
        for start in Self.starts(capacity) {
            for count in 0...capacity + 1 {
                let ring = try ByteRing(capacity: capacity, startingAt: start)
                let ends = try Ends(ring)
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 + 1) }
                let fits = count <= capacity
                try #require(ends.push(bytes) == fits)
                let there = fits ? bytes : []
                try #require(ends.available(from: ends.position) == there.count)
                // Reads without removing: the bytes up to the end of the buffer, and those after it.
                var seen: [UInt8] = []
                var position = ends.position
                while seen.count < there.count {
                    let span = ends.bytes(at: position, count: there.count - seen.count)
                    guard !span.isEmpty else { break }
                    seen += span
                    position &+= UInt(span.count)
                }
                try #require(seen == there)
                try #require(ends.bytes(at: ends.position &+ UInt(there.count), count: 1).isEmpty)
                // Removing a part makes room for as many bytes, and the remaining bytes keep their order.
                let part = there.count / 2
                try #require(ends.pop(part) == Array(there.prefix(part)))
                let room = capacity - there.count + part
                try #require(!ends.push([UInt8](repeating: 9, count: room + 1)))
                let more = [UInt8](repeating: 7, count: room)
                try #require(ends.push(more))
                try #require(ends.pop(capacity + 5) == there.dropFirst(part) + more)
                try #require(ends.pop(1).isEmpty)
            }
        }
    }

    @Test("Two words and a payload go in as one or not at all", arguments: [16, 32, 64])
    func records(capacity: Int) throws {
        for start in Self.starts(capacity) {
            for count in 0...capacity {
                let ring = try ByteRing(capacity: capacity, startingAt: start)
                let ends = try Ends(ring)
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ 0x55) }
                let fits = count + 16 <= capacity
                try #require(ends.push(0x0123_4567_89AB_CDEF, 42, bytes) == fits)
                let words = ends.words(at: ends.position)
                guard fits else {
                    try #require(words == [] && ends.available(from: ends.position) == 0)
                    continue
                }
                try #require(words == [0x0123_4567_89AB_CDEF, 42])
                ends.release(through: ends.position &+ 16)
                try #require(ends.pop(capacity) == bytes)
                try #require(ends.words(at: ends.position) == [])
            }
        }
    }

    @Test("Random pushes and pops against a model", arguments: [2, 8, 64, 1024])
    func model(capacity: Int) throws {
        var random = SeededGenerator(seed: UInt64(capacity))
        let ring = try ByteRing(capacity: capacity, startingAt: UInt.max - 100)
        let ends = try Ends(ring)
        var model: [UInt8] = []
        for _ in 0..<20_000 {
            if Bool.random(using: &random) {
                let bytes = (0..<Int.random(in: 0...capacity, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let fits = model.count + bytes.count <= capacity
                try #require(ends.push(bytes) == fits)
                if fits { model += bytes }
            } else {
                let count = Int.random(in: 0...capacity, using: &random)
                try #require(ends.pop(count) == Array(model.prefix(count)))
                model.removeFirst(min(count, model.count))
            }
        }
    }

    @Test("Capacities that are no power of two, or out of bounds, are refused")
    func capacities() throws {
        for capacity in [Int.min, -2, 0, 1, 3, 5, 100, (1 << 30) + 1, 1 << 31, Int.max] {
            #expect(throws: ByteRing.CapacityError(capacity: capacity)) { try ByteRing(capacity: capacity) }
        }
        #expect(try ByteRing(capacity: 2).capacity == 2)
    }

    @Test("A ring has one producer and one consumer")
    func ends() throws {
        let ring = try ByteRing(capacity: 2)
        var taken = 0
        for _ in 0..<3 {
            if case .some = ring.takeProducer() { taken += 1 }
            if case .some = ring.takeConsumer() { taken += 1 }
        }
        #expect(taken == 2)
    }

    @Test("Positions outside the pushed bytes return nothing and release nothing")
    func positions() throws {
        let ring = try ByteRing(capacity: 8, startingAt: UInt.max - 3)
        let ends = try Ends(ring)
        #expect(ends.push([1, 2, 3]))
        #expect(ends.available(from: ends.position) == 3)
        for position in [ends.position &- 1, ends.position &+ 4, ends.position &+ 1000] {
            #expect(ends.bytes(at: position, count: 8).isEmpty)
            #expect(ends.words(at: position) == [])
        }
        #expect(ends.bytes(at: ends.position, count: -1).isEmpty)
        ends.release(through: ends.position &+ 1000)
        #expect(ends.push([UInt8](repeating: 5, count: 8)))
        #expect(!ends.push([6]))
        #expect(ends.pop(9).count == 8)
    }

    @Test("A push wakes a sleeping consumer once, and does not signal one that is awake")
    func wake() throws {
        let ring = try ByteRing(capacity: 8)
        let ends = try Ends(ring)
        #expect(ends.push([1]))
        #expect(!ends.mustWake())
        #expect(!ends.mayFallAsleep())
        #expect(ends.pop(8) == [1])
        #expect(ends.mayFallAsleep())
        #expect(ends.push([2]))
        #expect(ends.mustWake())
        #expect(!ends.mustWake())
        #expect(ends.pop(8) == [2])
        #expect(ends.mayFallAsleep())
        ends.stayAwake()
        #expect(ends.push([3]))
        #expect(!ends.mustWake())
    }
}
