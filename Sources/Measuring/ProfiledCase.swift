// SPDX-License-Identifier: GPL-2.0-or-later

public import Keystrokes

/// A case that runs without a clock, for a profiler or a counter of instructions.
public enum ProfiledCase: String, CaseIterable, Sendable {
    /// Bytes of barcodes to events; a unit is a byte.
    case encode
    case encodeInC = "encode-c"
    /// Any bytes to events; a unit is a byte.
    case random
    case randomInC = "random-c"
    /// Notifications of 20 bytes through the whole path into /dev/null, one after the other in one thread; a unit is a
    /// notification.
    case path
    case pathInC = "path-c"
    /// As `path`, eight notifications a write.
    case burst
    case burstInC = "burst-c"

    /// Runs so many units, in blocks or bursts.
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
