// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
import Keystrokes

/// Chunks through a ring from one thread to another.
public enum RingMeasurement {
    /// The capacity that every ring is measured with.
    public static let capacity = 65536

    /// Bytes arrived otherwise than they were sent.
    public struct WrongBytes: Error {
        /// A fault to throw.
        public init() {}
    }

    /// Our ring; a unit of work is a chunk of `chunk` bytes.
    public static func ours(_ pattern: Pattern, chunk: Int, checks: Bool = false) -> Contender {
        Contender("ours") { count in
            let ring = try ByteRing(capacity: capacity)
            let faults = Faults()
            let time = try ThreadPair.run(
                {
                    guard var producer = ring.takeProducer() else { return }
                    produce(&producer, pattern, chunk, total: chunk * count)
                },
                {
                    guard var consumer = ring.takeConsumer() else { return }
                    faults.count = consume(&consumer, pattern, chunk, total: chunk * count, checks)
                }
            )
            guard faults.count == 0 else { throw WrongBytes() }
            return time
        }
    }

    /// The ring in C.
    public static func reference(_ pattern: Pattern, chunk: Int, checks: Bool = false) -> Contender {
        Contender("C ring") { count in
            guard let ring = CRing(capacity: capacity) else { throw WrongBytes() }
            let faults = Faults()
            let time = try ThreadPair.run(
                { ring.produce(pattern, chunk, chunk * count) },
                { faults.count = ring.consume(pattern, chunk, chunk * count, checks) }
            )
            guard faults.count == 0 else { throw WrongBytes() }
            return time
        }
    }

    /// Pushes and pops `count` chunks of our ring in this thread; answers the bytes.
    public static func turns(_ pattern: Pattern, chunk: Int, count: Int) throws -> Int {
        let ring = try ByteRing(capacity: capacity)
        guard var producer = ring.takeProducer(), var consumer = ring.takeConsumer() else { return 0 }
        let bytes = unsafe pattern.bytes.span.bytes
        var target = [UInt8](repeating: 0, count: 256)
        var span = target.mutableSpan
        var received = 0
        for turn in 0..<count {
            let offset = turn &* chunk & (pattern.period - 1)
            guard producer.push(bytes.extracting(offset..<(offset &+ chunk))) else { return received }
            var room = unsafe span.mutableBytes
            var wanted = room._mutatingExtracting(first: chunk)
            received &+= consumer.pop(into: &wanted)
        }
        return received
    }

    private static func produce(_ producer: inout ByteRing.Producer, _ pattern: Pattern, _ chunk: Int, total: Int) {
        let bytes = unsafe pattern.bytes.span.bytes
        let mask = pattern.period - 1
        var sent = 0
        while sent < total {
            let offset = sent & mask
            let source = bytes.extracting(offset..<(offset &+ chunk))
            while !producer.push(source) { cref_back_off() }
            sent &+= chunk
        }
    }

    private static func consume(
        _ consumer: inout ByteRing.Consumer,
        _ pattern: Pattern,
        _ chunk: Int,
        total: Int,
        _ checks: Bool
    ) -> Int {
        var target = [UInt8](repeating: 0, count: 256)
        var faults = 0
        var received = 0
        var span = target.mutableSpan
        while received < total {
            var bytes = unsafe span.mutableBytes
            var wanted = bytes._mutatingExtracting(first: chunk)
            let count = consumer.pop(into: &wanted)
            guard count > 0 else {
                cref_back_off()
                continue
            }
            if checks {
                let offset = received & (pattern.period - 1)
                for index in 0..<count where span[index] != pattern.bytes[offset + index] { faults += 1 }
            }
            received &+= count
        }
        return faults
    }
}

/// A count of one thread that another reads after the first has ended.
public final class Faults: @unchecked Sendable {
    // Unchecked is sound: the reader joins the writer first.
    /// The number of faults.
    public var count = 0

    /// No faults.
    public init() {}
}

/// The ring in C, with an owner.
@safe
private final class CRing: @unchecked Sendable {
    // Unchecked is sound: each end is used by one thread, as the ring in C allows.
    private let ring: OpaquePointer

    init?(capacity: Int) {
        guard let ring = unsafe cref_ring_create(capacity) else { return nil }
        unsafe self.ring = unsafe ring
    }

    deinit {
        // Sound: the threads that use it hold a reference.
        unsafe cref_ring_destroy(ring)
    }

    func produce(_ pattern: Pattern, _ chunk: Int, _ total: Int) {
        // Sound: the ring lives as long as this object.
        unsafe pattern.withC { unsafe cref_ring_produce(ring, $0, chunk, total) }
    }

    func consume(_ pattern: Pattern, _ chunk: Int, _ total: Int, _ checks: Bool) -> Int {
        // Sound: as above.
        unsafe pattern.withC { unsafe cref_ring_consume(ring, $0, chunk, total, checks) }
    }
}

extension Pattern {
    /// The pattern as the C code takes it.
    func withC<Result>(_ body: (cref_pattern) -> Result) -> Result {
        // Sound: the pointer is used within the closure only.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe body(cref_pattern(bytes: buffer.baseAddress, period: period))
        }
    }
}
