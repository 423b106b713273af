// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
public import Keystrokes
import LinuxIO

/// Measures how fast one thread converts bytes to events, in blocks of the size of a notification.
public enum EncoderMeasurement {
    /// Size of a block in bytes.
    public static let block = 20

    /// Returns a contender that runs our encoder; one unit of work is all of `input`.
    public static func ours(_ input: [UInt8], _ table: CompiledTable) -> Contender {
        let state = Ours(table)
        return Contender("ours") { count in timed(count) { state.encode(input) } }
    }

    /// Returns a contender that runs the C encoder; one unit of work is all of `input`.
    public static func reference(_ input: [UInt8]) throws -> Contender {
        guard let state = CEncoder() else { throw RingMeasurement.WrongBytes() }
        return Contender("C twin") { count in timed(count) { state.encode(input) } }
    }

    /// Returns a contender that performs, in C, only the loads and stores that an encoder needs.
    public static func stores(_ input: [UInt8]) throws -> Contender {
        guard let state = CEncoder() else { throw RingMeasurement.WrongBytes() }
        return Contender("loads and stores alone") { count in timed(count) { state.store(input) } }
    }

    /// Returns a contender that copies the output of our encoder with memcpy, batch by batch.
    public static func copying(_ input: [UInt8], _ table: CompiledTable) -> Contender {
        var lengths: [UInt32] = []
        var encoder = ByteEncoder(table)
        forEachBlock(input) { block in
            let taken = encoder.encode(block)
            lengths.append(UInt32(truncatingIfNeeded: encoder.output.byteCount))
            return taken
        }
        let from = [UInt8](repeating: 1, count: 8192)
        var to = [UInt8](repeating: 0, count: 8192)
        return Contender("memcpy of the output") { count in
            // Sound: no batch is longer than either buffer.
            timed(count) { unsafe cref_copy_blocks(&to, from, lengths, lengths.count) }
        }
    }

    /// Returns the events that our encoder and the C encoder produce for all of `input`.
    public static func outputs(_ input: [UInt8], _ table: CompiledTable) throws -> (ours: [UInt8], reference: [UInt8]) {
        guard let reference = CEncoder() else { throw RingMeasurement.WrongBytes() }
        var encoder = ByteEncoder(table)
        var ours: [UInt8] = []
        forEachBlock(input) { block in
            let taken = encoder.encode(block)
            let output = encoder.output
            for offset in 0..<output.byteCount {
                ours.append(unsafe output.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            }
            return taken
        }
        return (ours, reference.output(input))
    }

    /// Runs `body` `count` times and measures the time, on a thread that should be bound to one processor.
    public static func timed(_ count: Int, _ body: () -> Int) -> ThreadPair.Time {
        let before = cref_preemptions()
        let start = MonotonicClock.nanoseconds
        var sum = 0
        for _ in 0..<count { sum &+= body() }
        // Sound: only one thread measures at a time.
        unsafe sink = sum
        return ThreadPair.Time(
            nanoseconds: MonotonicClock.nanoseconds - start,
            preemptions: cref_preemptions() - before
        )
    }

    /// Sink for unused results, so that the compiler does not remove their computation.
    nonisolated(unsafe) static var sink = 0

    private static func forEachBlock(_ input: [UInt8], _ body: (Span<UInt8>) -> Int) {
        let span = input.span
        var at = 0
        while at < span.count { at += body(span.extracting(at..<min(at + block, span.count))) }
    }

    private final class Ours {
        private var encoder: ByteEncoder?

        init(_ table: CompiledTable) {
            encoder = ByteEncoder(table)
        }

        func encode(_ input: [UInt8]) -> Int {
            guard var encoder = encoder.take() else { return 0 }
            let span = input.span
            let count = span.count
            var at = 0
            while at < count { at &+= encoder.encode(span.extracting(at..<min(at &+ block, count))) }
            self.encoder = .some(consume encoder)
            return at
        }
    }

    @safe
    private final class CEncoder {
        private let encoder: OpaquePointer

        init?() {
            guard let encoder = unsafe cref_encoder_create() else { return nil }
            unsafe self.encoder = unsafe encoder
        }

        deinit {
            unsafe cref_encoder_destroy(encoder)
        }

        func encode(_ input: [UInt8]) -> Int {
            // Sound: the pointer and the count are those of the same array.
            unsafe cref_encode_blocks(encoder, input, input.count, block)
        }

        func store(_ input: [UInt8]) -> Int {
            // Sound: as above, and the keys of a block fit in a batch.
            unsafe cref_store_blocks(encoder, input, input.count, block)
        }

        func output(_ input: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            // Sound: as above; only the bytes that the call wrote are read.
            unsafe input.withUnsafeBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return }
                var at = 0
                while at < buffer.count {
                    var taken = 0
                    let length = unsafe cref_encode(encoder, start + at, min(block, buffer.count - at), &taken)
                    unsafe result.append(
                        contentsOf: UnsafeBufferPointer(start: cref_encoder_output(encoder), count: length)
                    )
                    at += taken
                }
            }
            return result
        }
    }
}

/// Case that runs without reading the clock, for use with a profiler or an instruction counter.
public enum ProfiledCase: String, CaseIterable, Sendable {
    /// Converts barcode bytes to events; one unit of work is one byte.
    case encode
    case encodeInC = "encode-c"
    /// Converts random bytes to events; one unit of work is one byte.
    case random
    case randomInC = "random-c"
    /// Sends notifications of 20 bytes through the whole path to /dev/null, one at a time in one thread; one unit of
    /// work is one notification.
    case path
    case pathInC = "path-c"
    /// Like `path`, but with eight notifications per write.
    case burst
    case burstInC = "burst-c"

    /// Runs about `units` units of work, in blocks or bursts.
    public func run(_ units: Int, _ table: CompiledTable) throws {
        switch self {
        case .encode: try Self.repeated(EncoderMeasurement.ours(Self.barcodes, table), units)
        case .encodeInC: try Self.repeated(EncoderMeasurement.reference(Self.barcodes), units)
        case .random: try Self.repeated(EncoderMeasurement.ours(Self.noise, table), units)
        case .randomInC: try Self.repeated(EncoderMeasurement.reference(Self.noise), units)
        case .path, .burst:
            try PathMeasurement.turns(Pattern(.mixed), table, chunk: Self.chunk, burst: burst, to: .init())(
                units / burst
            )
        case .pathInC, .burstInC:
            try PathMeasurement.referenceTurns(Pattern(.mixed), chunk: Self.chunk, burst: burst, to: .init())(
                units / burst
            )
        }
    }

    private static let chunk = 20
    private static let block = 4096
    private static let barcodes = Corpus.mixed.bytes(block)
    private static let noise = Corpus.random.bytes(block)

    private var burst: Int { self == .burst || self == .burstInC ? 8 : 1 }

    private static func repeated(_ contender: Contender, _ units: Int) throws {
        _ = try contender.run(units / block)
    }
}
