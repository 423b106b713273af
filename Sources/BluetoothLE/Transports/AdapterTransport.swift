// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets

/// Which controller is used, and what carries its packets.
///
/// `hci0`, an address, `user:hci0`, `h4:unix:PATH`, `h4:tcp:HOST:PORT` or `h4:/dev/ttyX[@BAUD]`.
public enum AdapterTransport: Hashable, Sendable, CustomStringConvertible {
    /// An adapter of the kernel, over its sockets; others may use it at the same time.
    case kernel(AdapterSelector)
    /// A controller of this machine for this program alone, over the HCI user channel; the kernel must have it down.
    case userChannel(ControllerIndex)
    /// A controller for this program alone, at the other end of a stream of H4 packets.
    case h4(H4Address)

    /// The kernel's adapter with the lowest index.
    public static let any = AdapterTransport.kernel(.any)

    /// Why text names no transport.
    public enum ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// It begins like none.
        case unknownForm(String)
        /// What follows `user:` is no controller's name.
        case notController(String)
        /// What follows `h4:` is no address.
        case h4(H4Address.ParsingError)

        /// What is wrong and what would be right, in one sentence.
        public var description: String {
            switch self {
            case .unknownForm(let text):
                "\(Self.quoted(text)) is no adapter: write hci0, an address, user:hci0, or h4: and a stream"
            case .notController(let text):
                "\(Self.quoted(text)) is no controller for the user channel: write user:hci0"
            case .h4(let error): "\(error)"
            }
        }

        /// Text of an outsider for a message.
        static func quoted(_ text: String) -> String {
            "'\(LocalName.printable(String(text.prefix(64))))'"
        }
    }

    /// Reads a transport as it is written on the command line; `description` writes it.
    public init(_ text: some StringProtocol) throws(ParsingError) {
        if text.hasPrefix("user:") {
            let name = String(text.dropFirst(5))
            guard case .index(let index) = AdapterSelector(name) else { throw .notController(name) }
            self = .userChannel(index)
        } else if text.hasPrefix("h4:") {
            do throws(H4Address.ParsingError) {
                self = .h4(try H4Address(text.dropFirst(3)))
            } catch {
                throw .h4(error)
            }
        } else if let selector = AdapterSelector(text) {
            self = .kernel(selector)
        } else {
            throw .unknownForm(String(text))
        }
    }

    /// As it is written on the command line.
    public var description: String {
        switch self {
        case .kernel(let selector): "\(selector)"
        case .userChannel(let index): "user:hci\(index.rawValue)"
        case .h4(let address): "h4:\(address)"
        }
    }

    /// The kernel's adapter that is meant; nil for a controller that the kernel does not know.
    package var selector: AdapterSelector? {
        switch self {
        case .kernel(let selector): selector
        case .userChannel(let index): .index(index)
        case .h4: nil
        }
    }

    /// True where the kernel carries the packets, which needs its permission.
    package var needsCapabilities: Bool {
        switch self {
        case .kernel, .userChannel: true
        case .h4: false
        }
    }
}
