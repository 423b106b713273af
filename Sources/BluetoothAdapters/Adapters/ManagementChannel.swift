// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// The management socket on the event loop: commands with their replies, and events.
package final class ManagementChannel {
    package enum Reply {
        /// The kernel has replied; the values are the status and the return parameters.
        case status(ManagementStatus, returnParameters: [UInt8])
        case timedOut
    }

    /// Maximum time for a reply; it is long because powering on an adapter includes loading its firmware.
    private static let timeout = Duration.seconds(12)

    private struct Pending {
        var command: ManagementCommand
        /// The time-out, which is cancelled when the command is removed.
        let timer = LoopTimer()
        var completion: (Reply) -> Void
    }

    private let loop: EventLoop
    private let socket: ManagementSocket
    private var registration: EventLoop.Registration?
    private var pending: [Pending] = []
    private var buffer = [UInt8](repeating: 0, count: ManagementSocket.packetCapacity)
    private var faults = RepeatedFaults()

    /// The handler of every event that is not a reply.
    package var onEvent: ((ManagementEvent) -> Void)?
    /// The handler that is called once, when the channel cannot be read any more.
    ///
    /// By then, the channel is closed, and all pending commands have timed out.
    package var onFailure: ((Errno) -> Void)?

    /// Opens the channel; throws `addressFamilyNotSupported` on a kernel without Bluetooth.
    package convenience init(on loop: EventLoop) throws(Errno) { try self.init(try ManagementSocket(), on: loop) }

    package init(_ socket: consuming ManagementSocket, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.socket = socket
        registration = try loop.watch(self.socket.descriptor, for: .readable) { [weak self] _ in self?.receive() }
    }

    deinit { close() }

    /// Closes the channel; the handlers of pending commands are not called.
    package func close() {
        pending = []
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
    }

    /// Sends a command; `completion` is called once, asynchronously, on the loop's thread.
    ///
    /// `patience` is the time-out for a command that waits for the user; nil means the default time-out.
    package func send(_ command: ManagementCommand, patience: Duration? = nil, completion: @escaping (Reply) -> Void) {
        let entry = Pending(command: command, completion: completion)
        pending.append(entry)
        let expire: () -> Void = { [weak self] in self?.complete(command.opcode, command.index, .timedOut) }
        entry.timer.set(on: loop, after: patience ?? Self.timeout, handler: expire)
        do throws(Errno) {
            if case .done = try socket.send(command.encoded) { return }
        } catch {
            // A send error is ignored: the kernel rejects only malformed packets, and the timer below reports
            // `timedOut`.
        }
        entry.timer.set(on: loop, after: .zero, handler: expire)
    }

    private func receive() {
        for _ in 0..<ManagementSocket.batch {
            let packet: ReceivedPacket
            do throws(Errno) {
                guard registration != nil, case .done(let received) = try socket.descriptor.receive(into: &buffer),
                    received.count > 0
                else { return }
                faults.clear()
                packet = received
            } catch {
                if !faults.allow(error, of: .management) { fail(error) }
                return
            }
            guard !packet.isTruncated,
                let event = try? ManagementEvent(buffer.span.extracting(first: packet.count))
            else { continue }
            switch event.kind {
            case .commandComplete(let opcode, let status, let returnParameters):
                complete(opcode, event.index, .status(status, returnParameters: returnParameters))
            case .commandStatus(let opcode, let status):
                complete(opcode, event.index, .status(status, returnParameters: []))
            default:
                onEvent?(event)
            }
        }
    }

    private func fail(_ error: Errno) {
        let unanswered = pending
        close()
        for entry in unanswered { entry.completion(.timedOut) }
        let handler = onFailure
        onFailure = nil
        handler?(error)
    }

    private func complete(_ opcode: ManagementOpcode, _ index: ControllerIndex, _ reply: Reply) {
        guard let position = pending.firstIndex(where: { $0.command.opcode == opcode && $0.command.index == index })
        else { return }
        pending.remove(at: position).completion(reply)
    }
}

