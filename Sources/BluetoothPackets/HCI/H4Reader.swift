// SPDX-License-Identifier: GPL-2.0-or-later

/// Finds the packets in a stream of bytes between host and controller.
///
/// Each packet begins with its indicator. The stream has no mark to find a beginning by, so the first byte that cannot
/// begin a packet ends it for good: whoever reads must start the stream anew. Core 6.0, Vol 4, Part A, 2.
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

    /// The bytes before the data, the indicator included (Core 6.0, Vol 4, Part E, 5.4).
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

/// Finds the answer to Reset in a stream of H4 packets whose beginning nobody knows, and drops all that comes before it.
///
/// A host that takes over a controller which is talking finds itself in the middle of a packet, with others behind it that
/// were meant for the host before. Reset ends all that, and its answer is always the same seven bytes, but for two.
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

/// A piece of L2CAP data on its way between host and controller, a view into the packet's bytes (Core 6.0, Vol 4, Part
/// E, 5.4.2).
public struct ACLPacket: ~Escapable {
    /// The place of a packet in the L2CAP frame that it carries a piece of.
    public enum Boundary: UInt8, Hashable, Sendable {
        /// The beginning of a frame, from a host; the controller may not flush it. The only beginning that LE sends.
        case firstNonFlushable = 0
        /// A further piece of the frame that was begun.
        case continuing = 1
        /// The beginning of a frame, from a controller.
        case first = 2
        /// A whole frame on a BR/EDR link; no LE link has it.
        case complete = 3
    }

    /// The connection, 12 bits.
    public let handle: UInt16
    /// The piece's place in its frame.
    public let boundary: Boundary
    /// The broadcast flag, 0 for every LE connection.
    public let broadcast: UInt8
    /// The piece.
    public let data: Span<UInt8>

    /// The bytes before the data, the indicator included.
    public static let headerLength = 5

    /// Reads a whole packet, its indicator (0x02) included; the length must name exactly what follows it.
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

    /// A packet's bytes, the indicator included; of `data` the first 65,535 bytes are taken.
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
