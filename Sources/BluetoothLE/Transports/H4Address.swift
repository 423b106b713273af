// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// Where a stream of H4 packets leads.
///
/// Core 6.0, Vol 4, Part A.
public enum H4Address: Hashable, Sendable, CustomStringConvertible {
    /// A unix socket's path, of 1 to 107 bytes.
    case unixSocket(String)
    /// An IPv4 address or `localhost`, and a port.
    case tcp(host: String, port: UInt16)
    /// A serial line with hardware flow control, and its speed in bits per second, one of `speeds`.
    case serialLine(String, speed: UInt32)

    /// The speed of a serial line that is not told: what H4 controllers begin with.
    public static let defaultSpeed: UInt32 = 115_200
    /// The speeds that a serial line may have.
    public static var speeds: [UInt32] { ByteStream.speeds }
    /// The most bytes of a unix socket's path: the kernel's 108 with the zero at the end.
    public static let maximumPathLength = 107

    /// Why text is no such address.
    public enum ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is neither `unix:`, nor `tcp:`, nor a path.
        case unknownForm(String)
        /// The path of the unix socket is empty, or has so many bytes.
        case pathLength(Int)
        /// There is no port after the host.
        case noPort(String)
        /// The port is no number from 1 to 65535.
        case badPort(String)
        /// The host is no IPv4 address: names are not looked up.
        case badHost(String)
        /// The serial line cannot have this speed.
        case badSpeed(String)

        /// What is wrong and what would be right, in one sentence.
        public var description: String {
            let quoted = AdapterTransport.ParsingError.quoted
            return switch self {
            case .unknownForm(let text):
                "\(quoted(text)) is no stream: write h4:unix:PATH, h4:tcp:HOST:PORT or h4:/dev/ttyUSB0@115200"
            case .pathLength(let count):
                "a unix socket's path has 1 to \(maximumPathLength) bytes, and this one \(count)"
            case .noPort(let text): "\(quoted(text)) lacks its port: write h4:tcp:HOST:PORT"
            case .badPort(let text): "\(quoted(text)) is no port: it is a number from 1 to 65535"
            case .badHost(let text): "\(quoted(text)) is no IPv4 address, nor localhost; names are not looked up"
            case .badSpeed(let text):
                "\(quoted(text)) is no speed of a serial line: it is one of "
                    + speeds.map { "\($0)" }.joined(separator: ", ")
            }
        }
    }

    /// Reads `unix:PATH`, `tcp:HOST:PORT`, or `/dev/ttyX` with or without `@` and a speed.
    public init(_ text: some StringProtocol) throws(ParsingError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard (1...Self.maximumPathLength).contains(path.utf8.count) else { throw .pathLength(path.utf8.count) }
            self = .unixSocket(path)
        } else if text.hasPrefix("tcp:") {
            let rest = String(text.dropFirst(4))
            guard let colon = rest.lastIndex(of: ":") else { throw .noPort(rest) }
            let port = String(rest[rest.index(after: colon)...])
            guard let number = Self.number(port).flatMap(UInt16.init(exactly:)), number > 0 else {
                throw .badPort(port)
            }
            let host = String(rest[..<colon])
            guard host == "localhost" || Self.isIPv4(host) else { throw .badHost(host) }
            self = .tcp(host: host, port: number)
        } else if text.hasPrefix("/") {
            guard let sign = text.lastIndex(of: "@") else {
                self = .serialLine(String(text), speed: Self.defaultSpeed)
                return
            }
            let digits = String(text[text.index(after: sign)...])
            guard let speed = Self.number(digits), Self.speeds.contains(speed) else { throw .badSpeed(digits) }
            self = .serialLine(String(text[..<sign]), speed: speed)
        } else {
            throw .unknownForm(String(text))
        }
    }

    /// As it is written after `h4:`.
    public var description: String {
        switch self {
        case .unixSocket(let path): "unix:\(path)"
        case .tcp(let host, let port): "tcp:\(host):\(port)"
        case .serialLine(let path, let speed): "\(path)@\(speed)"
        }
    }

    /// One to nine digits.
    private static func number(_ text: some StringProtocol) -> UInt32? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt32(text)
    }

    /// True for four numbers up to 255 with points between them, and no leading zeros.
    private static func isIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard let value = number(part), value <= 255 else { return false }
                return part.utf8.count == 1 || part.utf8.first != 0x30
            }
    }
}
