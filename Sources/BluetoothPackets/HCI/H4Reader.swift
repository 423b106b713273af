// SPDX-License-Identifier: GPL-2.0-or-later

/// Finds the packets in a stream of bytes between host and controller.
///
/// Each packet begins with its indicator. The stream has no mark to find a beginning by, so the first byte that cannot
/// begin a packet ends it for good: whoever reads must start the stream anew.
///
/// Core 6.0, Vol 4, Part A, 2.
public struct H4Reader: Sendable {
    /// The writer of the stream.
    public enum Source: Hashable, Sendable {
        /// A controller: everything but commands.
        case controller
        /// A host: everything but events.
        case host
    }

    /// The reason why a stream cannot be read any further.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// No packet from this source begins so, at this byte of the stream, counted from 0.
        case garbage(UInt8, at: UInt64)
        /// A packet names more data than this reader keeps.
        case tooLong(HCIPacketType, Int, at: UInt64)

        /// One line for people.
        public var description: String {
            switch self {
            case .garbage(let byte, let position):
                "byte \(position) of the H4 stream is 0x\(Hexadecimal.text(UInt64(byte), digits: 2)), "
                    + "which begins no packet"
            case .tooLong(let type, let length, let position):
                "byte \(position) of the H4 stream begins a packet (\(type)) of \(length) bytes, which is too long"
            }
        }
    }

    /// The longest data of one packet, unless another is asked for.
    public static let standardLimit = 4096

    private let source: Source
    private let limit: Int
    private var packet: [UInt8] = []
    /// The packet's length; 0 as long as its header is not complete.
    private var needed = 0
    /// The byte of the stream at which the packet begins.
    private var start: UInt64 = 0
    /// The reason why nothing is read any more; nil while the stream is sound.
    public private(set) var failure: Failure?

    /// A reader at a stream's beginning that keeps at most `limit` bytes of data (and a header) at a time.
    public init(from source: Source, limit: Int = standardLimit) {
        self.source = source
        self.limit = limit
    }

    /// True in the middle of a packet: a stream that ends here was cut.
    public var isInsidePacket: Bool { !packet.isEmpty }

    /// Takes the stream's next bytes, however they were cut, and hands on each complete packet, its indicator included.
    ///
    /// After a failure it throws that again, whatever comes.
    public mutating func read(_ bytes: Span<UInt8>, packet body: (Span<UInt8>) -> Void) throws(Failure) {
        if let failure { throw failure }
        var position = 0
        while position < bytes.count {
            if needed == 0 {
                try takeHeaderByte(bytes[position])
                position &+= 1
            } else {
                let piece = min(needed &- packet.count, bytes.count &- position)
                for offset in 0..<piece { packet.append(bytes[position &+ offset]) }
                position &+= piece
            }
            if needed > 0, packet.count == needed {
                body(packet.span)
                start &+= UInt64(packet.count)
                packet.removeAll(keepingCapacity: true)
                needed = 0
            }
        }
    }

    private mutating func takeHeaderByte(_ byte: UInt8) throws(Failure) {
        guard let indicator = packet.first else {
            guard let type = HCIPacketType(rawValue: byte), type != (source == .controller ? .command : .event) else {
                throw fail(.garbage(byte, at: start))
            }
            packet.append(byte)
            return
        }
        packet.append(byte)
        guard let type = HCIPacketType(rawValue: indicator), packet.count == Self.headerLength(type) else { return }
        let length =
            switch type {
            case .command, .synchronous: Int(packet[3])
            case .event: Int(packet[2])
            case .acl: Int(packet[3]) | Int(packet[4]) &<< 8
            // Two of the bits are flags.
            case .isochronous: (Int(packet[3]) | Int(packet[4]) &<< 8) & 0x3FFF
            }
        guard length <= limit else { throw fail(.tooLong(type, length, at: start)) }
        needed = packet.count &+ length
    }

    private mutating func fail(_ failure: Failure) -> Failure {
        self.failure = failure
        packet = []
        return failure
    }

    /// The bytes before the data, the indicator included.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.
    private static func headerLength(_ type: HCIPacketType) -> Int {
        switch type {
        case .command: 4
        case .acl: 5
        case .synchronous: 4
        case .event: 3
        case .isochronous: 5
        }
    }
}
