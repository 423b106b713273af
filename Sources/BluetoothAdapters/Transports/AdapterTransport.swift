// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// The selection of a controller and its packet transport.
///
/// Its text form is `hci0`, an address, `user:hci0`, `h4:unix:PATH`, `h4:tcp:HOST:PORT`, `h4:/dev/ttyX[@BAUD]`, or
/// `memory:` with or without the names of simulated devices.
public enum AdapterTransport: Hashable, Sendable, CustomStringConvertible {
    /// A kernel adapter, over the kernel's sockets; other programs may use it at the same time.
    case kernel(AdapterSelector)
    /// A local controller for exclusive use by this program over the HCI user channel; its adapter must be powered off.
    case userChannel(ControllerIndex)
    /// A controller for exclusive use by this program, at the other end of an H4 stream.
    case h4(H4Address)
    /// A simulated controller with these devices in range, for trying out the program; applications use
    /// `SimulatedRadio`.
    case memory(SimulatedCast)

    /// The kernel's adapter with the lowest index.
    public static let any = AdapterTransport.kernel(.any)

    /// An error in the text that specifies a transport.
    public enum ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        case unknownForm(String)
        /// The text after `user:` is not the name of a controller.
        case notController(String)
        /// The text after `h4:` is not an address.
        case h4(H4Address.ParsingError)
        /// A name after `memory:` is not the name of a simulated device.
        case notSimulated(String)

        /// The error and the correct form, in one English sentence.
        public var description: String {
            switch self {
            case .unknownForm(let text):
                "\(Self.quoted(text)) is no adapter: write hci0, an address, user:hci0, h4: and a stream, or memory:"
            case .notController(let text):
                "\(Self.quoted(text)) is no controller for the user channel: write user:hci0"
            case .h4(let error): "\(error)"
            case .notSimulated(let text):
                "\(Self.quoted(text)) is no simulated device: write memory: with any of "
                    + SimulatedCast.Device.allCases.map(\.rawValue).joined(separator: ",")
            }
        }

        /// Returns untrusted text quoted for a message: at most 64 characters, with unprintable characters replaced.
        static func quoted(_ text: String) -> String {
            "'\(LocalName.printable(String(text.prefix(64))))'"
        }
    }

    /// Parses a transport in its command-line form, which `description` returns.
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
        } else if text.hasPrefix("memory:") {
            do throws(SimulatedCast.ParsingError) {
                self = .memory(try SimulatedCast(text: text.dropFirst(7)))
            } catch {
                throw .notSimulated(error.name)
            }
        } else if let selector = AdapterSelector(text) {
            self = .kernel(selector)
        } else {
            throw .unknownForm(String(text))
        }
    }

    /// The transport in its command-line form.
    public var description: String {
        switch self {
        case .kernel(let selector): "\(selector)"
        case .userChannel(let index): "user:hci\(index.rawValue)"
        case .h4(let address): "h4:\(address)"
        case .memory(let cast): "memory:\(cast)"
        }
    }

    /// The selector of the kernel's adapter; nil for a controller that the kernel does not manage.
    package var selector: AdapterSelector? {
        switch self {
        case .kernel(let selector): selector
        case .userChannel(let index): .index(index)
        case .h4, .memory: nil
        }
    }

    /// True if other programs may use the adapter at the same time, through the kernel's sockets.
    package var isShared: Bool {
        if case .kernel = self { true } else { false }
    }

    /// The adapter's name if the adapter is used exclusively, so that opening it would disturb its current user; nil
    /// otherwise.
    package var exclusiveName: String? {
        switch self {
        case .kernel, .memory: nil
        case .userChannel, .h4: "\(self)"
        }
    }

    /// True if the controller is reached over TCP.
    package var isInternet: Bool {
        if case .h4(.tcp) = self { true } else { false }
    }

    /// True if the packets go through the kernel, which requires CAP_NET_ADMIN and CAP_NET_RAW.
    package var needsCapabilities: Bool {
        switch self {
        case .kernel, .userChannel: true
        case .h4, .memory: false
        }
    }
}