/// A read-only query of the commands and events that the kernel's management protocol supports.
package enum ManagementSurvey {
    /// Queries the kernel on a separate event loop, and blocks until the kernel has answered.
    package static func take() throws(AdapterError) -> SupportedManagement {
        let command = ManagementCommand.readSupportedCommands
        var answer = ManagementChannel.Reply.timedOut
        do throws(Errno) {
            let loop = try EventLoop()
            let management = try ManagementChannel(on: loop)
            management.send(command) { reply in
                answer = reply
                loop.stop()
            }
            try loop.run()
            management.close()
        } catch {
            throw AdapterError(error, "ask the kernel what it has")
        }
        switch answer {
        case .timedOut: throw .silent(command.opcode)
        case .status(.success, let parameters):
            do throws(DecodingError) {
                return try SupportedManagement(returnParameters: parameters.span)
            } catch {
                throw AdapterError(.malformed(error))
            }
        case .status(let status, _): throw .refused("\(command.opcode)", "\(status)")
        }
    }
}

/// A read-only query of the kernel's adapters.
package final class AdapterEnumerator {
    /// An adapter managed by the kernel.
    package struct Entry: Hashable, Sendable {
        /// The adapter's index: 0 is hci0.
        package var index: ControllerIndex
        /// The adapter's address, name, version and settings.
        package var information: ControllerInformation
    }

    private let management: ManagementChannel
    private let completion: (Result<[Entry], AdapterError>) -> Void
    private var remaining: [ControllerIndex] = []
    private var entries: [Entry] = []

    private init(_ management: ManagementChannel, _ completion: @escaping (Result<[Entry], AdapterError>) -> Void) {
        self.management = management
        self.completion = completion
    }

    /// Queries the kernel's adapters, and returns them sorted by index.
    ///
    /// The call uses its own event loop, and blocks until the kernel has answered.
    package static func take() throws(AdapterError) -> [Entry] {
        var result: Result<[Entry], AdapterError> = .failure(.noAdapter)
        do throws(Errno) {
            let loop = try EventLoop()
            let census = AdapterEnumerator(try ManagementChannel(on: loop)) { found in
                result = found
                loop.stop()
            }
            census.begin()
            try loop.run()
            census.management.close()
        } catch {
            throw AdapterError(error, "ask the kernel for its adapters")
        }
        return try result.get()
    }

    private func begin() {
        let command = ManagementCommand.readIndexList
        ask(command) { [unowned self] status, parameters throws(DecodingError) in
            guard status == .success else { return completion(.failure(.refused("\(command.opcode)", "\(status)"))) }
            remaining = try ManagementReturn.indexList(parameters.span).sorted { $0.rawValue > $1.rawValue }
            next()
        }
    }

    private func next() {
        guard let index = remaining.popLast() else { return completion(.success(entries)) }
        ask(.readControllerInformation(index)) { [unowned self] status, parameters throws(DecodingError) in
            // Omit an adapter that was removed after the list had been read.
            if status == .success {
                let information = try ControllerInformation(returnParameters: parameters.span)
                entries.append(Entry(index: index, information: information))
            }
            next()
        }
    }

    private func ask(
        _ command: ManagementCommand,
        _ take: @escaping (ManagementStatus, [UInt8]) throws(DecodingError) -> Void
    ) {
        management.send(command) { [weak self] reply in
            switch reply {
            case .timedOut: self?.completion(.failure(.silent(command.opcode)))
            case .status(let status, let parameters):
                do throws(DecodingError) {
                    try take(status, parameters)
                } catch {
                    self?.completion(.failure(AdapterError(.malformed(error))))
                }
            }
        }
    }
}

extension AdapterTransport {
    /// True if the controller exists; a controller that is reached over TCP is assumed to exist.
    package var isPresent: Bool {
        switch self {
        case .kernel(let selector):
            ((try? AdapterEnumerator.take()) ?? []).contains { entry in
                switch selector {
                case .any: true
                case .index(let index): entry.index == index
                case .address(let address): entry.information.address == address
                }
            }
        case .userChannel(let index): FileSystem.exists("/sys/class/bluetooth/hci\(index.rawValue)")
        case .h4(.unixSocket(let path)), .h4(.serialLine(let path, _)): FileSystem.exists(path)
        case .h4(.tcp), .memory: true
        }
    }
}
