// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets

/// The choice of a controller, and of the transport of its packets.
///
/// In text it is `hci0`, an address, `user:hci0`, `h4:unix:PATH`, `h4:tcp:HOST:PORT` or `h4:/dev/ttyX[@BAUD]`.
public enum AdapterTransport: Hashable, Sendable, CustomStringConvertible {
    /// An adapter of the kernel, over its sockets; other programs may use it at the same time.
    case kernel(AdapterSelector)
    /// A controller of this machine for this program alone, over the HCI user channel; the adapter has to be down.
    case userChannel(ControllerIndex)
    /// A controller for this program alone, at the other end of a stream of H4 packets.
    case h4(H4Address)

    /// The kernel's adapter with the lowest index.
    public static let any = AdapterTransport.kernel(.any)

    /// The reasons for which a text is not a transport.
    public enum ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        case unknownForm(String)
        /// The text after `user:` is not the name of a controller.
        case notController(String)
        /// The text after `h4:` is not an address.
        case h4(H4Address.ParsingError)

        /// The fault and the right form, in one English sentence.
        public var description: String {
            switch self {
            case .unknownForm(let text):
                "\(Self.quoted(text)) is no adapter: write hci0, an address, user:hci0, or h4: and a stream"
            case .notController(let text):
                "\(Self.quoted(text)) is no controller for the user channel: write user:hci0"
            case .h4(let error): "\(error)"
            }
        }

        /// A quotation of foreign text for a message: at most 64 characters, unprintable ones replaced.
        static func quoted(_ text: String) -> String {
            "'\(LocalName.printable(String(text.prefix(64))))'"
        }
    }

    /// Reads a transport in the form of the command line, which `description` writes.
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

    /// The transport in the form of the command line.
    public var description: String {
        switch self {
        case .kernel(let selector): "\(selector)"
        case .userChannel(let index): "user:hci\(index.rawValue)"
        case .h4(let address): "h4:\(address)"
        }
    }

    /// The selector of the kernel's adapter; nil for a controller that the kernel does not manage.
    package var selector: AdapterSelector? {
        switch self {
        case .kernel(let selector): selector
        case .userChannel(let index): .index(index)
        case .h4: nil
        }
    }

    /// The name of the adapter where only one program can have it, and opening it ends what another does; nil otherwise.
    package var exclusiveName: String? {
        switch self {
        case .kernel: nil
        case .userChannel, .h4: "\(self)"
        }
    }

    /// True if the controller is reached by TCP.
    package var isInternet: Bool {
        if case .h4(.tcp) = self { true } else { false }
    }

    /// True if the kernel carries the packets, which needs CAP_NET_ADMIN and CAP_NET_RAW.
    package var needsCapabilities: Bool {
        switch self {
        case .kernel, .userChannel: true
        case .h4: false
        }
    }
}
