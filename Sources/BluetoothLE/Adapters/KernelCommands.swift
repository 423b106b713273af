// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage

/// What is done to a controller by commands, as a state machine of BluetoothHost: it says what to send, and takes the answers.
protocol CommandProcedure {
    /// For a controller that knows those commands; nil where they do not suffice.
    init?(_ supported: SupportedCommands)
    /// When `advance` wants to be called.
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

/// A procedure on a controller of the kernel's: a raw HCI socket for its commands and their answers, and its timer.
///
/// Which commands the controller knows is asked first. To be used on the event loop's thread.
final class KernelCommands<Procedure: CommandProcedure> {
    /// Why the procedure cannot go on.
    enum Failure {
        /// The socket could not be read, which is the adapter's end.
        case read(Errno)
        /// A command could not be sent.
        case send(Errno)
        /// The controller knows no command for this.
        case unsupported
        /// The answer about the known commands cannot be read.
        case unreadable(HCIOpcode)
        /// The question about the known commands was refused.
        case refused(HCIOpcode, HCIStatus)
        /// The question about the known commands was not answered.
        case noAnswer(HCIOpcode)
    }

    /// Nil until the controller's commands are known.
    var procedure: Procedure?
    /// Called once, when the procedure is there and has not begun.
    var onPrepared: (() -> Void)?
    /// Called after each step: who waits for a state looks at the procedure.
    var onStep: (() -> Void)?
    /// Called when the procedure cannot go on.
    var onFailure: ((Failure) -> Void)?

    private let loop: EventLoop
    private let socket: HCISocket
    private var registration: EventLoop.Registration?
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)
    private var timer: EventLoop.Timer?
    private var discovery = HCICommandQueue()
    /// Who waits until the kernel has seen all answers.
    private var onCaughtUp: (() -> Void)?

    /// Opens the socket for answers: command complete, command status, hardware error.
    init(controller index: ControllerIndex, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        let events = [HCIEvent.Code.commandComplete, HCIEvent.Code.commandStatus, HCIEvent.Code.hardwareError]
        socket = try HCISocket(controller: index.rawValue, events: events)
        registration = try loop.watch(socket.descriptor, for: .readable) { [weak self] _ in self?.read() }
    }

    deinit { close() }

    /// Asks which commands the controller knows, unless that is known or asked already.
    func prepare() {
        guard procedure == nil, discovery.outstandingOpcode == nil else { return }
        _ = discovery.enqueue(.readLocalSupportedCommands)
    }

    /// Calls `completion` when the kernel itself has seen all answers that were read here, or does not answer.
    ///
    /// The kernel hands an event to raw sockets before it looks at it. Who has read that a scan is off and connects at once
    /// may find a kernel that takes the scan for running, ends it again, is refused, and never begins the connection (seen
    /// on 6.1). Events are handled one after the other, so the answer to one more command comes after that.
    ///
    /// The corresponding C function is `hci_rx_work`.
    func catchUp(completion: @escaping () -> Void) {
        onCaughtUp = completion
        _ = discovery.enqueue(.readLocalSupportedCommands)
        pump()
    }

    /// Lets go of the socket, whatever goes on.
    func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        onCaughtUp = nil
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
    }

    /// Sends what is to be sent, and sets the timer anew; call it after each change of the procedure.
    func pump() {
        guard registration != nil else { return }
        let now = MonotonicClock.now
        do throws(Errno) {
            while let command = discovery.nextCommand(now: now) { _ = try socket.send(command.encoded) }
            while let command = procedure?.nextCommand(now: now) { _ = try socket.send(command.encoded) }
        } catch {
            onFailure?(.send(error))
            return
        }
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let deadline = [procedure?.deadline, discovery.deadline].compactMap(\.self).min() else { return }
        timer = loop.schedule(at: deadline) { [weak self] in self?.expire() }
    }

    private func read() {
        do throws(Errno) {
            while case .done(let packet) = try socket.descriptor.receive(into: &buffer), packet.count > 0 {
                let bytes = buffer.span.extracting(first: packet.count)
                let now = MonotonicClock.now
                procedure?.handle(bytes, now: now)
                if let event = try? HCIEvent(bytes), let outcome = discovery.handle(event, now: now) { take(outcome) }
            }
        } catch {
            onFailure?(.read(error))
            return
        }
        pump()
        onStep?()
    }

    private func expire() {
        timer = nil
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
