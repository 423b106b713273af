// SPDX-License-Identifier: GPL-2.0-or-later

/// The address below which a server answers: `https://HOST[:PORT][/PATH]`.
package struct ServerAddress: Equatable, Sendable, CustomStringConvertible {
    /// Why a text is no address of a server.
    package enum Fault: Error, Equatable, Sendable {
        /// It does not begin with `https://`.
        case notHTTPS
        /// It has no host, or one with signs that no host has.
        case host
        /// The port is no number from 1 to 65535.
        case port
        /// It names a user, or has a password: both would be seen by whoever reads it.
        case user
        /// It has a question mark, a `#`, a blank, or what is not ASCII.
        case sign
    }

    private static let scheme = "https://"

    /// The address without a slash at its end.
    package let description: String

    /// Reads an address.
    package init(_ text: String) throws(Fault) {
        guard text.lowercased().hasPrefix(Self.scheme) else { throw .notHTTPS }
        var rest = text.dropFirst(Self.scheme.count)
        guard rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#\\\"<>^`{|}".utf8.contains($0) }) else {
            throw .sign
        }
        while rest.hasSuffix("/") { rest.removeLast() }
        let authority = rest.prefix { $0 != "/" }
        if authority.contains("@") { throw .user }
        let (host, port) = Self.parts(of: authority)
        guard Self.isHost(host) else { throw .host }
        if let port, !(port.utf8.allSatisfy { (0x30...0x39).contains($0) } && (1...65535).contains(Int(port) ?? 0)) {
            throw .port
        }
        description = Self.scheme + rest
    }

    /// The address of a request.
    func callAsFunction(_ name: String) -> String { "\(description)/\(name)" }

    /// The host, which is a name or an address (of version 6 in brackets), and the port.
    private static func parts(of authority: Substring) -> (host: Substring, port: Substring?) {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let start = end ?? authority.startIndex
        guard let colon = authority[start...].firstIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func isHost(_ host: Substring) -> Bool {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.count > 2
        let name = isBracketed ? host.dropFirst().dropLast() : host
        let isOfHost = { (byte: UInt8) in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"): true
            case UInt8(ascii: ":"): isBracketed
            default: false
            }
        }
        return !name.isEmpty && name.utf8.allSatisfy(isOfHost)
    }
}
