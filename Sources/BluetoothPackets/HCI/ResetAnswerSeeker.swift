// SPDX-License-Identifier: GPL-2.0-or-later

/// Finds the answer to Reset in a stream of H4 packets whose beginning nobody knows, and drops all that comes before it.
///
/// A host that takes over a controller which is talking finds itself in the middle of a packet, with others behind it that
/// were meant for the host before. Reset ends all that, and its answer is always the same seven bytes, but for two.
///
/// Core 6.0, Vol 4, Part A, 4, and Part E, 7.3.2.
public struct ResetAnswerSeeker: Sendable {
    /// The answer's length, as Command Complete and as Command Status.
    private static let length = 7

    private var window: [UInt8] = []
    /// The bytes that came before the answer.
    public private(set) var dropped: UInt64 = 0

    /// The bytes that came, and are no answer so far.
    public var taken: UInt64 { dropped &+ UInt64(window.count) }

    /// A seeker at any place of a stream.
    public init() {}

    /// Takes the stream's next bytes, however they were cut.
    ///
    /// Returns the answer, its indicator included, and the number of these bytes up to its end; nil as long as it has not
    /// come.
    public mutating func take(_ bytes: Span<UInt8>) -> (answer: [UInt8], count: Int)? {
        for index in bytes.indices {
            if window.count == Self.length {
                window.removeFirst()
                dropped &+= 1
            }
            window.append(bytes[index])
            if Self.isAnswer(window.span) { return (window, index &+ 1) }
        }
        return nil
    }

    /// Command Complete with a status, or Command Status, each with any number of commands that are allowed.
    private static func isAnswer(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == length, bytes[0] == HCIPacketType.event.rawValue, bytes[2] == 4 else { return false }
        return switch bytes[1] {
        case HCIEvent.Code.commandComplete: opcode(bytes, at: 4) == .reset
        case HCIEvent.Code.commandStatus: opcode(bytes, at: 5) == .reset && bytes[3] != 0
        default: false
        }
    }

    private static func opcode(_ bytes: Span<UInt8>, at offset: Int) -> HCIOpcode {
        HCIOpcode(rawValue: UInt16(bytes[offset]) | UInt16(bytes[offset &+ 1]) &<< 8)
    }
}
