// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage

/// A state machine in BluetoothHost that produces HCI commands and handles events.
protocol CommandProcedure {
    /// Creates the procedure for a controller with these supported commands; returns nil if the procedure needs others.
    init?(_ supported: SupportedCommands)
    /// The time at which to call `advance`; nil if no call is needed.
    var deadline: Duration? { get }
    mutating func nextCommand(now: Duration) -> HCICommand?
    mutating func handle(_ packet: Span<UInt8>, now: Duration)
    mutating func advance(now: Duration)
}

extension Advertiser: CommandProcedure {}

extension Scanner: CommandProcedure {
    init?(_ supported: SupportedCommands) { self.init(supported, devices: DeviceTable()) }

    mutating func handle(_ packet: Span<UInt8>, now: Duration) { handle(packet, now: now) { _ in } }
}

/// Runs a `CommandProcedure` on a kernel adapter, with a raw HCI socket for commands and responses, and a timer.
///
/// The procedure is created once the controller's supported commands are known. Used on the event loop's thread.
final class KernelCommands<Procedure: CommandProcedure> {
    /// Reasons why the procedure cannot continue.
    enum Failure {
        /// The socket could not be read: the adapter was removed.
        case read(Errno)
        /// A command could not be sent.
        case send(Errno)
        /// The controller lacks the commands that the procedure needs.
        case unsupported
        /// The controller's list of supported commands could not be decoded.
        case unreadable(HCIOpcode)
        /// The controller rejected the request for its supported commands.
        case refused(HCIOpcode, HCIStatus)
        /// The controller did not answer the request for its supported commands.
        case noAnswer(HCIOpcode)
    }

    /// The procedure; nil until the controller's supported commands are known.
    var procedure: Procedure?
    /// The handler that is called once, when `procedure` has been created.
    var onPrepared: (() -> Void)?
    /// The handler that is called after each step, so that the owner can read the procedure's state.
    var onStep: (() -> Void)?
    /// The handler that is called when the procedure cannot continue.
    var onFailure: ((Failure) -> Void)?

    private let loop: EventLoop
    private let socket: HCISocket
    private var registration: EventLoop.Registration?
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)
    private var faults = RepeatedFaults()
    private let timer = LoopTimer()
    private var discovery = HCICommandQueue()
    /// The completion handler of `catchUp`.
    private var onCaughtUp: (() -> Void)?

    /// Event codes that the socket must receive: Command Complete, Command Status and Hardware Error.
    static var events: [UInt8] {
        [HCIEvent.Code.commandComplete, HCIEvent.Code.commandStatus, HCIEvent.Code.hardwareError]
    }

    convenience init(controller index: ControllerIndex, on loop: EventLoop) throws(Errno) {
        try self.init(try HCISocket(controller: index.rawValue, events: Self.events), on: loop)
    }

    /// Creates a driver that uses a socket whose filter lets `events` through.
    init(_ socket: consuming HCISocket, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.socket = socket
        registration = try loop.watch(self.socket.descriptor, for: .readable) { [weak self] _ in self?.read() }
    }

    deinit { close() }

    /// Requests the controller's supported commands, unless they are known or already requested.
    func prepare() {
        guard procedure == nil, discovery.outstandingOpcode == nil else { return }
        _ = discovery.enqueue(.readLocalSupportedCommands)
    }

    /// Calls `completion` when the kernel has processed all responses that were read here, or when it fails to answer.
    ///
    /// The kernel passes an event to raw sockets before it processes the event itself. If a program reads the end of a
    /// scan and connects immediately, the kernel may consider the scan still running, disable it again, receive an
    /// error, and never start the connection (seen on 6.1). Events are processed in order, so the response to one more
    /// command shows that the earlier events have been processed. The corresponding C function is `hci_rx_work`.
    func catchUp(completion: @escaping () -> Void) {
        onCaughtUp = completion
        _ = discovery.enqueue(.readLocalSupportedCommands)
        pump()
    }

    /// Closes the socket immediately, in any state.
    func close() {
        timer.cancel()
        onCaughtUp = nil
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
    }

    /// Sends the pending commands, and sets the timer; called after each change of the procedure.
    func pump() {
        guard registration != nil else { return }
        let now = MonotonicClock.now
        do throws(Errno) {
            while let command = discovery.nextCommand(now: now) { try send(command) }
            while let command = procedure?.nextCommand(now: now) { try send(command) }
        } catch {
            onFailure?(.send(error))
            return
        }
        let deadline = [procedure?.deadline, discovery.deadline].compactMap(\.self).min()
        timer.set(on: loop, at: deadline) { [weak self] in self?.expire() }
    }

    /// Sends a command; throws `wouldBlock` if the socket has no room for it.
    private func send(_ command: HCICommand) throws(Errno) {
        guard case .done = try socket.send(command.encoded) else { throw .wouldBlock }
    }

    private func read() {
        do throws(Errno) {
            for _ in 0..<HCISocket.batch {
                guard case .done(let packet) = try socket.descriptor.receive(into: &buffer), packet.count > 0 else {
                    break
                }
                faults.clear()
                let bytes = buffer.span.extracting(first: packet.count)
                let now = MonotonicClock.now
                procedure?.handle(bytes, now: now)
                if let event = try? HCIEvent(bytes), let outcome = discovery.handle(event, now: now) { take(outcome) }
            }
        } catch {
            if !faults.allow(error, of: .hci) { onFailure?(.read(error)) }
            return
        }
        pump()
        onStep?()
    }

    private func expire() {
        let now = MonotonicClock.now
        if let outcome = discovery.expire(now: now) { take(outcome) }
        procedure?.advance(now: now)
        pump()
        onStep?()
    }

    private func take(_ outcome: HCICommandQueue.Outcome) {
        guard procedure == nil else {
            let completion = onCaughtUp
            onCaughtUp = nil
            completion?()
            return
        }
        switch outcome {
        case .completed(let opcode, let returnParameters):
            guard let supported = try? SupportedCommands(returnParameters: returnParameters.span) else {
                onFailure?(.unreadable(opcode))
                return
            }
            guard let procedure = Procedure(supported) else {
                onFailure?(.unsupported)
                return
            }
            self.procedure = procedure
            onPrepared?()
        case .failed(let opcode, let status): onFailure?(.refused(opcode, status))
        case .timedOut(let opcode): onFailure?(.noAnswer(opcode))
        }
    }
}
