// SPDX-License-Identifier: GPL-2.0-or-later

/// Parser for the packets in a byte stream between host and controller.
///
/// Each packet starts with its indicator. The stream contains no synchronisation marks, so an invalid indicator is a
/// permanent failure: the caller must restart the stream. Core 6.0, Vol 4, Part A, 2.
public struct H4Reader: Sendable {
    /// Sender of the stream.
    public enum Source: Hashable, Sendable {
        /// Controller, which sends all types of packets except commands.
        case controller
        /// Host, which sends all types of packets except events.
        case host
    }

    /// Reason why the rest of the stream cannot be parsed.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The byte at this offset of the stream is not a packet indicator that the source may send.
        case garbage(UInt8, at: UInt64)
        /// A packet is longer than the parser's limit.
        case tooLong(HCIPacketType, Int, at: UInt64)

        /// Message in one line.
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

    /// Default limit on the data length of a packet, in bytes.
    public static let standardLimit = 4096

    private let source: Source
    private let limit: Int
    private var packet: [UInt8] = []
    /// Length of the current packet, in bytes; 0 until its header is complete.
    private var needed = 0
    /// Offset of the current packet in the stream.
    private var start: UInt64 = 0
    /// Failure that has stopped the parsing; nil if the stream is valid so far.
    public private(set) var failure: Failure?

    /// Creates a parser at the start of a stream; `limit` is the maximum data length of a packet, in bytes.
    public init(from source: Source, limit: Int = standardLimit) {
        self.source = source
        self.limit = limit
    }

    /// True in the middle of a packet; a stream that ends here is truncated.
    public var isInsidePacket: Bool { !packet.isEmpty }

    /// Parses the next bytes of the stream, and calls `body` with each complete packet, including its indicator.
    ///
    /// Packets may be split between calls at any position. After a failure, every call throws the same failure again.
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
            // The two most significant bits are not part of the length.
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

    /// Returns the length of a packet's header, in bytes, including the indicator (Core 6.0, Vol 4, Part E, 5.4).
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

/// Packet indicator, the byte that precedes every packet on a UART (H4) and on the kernel's HCI sockets (Core 6.0, Vol
/// 4, Part A, 2).
public enum HCIPacketType: UInt8, Hashable, Sendable, CaseIterable {
    /// Command from host to controller.
    case command = 0x01
    /// Asynchronous data (L2CAP).
    case acl = 0x02
    /// Synchronous data (voice).
    case synchronous = 0x03
    /// Event from controller to host.
    case event = 0x04
    /// Isochronous data (LE Audio).
    case isochronous = 0x05
}

/// Searches an unsynchronised stream of H4 packets for the response to Reset, and discards everything before it.
///
/// A host that takes over a running controller may start to read in the middle of a packet. Packets for the previous
/// host may follow, until the controller is reset. The response to Reset can be recognised because only two of its
/// seven bytes vary.
///
/// Core 6.0, Vol 4, Part A, 4, and Part E, 7.3.2.
public struct ResetAnswerSeeker: Sendable {
    /// Length of the response, in bytes, whether it is Command Complete or Command Status.
    private static let length = 7

    private var window: [UInt8] = []
    /// Number of bytes that were discarded before the response.
    public private(set) var dropped: UInt64 = 0

    /// Number of bytes that were received before the response was found.
    public var taken: UInt64 { dropped &+ UInt64(window.count) }

    /// Creates a seeker that can start at any position of a stream.
    public init() {}

    /// Searches the next bytes of the stream; the response may be split between calls at any position.
    ///
    /// Returns the response, including its indicator, and its end as an offset in `bytes`; returns nil until the
    /// response is found.
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

    /// Returns true for Command Complete of Reset, or Command Status of a failed Reset; the number of allowed commands
    /// is ignored.
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

/// View of a fragment of L2CAP data in the bytes of a packet between host and controller (Core 6.0, Vol 4, Part E,
/// 5.4.2).
public struct ACLPacket: ~Escapable {
    /// Position of a fragment in its L2CAP frame.
    public enum Boundary: UInt8, Hashable, Sendable {
        /// First fragment of a frame, which the controller may not flush; on LE links, hosts use only this kind of
        /// first fragment.
        case firstNonFlushable = 0
        /// Continuing fragment of a frame.
        case continuing = 1
        /// First fragment of a frame, as sent by a controller.
        case first = 2
        /// Complete frame; not used on LE links.
        case complete = 3
    }

    /// 12-bit connection handle.
    public let handle: UInt16
    /// Position of the fragment in its frame.
    public let boundary: Boundary
    /// Broadcast flag, which is 0 for every LE connection.
    public let broadcast: UInt8
    /// Bytes of the fragment.
    public let data: Span<UInt8>

    /// Length of the header, in bytes, including the indicator.
    public static let headerLength = 5

    /// Parses a complete packet, including its indicator (0x02); the length field must equal the number of bytes after
    /// it.
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

    /// Returns a packet in encoded form, including the indicator; truncates `data` to 65,535 bytes.
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
