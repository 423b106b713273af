// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
package import LinuxIO
import SystemPackage

/// The transport to a controller of this machine over the HCI user channel, on which the kernel leaves the controller
/// to this process.
///
/// It is used on the event loop's thread.
package final class UserChannelTransport: PacketTransport {
    private let line: PacketLine<Opened>
    private var buffer = [UInt8](repeating: 0, count: HCIUserChannel.packetCapacity)

    package var onReceive: ((Span<UInt8>) -> Void)?
    package var onClosed: ((String) -> Void)? {
        get { line.onClosed }
        set { line.onClosed = newValue }
    }

    private final class Opened: PacketDescriptor {
        let channel: HCIUserChannel

        init(_ channel: consuming HCIUserChannel) { self.channel = channel }

        func withDescriptor<Value>(_ body: (borrowing Descriptor) throws(Errno) -> Value) throws(Errno) -> Value {
            try body(channel.descriptor)
        }

        func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
            try channel.descriptor.write(bytes)
        }
    }

    /// The most packets that are read in a row before the loop serves its other descriptors.
    private static let batch = 64

    /// Takes over a controller, whose adapter has to be down.
    package init(controller index: ControllerIndex, on loop: EventLoop) throws(AdapterError) {
        do throws(Errno) {
            let opened = Opened(try HCIUserChannel(controller: index.rawValue))
            line = try PacketLine(opened, refusal: "the adapter takes no packets", on: loop)
        } catch {
            throw Self.error(error, "hci\(index.rawValue)")
        }
        line.onReadable = { [weak self] in self?.read() }
    }

    package func send(_ packet: [UInt8]) { line.send(packet) }

    package func close() { line.close() }

    /// The error for a controller that cannot be taken over.
    static func error(_ error: Errno, _ name: String) -> AdapterError {
        switch error.recovery(of: .hci) {
        case .later where error == .resourceBusy:
            .controller(
                "\(name) is in use: the user channel needs it down (`hciconfig \(name) down`), and for one program"
            )
        case .adapterLost where error == .operationNotSupportedByDevice: .noAdapter
        case .forbidden: .notPermitted(missing: Capability.missing)
        case .absent: .noBluetoothInKernel
        default: .system("take \(name) over the user channel", error)
        }
    }

    private func read() {
        do throws(Errno) {
            for _ in 0..<Self.batch {
                guard case .done(let packet)? = try line.opened?.channel.descriptor.receive(into: &buffer) else {
                    return
                }
                guard packet.count > 0 else {
                    line.fail(AdapterSentence.gone)
                    return
                }
                onReceive?(buffer.span.extracting(first: packet.count))
                if !line.isOpen { return }
            }
        } catch {
            line.fail("\(AdapterSentence.gone): \(error)")
        }
    }
}
