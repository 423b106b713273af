// SPDX-License-Identifier: GPL-2.0-or-later

/// A parser of the packets in a byte stream between host and controller.
///
/// Each packet starts with its indicator. The stream has no synchronisation marks, so an invalid indicator is a
/// permanent failure: the caller must restart the stream. Core 6.0, Vol 4, Part A, 2.
public struct H4Reader: Sendable {
    /// The sender of the stream.
    public enum Source: Hashable, Sendable {
        /// A controller, which sends everything except commands.
        case controller
        /// A host, which sends everything except events.
        case host
    }

    /// The reason why a stream cannot be parsed any further.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The byte at this offset of the stream is not a valid packet indicator for the source.
        case garbage(UInt8, at: UInt64)
        /// A packet is longer than the reader's limit.
        case tooLong(HCIPacketType, Int, at: UInt64)

        /// A one-line message.
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

    /// Default limit of a packet's data length in bytes.
    public static let standardLimit = 4096

    private let source: Source
    private let limit: Int
    private var packet: [UInt8] = []
    /// The packet's length; 0 until its header is complete.
    private var needed = 0
    /// The offset of the packet in the stream.
    private var start: UInt64 = 0
    /// The failure after which nothing is parsed any more; nil while the stream is valid.
    public private(set) var failure: Failure?

    /// Creates a reader at the start of a stream that accepts at most `limit` bytes of data per packet.
    public init(from source: Source, limit: Int = standardLimit) {
        self.source = source
        self.limit = limit
    }

    /// True in the middle of a packet: a stream that ends here is truncated.
    public var isInsidePacket: Bool { !packet.isEmpty }

    /// Parses the stream's next bytes, split at any position, and calls `body` with each complete packet, including its
    /// indicator.
    ///
    /// After a failure, every call throws the same failure.
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
            // The upper two bits are not part of the length.
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

    /// Returns the length of a packet's header in bytes, including the indicator (Core 6.0, Vol 4, Part E, 5.4).
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

/// The packet indicator: the byte before every packet on a UART (H4) and on the kernel's HCI sockets (Core 6.0, Vol 4,
/// Part A, 2).
public enum HCIPacketType: UInt8, Hashable, Sendable, CaseIterable {
    /// A command, host to controller.
    case command = 0x01
    /// Asynchronous data: L2CAP.
    case acl = 0x02
    /// Synchronous data: voice.
    case synchronous = 0x03
    /// An event, controller to host.
    case event = 0x04
    /// Isochronous data: LE Audio.
    case isochronous = 0x05
}

/// A search for the response to Reset in an unsynchronised stream of H4 packets, which discards everything before it.
///
/// A host that takes over a running controller may start reading in the middle of a packet, followed by packets for the
/// previous host. Reset ends them, and its response always has the same seven bytes except for two. Core 6.0, Vol 4,
/// Part A, 4, and Part E, 7.3.2.
public struct ResetAnswerSeeker: Sendable {
    /// Length of the response in bytes, both as Command Complete and as Command Status.
    private static let length = 7

    private var window: [UInt8] = []
    /// Number of bytes discarded before the response.
    public private(set) var dropped: UInt64 = 0

    /// Number of bytes received without finding the response.
    public var taken: UInt64 { dropped &+ UInt64(window.count) }

    /// Creates a seeker at any position of a stream.
    public init() {}

    /// Searches the stream's next bytes, split at any position.
    ///
    /// Returns the response, including its indicator, and the number of these bytes up to its end; nil until it is
    /// found.
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

    /// Returns true for Command Complete or a failed Command Status of Reset, with any number of allowed commands.
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

/// A fragment of L2CAP data between host and controller, as a view into the packet's bytes (Core 6.0, Vol 4, Part E,
/// 5.4.2).
public struct ACLPacket: ~Escapable {
    /// Position of a fragment in its L2CAP frame.
    public enum Boundary: UInt8, Hashable, Sendable {
        /// The first fragment of a frame, not flushable by the controller; hosts use only this one on LE links.
        case firstNonFlushable = 0
        /// A continuing fragment.
        case continuing = 1
        /// The first fragment of a frame, as sent by a controller.
        case first = 2
        /// A whole frame; not used on LE links.
        case complete = 3
    }

    /// The connection handle, 12 bits.
    public let handle: UInt16
    /// The fragment's position in its frame.
    public let boundary: Boundary
    /// The broadcast flag, 0 for every LE connection.
    public let broadcast: UInt8
    /// The fragment.
    public let data: Span<UInt8>

    /// Length of the header in bytes, including the indicator.
    public static let headerLength = 5

    /// Reads a whole packet, including its indicator (0x02); the length field must match the number of bytes after it.
    @_lifetime(copy packet)
    public init(_ packet: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(packet, packet: "HCI ACL Data")
        let indicator = try reader.readUInt8("Packet Indicator")
        guard indicator == HCIPacketType.acl.rawValue else {
            throw DecodingError(
                packet: "HCI ACL Data",
                field: "Packet Indicator",
                offset: 0,
                reason: .unexpectedCode(UInt16(indicator))
            )
        }
        let word = try reader.readUInt16("Handle")
        handle = word & 0x0FFF
        boundary = Boundary(rawValue: UInt8(truncatingIfNeeded: word &>> 12) & 0b11) ?? .complete
        broadcast = UInt8(truncatingIfNeeded: word &>> 14)
        let length = Int(try reader.readUInt16("Data_Total_Length"))
        data = try reader.readSpan(count: length, "Data")
        try reader.expectEnd()
    }

    /// Returns an encoded packet, including the indicator; `data` is truncated to 65,535 bytes.
    public static func encoded(handle: UInt16, _ boundary: Boundary, _ data: Span<UInt8>) -> [UInt8] {
        let piece = data.extracting(first: Int(UInt16.max))
        var writer = ByteWriter(reservingCapacity: headerLength &+ piece.count)
        writer.write(HCIPacketType.acl.rawValue)
        writer.write(handle & 0x0FFF | UInt16(boundary.rawValue) &<< 12)
        writer.write(UInt16(truncatingIfNeeded: piece.count))
        for index in piece.indices { writer.write(piece[index]) }
        return writer.bytes
    }
}
