// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
package import LinuxIO
import SystemPackage

/// A controller of this machine that the kernel has left to us: the HCI user channel.
///
/// To be used on the event loop's thread.
package final class UserChannelTransport: PacketTransport {
    /// Nil once the controller is the kernel's again.
    private var opened: Opened?
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    private var isWaitingToWrite = false
    private var queue = OutgoingQueue()
    private var buffer = [UInt8](repeating: 0, count: HCIUserChannel.packetCapacity)
    private var failureTimer: EventLoop.Timer?

    package var onReceive: ((Span<UInt8>) -> Void)?
    package var onClosed: ((String) -> Void)?

    /// The open channel, which is closed with this.
    private final class Opened {
        let channel: HCIUserChannel

        init(_ channel: consuming HCIUserChannel) { self.channel = channel }
    }

    /// How many packets are read before the loop may look elsewhere.
    private static let batch = 64

    /// Takes a controller, which must be down.
    package init(controller index: ControllerIndex, on loop: EventLoop) throws(AdapterError) {
        self.loop = loop
        do throws(Errno) {
            let opened = Opened(try HCIUserChannel(controller: index.rawValue))
            self.opened = opened
            registration = try loop.watch(opened.channel.descriptor, for: .readable) { [weak self] readiness in
                self?.handle(readiness)
            }
        } catch {
            throw Self.error(error, "hci\(index.rawValue)")
        }
    }

    deinit { close() }

    package func send(_ packet: [UInt8]) {
        guard registration != nil else { return }
        guard queue.append(packet) else {
            failLater("the controller takes no more data")
            return
        }
        if !isWaitingToWrite, let reason = write() { failLater(reason) }
    }

    package func close() {
        if let failureTimer { loop.cancel(failureTimer) }
        failureTimer = nil
        if let registration, let opened { loop.unwatch(registration, opened.channel.descriptor) }
        registration = nil
        opened = nil
        queue.removeAll()
    }

    /// Why a controller cannot be taken.
    static func error(_ error: Errno, _ name: String) -> AdapterError {
        switch error {
        case .resourceBusy:
            .controller(
                "\(name) is in use: the user channel needs it down (`hciconfig \(name) down`), and for one program"
            )
        case .operationNotSupportedByDevice: .noAdapter
        case .notPermitted, .permissionDenied: .notPermitted(missing: Capability.missing)
        case .addressFamilyNotSupported: .noBluetoothInKernel
        default: .system("take \(name) over the user channel", error)
        }
    }

    private func handle(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable), let reason = write() {
            fail(reason)
            return
        }
        do throws(Errno) {
            for _ in 0..<Self.batch {
                guard case .done(let packet)? = try opened?.channel.descriptor.receive(into: &buffer) else { return }
                guard packet.count > 0 else {
                    fail("the adapter is gone")
                    return
                }
                onReceive?(buffer.span.extracting(first: packet.count))
                if registration == nil { return }
            }
        } catch {
            fail("the adapter is gone: \(error)")
        }
    }

    /// Writes what waits, a packet a call; returns why that cannot be.
    private func write() -> String? {
        do throws(Errno) {
            let isDone = try queue.drain { bytes throws(Errno) in
                // Sound: the bytes are the packet's, which outlives the call.
                guard case .done(let count)? = try unsafe opened?.channel.descriptor.write(bytes.bytes) else {
                    return nil
                }
                return count
            }
            try watch(isWriting: !isDone)
            return nil
        } catch {
            return "the adapter takes no packets: \(error)"
        }
    }

    private func watch(isWriting: Bool) throws(Errno) {
        guard let registration, let opened, isWriting != isWaitingToWrite else { return }
        isWaitingToWrite = isWriting
        try loop.change(registration, opened.channel.descriptor, to: isWriting ? [.readable, .writable] : .readable)
    }

    private func failLater(_ reason: String) {
        guard failureTimer == nil else { return }
        failureTimer = loop.schedule(at: MonotonicClock.now) { [weak self] in
            self?.failureTimer = nil
            self?.fail(reason)
        }
    }

    private func fail(_ reason: String) {
        guard registration != nil else { return }
        close()
        onClosed?(reason)
    }
}
