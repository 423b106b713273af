// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// A recording of the HCI packets between host and controller, in a btsnoop file (CB-32).
///
/// The kernel's packets are read from its monitor channel; this library's host stack passes its packets to `record`. If
/// a capture fails, it ends and calls `onFailure` once; the connection and the program continue. Used on the event
/// loop's thread.
package final class TrafficCapture {
    /// Reasons why a capture cannot start or continue.
    package enum Failure: Error, Equatable {
        /// The file at this path cannot be created, or exists and is not a btsnoop file.
        case cannotOpen(String, Errno)
        /// Opening or reading the monitor channel failed.
        case cannotListen(Errno)
        /// The file at this path cannot be written, or has reached its size limit.
        case cannotWrite(String, Errno)
    }

    /// Maximum file size in bytes.
    package static let limit = 1 << 30

    /// Size of the monitor socket's receive queue in bytes.
    private static let receiveBuffer: Int32 = 1 << 21
    /// Maximum number of packets read in a row before the loop handles its other descriptors.
    private static let batch = 256
    /// Maximum delay before a record is written to the file.
    private static let flushInterval = Duration.milliseconds(500)

    private let loop: EventLoop
    private let path: String
    private let limit: Int
    private var file: RecordFile?
    private var monitor: MonitorSocket?
    private var registration: EventLoop.Registration?
    private let flushTimer = LoopTimer()
    private var buffer: [UInt8] = []
    private var selection = CaptureSelection()
    private var ownIndex = ControllerIndex(rawValue: 0)

    /// The handler that is called once, when the capture has failed.
    package var onFailure: ((Failure) -> Void)?

    /// Creates the file, readable only by its owner, or appends to an existing capture.
    package init(to path: String, on loop: EventLoop, limit: Int = TrafficCapture.limit) throws(Failure) {
        self.loop = loop
        self.path = path
        self.limit = limit
        do {
            file = try RecordFile(path, header: Btsnoop.header, limit: limit)
        } catch {
            throw .cannotOpen(path, error)
        }
    }

    deinit { finish() }

    /// Starts reading the kernel's monitor channel; the packets are buffered until `follow` selects the controller.
    package func listen() throws(Failure) {
        do {
            let monitor = try MonitorSocket(receiveBuffer: Self.receiveBuffer)
            buffer = [UInt8](repeating: 0, count: MonitorSocket.packetCapacity)
            registration = try loop.watch(monitor.descriptor, for: .readable) { [weak self] _ in self?.read() }
            self.monitor = consume monitor
        } catch {
            throw .cannotListen(error)
        }
    }

    /// Records only the packets of this controller, including those buffered by `listen`.
    package func follow(_ index: ControllerIndex) {
        ownIndex = index
        for record in selection.follow(index) { write(record) }
    }

    /// Records the name of the controller that this library's host stack uses.
    package func announce(_ name: String, _ index: ControllerIndex = ControllerIndex(rawValue: 0)) {
        ownIndex = index
        write(BtsnoopRecord(naming: name, index: index, time: WallClock.microseconds))
    }

    /// Records a packet of this library's host stack.
    ///
    /// Its first byte is the H4 indicator; a packet with an unknown indicator is ignored.
    package func record(_ direction: MonitorOpcode.Direction, _ packet: Span<UInt8>) {
        guard !packet.isEmpty, let type = HCIPacketType(rawValue: packet[0]) else { return }
        write(
            BtsnoopRecord(
                opcode: MonitorOpcode(type, direction),
                index: ownIndex,
                time: WallClock.microseconds,
                payload: [UInt8](copying: packet.extracting(droppingFirst: 1))
            )
        )
    }

    /// Reads the pending packets of the monitor channel, flushes the pending records, and closes the file.
    package func finish() {
        onFailure = nil
        if monitor != nil { read() }
        flush()
        close()
    }

    private func read() {
        let drops = monitor?.descriptor.droppedPacketCount ?? 0
        do throws(Errno) {
            for _ in 0..<Self.batch {
                guard case .done(let reception)? = try monitor?.receive(into: &buffer), reception.packet.count > 0
                else { return }
                take(reception, drops: drops)
            }
        } catch {
            fail(.cannotListen(error))
        }
    }

    private func take(_ reception: MonitorSocket.Reception, drops: UInt32) {
        guard
            let packet = try? MonitorPacket(
                buffer.span.extracting(first: reception.packet.count),
                isTruncated: reception.packet.isTruncated
            )
        else { return }
        let record = BtsnoopRecord(
            opcode: packet.opcode,
            index: packet.index,
            time: reception.time,
            drops: drops,
            originalLength: UInt32(packet.length),
            payload: packet.payload
        )
        if let chosen = selection.take(record) { write(chosen) }
    }

    private func write(_ record: BtsnoopRecord) {
        guard file != nil else { return }
        do throws(Errno) {
            try file?.append(record.encoded)
        } catch {
            fail(.cannotWrite(path, error))
            return
        }
        guard !flushTimer.isSet else { return }
        flushTimer.set(on: loop, after: Self.flushInterval) { [weak self] in self?.flush() }
    }

    private func flush() {
        do throws(Errno) {
            try file?.flush()
        } catch {
            fail(.cannotWrite(path, error))
        }
    }

    private func fail(_ failure: Failure) {
        let handler = onFailure
        onFailure = nil
        // Best effort: write the records from before the failure, but do not report a second failure.
        if failure != .cannotWrite(path, .noSpace) { try? file?.flush() }
        close()
        handler?(failure)
    }

    private func close() {
        flushTimer.cancel()
        file = nil
        if let registration, monitor != nil { stopWatching(registration) }
        registration = nil
        monitor = nil
    }

    private func stopWatching(_ registration: EventLoop.Registration) {
        guard let monitor = monitor.take() else { return }
        loop.unwatch(registration, monitor.descriptor)
    }
}