/// The transport to a controller at the other end of an H4 stream.
///
/// Sending a Reset resynchronises the stream: everything before its response is discarded, because another host may
/// have left the controller in the middle of a packet. Used on the event loop's thread. Core 6.0, Vol 4, Part A.
package final class H4StreamTransport: PacketTransport {
    private let line: PacketLine<Opened>
    private var reader = H4Reader(from: .controller)
    /// The search for the response to a Reset; nil while no Reset is unanswered.
    private var seeker: ResetAnswerSeeker?
    private var droppedBefore: UInt64 = 0
    private var buffer = [UInt8](repeating: 0, count: 16384)

    package var onReceive: ((Span<UInt8>) -> Void)?
    package var onUnreadable: (() -> Bool)?
    package var onClosed: ((String) -> Void)? {
        get { line.onClosed }
        set { line.onClosed = newValue }
    }

    private final class Opened: PacketDescriptor {
        let stream: ByteStream

        init(_ stream: consuming ByteStream) { self.stream = stream }

        func withDescriptor<Value>(_ body: (borrowing Descriptor) throws(Errno) -> Value) throws(Errno) -> Value {
            try body(stream.descriptor)
        }

        func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> { try stream.write(bytes) }
    }

    /// Maximum number of reads in a row before the loop handles its other descriptors.
    private static let batch = 16

    package init(_ stream: consuming ByteStream, on loop: EventLoop) throws(Errno) {
        let isConnecting = stream.isConnecting
        line = try PacketLine(
            Opened(stream),
            isConnecting: isConnecting,
            refusal: "the stream to the controller broke",
            on: loop
        )
        line.onReadable = { [weak self] in self?.read() }
    }

    package convenience init(to address: H4Address, on loop: EventLoop) throws(AdapterError) {
        do throws(Errno) {
            let stream =
                switch address {
                case .unixSocket(let path): try ByteStream(unixSocket: path)
                case .tcp(let host, let port): try ByteStream(host: host, port: port)
                case .serialLine(let path, let speed): try ByteStream(serialLine: path, speed: speed)
                }
            try self.init(stream, on: loop)
        } catch {
            throw .stream(address, error)
        }
    }

    package var droppedBytes: UInt64 { droppedBefore &+ (seeker?.taken ?? 0) }

    package func send(_ packet: [UInt8]) {
        // If Reset is sent again, the response to the first Reset counts as its response.
        if packet == HCICommand.reset.encoded, seeker == nil { seeker = ResetAnswerSeeker() }
        line.send(packet)
    }

    package func close() { line.close() }

    private func read() {
        for _ in 0..<Self.batch {
            let count: Int
            do throws(Errno) {
                guard case .done(let bytes)? = try line.opened?.stream.descriptor.read(into: &buffer) else { return }
                count = bytes
            } catch {
                line.fail("the stream from the controller broke: \(error)")
                return
            }
            guard count > 0 else {
                line.fail(end)
                return
            }
            take(buffer.span.extracting(first: count))
            if !line.isOpen { return }
        }
    }

    private var end: String {
        if seeker != nil { return "the stream from the controller ended before Reset was answered" }
        return reader.isInsidePacket
            ? "the stream from the controller ended inside a packet" : "the stream from the controller ended"
    }

    private func take(_ bytes: Span<UInt8>) {
        var used = 0
        if let found = seeker?.take(bytes) {
            droppedBefore &+= seeker?.dropped ?? 0
            seeker = nil
            reader = H4Reader(from: .controller)
            used = found.count
            onReceive?(found.answer.span)
        }
        // Wait while a Reset is unanswered, including a Reset that the handler has just sent.
        guard seeker == nil, line.isOpen else { return }
        do throws(H4Reader.Failure) {
            try reader.read(bytes.extracting(droppingFirst: used)) { packet in
                // The handler may close the transport, or send a Reset.
                if line.isOpen, seeker == nil { onReceive?(packet) }
            }
        } catch {
            guard seeker == nil, line.isOpen, onUnreadable?() != true else { return }
            line.fail("the stream from the controller is no H4: \(error)")
        }
    }
}

/// The address of an H4 stream (Core 6.0, Vol 4, Part A).
public enum H4Address: Hashable, Sendable, CustomStringConvertible {
    /// The path of a Unix socket, 1 to 107 bytes.
    case unixSocket(String)
    /// An IPv4 address or `localhost`, and a port.
    case tcp(host: String, port: UInt16)
    /// The path of a serial line with hardware flow control, and its speed in bit/s, one of `speeds`.
    case serialLine(String, speed: UInt32)

    /// The default speed of a serial line in bit/s, which is the initial speed of H4 controllers.
    public static let defaultSpeed: UInt32 = 115_200
    /// Supported speeds of a serial line, in bit/s.
    public static var speeds: [UInt32] { ByteStream.speeds }
    /// Maximum length of a Unix socket's path in bytes: the kernel's 108 minus the terminating zero.
    public static let maximumPathLength = 107

    /// An error in the text of an H4 address.
    public enum ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text does not begin with `unix:`, `tcp:` or `/`.
        case unknownForm(String)
        /// The path of the Unix socket is empty or too long; the value is its length in bytes.
        case pathLength(Int)
        case noPort(String)
        /// The port is not a number from 1 to 65535.
        case badPort(String)
        /// The host is not an IPv4 address; names are not resolved.
        case badHost(String)
        /// The speed is not one of `speeds`.
        case badSpeed(String)

        /// The error and the correct form, in one English sentence.
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

    /// Parses `unix:PATH`, `tcp:HOST:PORT`, or `/dev/ttyX` with or without `@` and a speed.
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

    /// The address in the form that follows `h4:` on the command line.
    public var description: String {
        switch self {
        case .unixSocket(let path): "unix:\(path)"
        case .tcp(let host, let port): "tcp:\(host):\(port)"
        case .serialLine(let path, let speed): "\(path)@\(speed)"
        }
    }

    /// Parses one to nine decimal digits; returns nil for any other text.
    private static func number(_ text: some StringProtocol) -> UInt32? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt32(text)
    }

    /// Returns true for four numbers up to 255, separated by dots, without leading zeros.
    private static func isIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard let value = number(part), value <= 255 else { return false }
                return part.utf8.count == 1 || part.utf8.first != 0x30
            }
    }
}
