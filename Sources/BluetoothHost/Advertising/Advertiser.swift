// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Performs advertising on one controller: chooses the commands and their order, and interprets the answers.
///
/// It performs no input or output.
///
/// After every call, the caller sends the command that `nextCommand` returns. The caller also passes every event packet
/// to `handle`, and calls `advance` at `deadline`. A controller stops advertising when a central connects; the caller
/// then calls `resume`.
///
/// Legacy and extended commands must not be mixed on a controller; the generation is chosen as in `Scanner`. Both
/// generations advertise with legacy PDUs, which every central can receive. Core 6.0, Vol 4, Part E, 3.1.1, 7.8.5 to
/// 7.8.9 and 7.8.53 to 7.8.56.
public struct Advertiser: Sendable {
    /// Generation of advertising commands.
    public enum Generation: Hashable, Sendable {
        /// LE Set Advertising Parameters and the related commands.
        case legacy
        /// LE Set Extended Advertising Parameters and the related commands.
        case extended

        /// Chooses the extended commands if the controller supports them, otherwise the legacy commands; returns nil if
        /// it supports neither.
        public init?(_ commands: SupportedCommands) {
            if commands.contains(.leSetExtendedAdvertisingParameters),
                commands.contains(.leSetExtendedAdvertisingEnable)
            {
                self = .extended
            } else if commands.contains(.leSetAdvertisingParameters), commands.contains(.leSetAdvertisingEnable) {
                self = .legacy
            } else {
                return nil
            }
        }
    }

    /// Parameters and data to advertise.
    public struct Content: Hashable, Sendable {
        /// Advertising parameters.
        public var parameters: AdvertisingParameters
        /// Advertising data, at most 31 bytes.
        public var data: [UInt8]
        /// Scan response data, at most 31 bytes; not sent if the advertising is not scannable.
        public var scanResponse: [UInt8]

        /// Creates content from advertising parameters and data.
        public init(_ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8] = []) {
            self.parameters = parameters
            self.data = data
            self.scanResponse = scanResponse
        }
    }

    /// Reason why advertising failed.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The advertising data or the scan response is longer than 31 bytes.
        case tooLong(data: Int, scanResponse: Int)
        case refused(HCIOpcode, HCIStatus)
        case noAnswer(HCIOpcode)
        /// The controller reported a hardware error; the value is the vendor's code.
        case hardwareError(UInt8)

        /// Human-readable description in one line.
        public var description: String {
            switch self {
            case .tooLong(let data, let scanResponse):
                "advertising data of \(data) and scan response of \(scanResponse) bytes; each may have "
                    + "\(HCICommand.maximumAdvertisingDataLength)"
            case .refused(let opcode, let status): HostFailure.refused(opcode, status).description
            case .noAnswer(let opcode): HostFailure.noAnswer(opcode).description
            case .hardwareError(let code): HostFailure.hardwareError(code).description
            }
        }
    }

    /// State of an advertiser.
    public enum State: Hashable, Sendable {
        case idle
        /// The commands that start advertising are in progress.
        case starting
        /// Advertising is enabled, as far as is known.
        case advertising
        /// The controller cannot advertise at present, for example because all its connections are in use; `resume`
        /// retries.
        case suspended
        /// The command that stops advertising is in progress.
        case stopping
        /// Advertising has failed; `start` retries.
        case failed(Failure)
    }

    private enum Step { case disable, setParameters, setData, setScanResponse, enable }

    /// Handle of the advertising set.
    ///
    /// The kernel's first advertising set has the same handle, but an idle kernel does not use it.
    private static let set: UInt8 = 0x00

    /// Generation of the commands in use.
    public let generation: Generation
    /// Current state.
    public private(set) var state = State.idle
    /// Number of times that another program changed advertising while ours was enabled; each change may have disabled
    /// our advertising.
    public private(set) var foreignCommands: UInt64 = 0

    private var commands = HCICommandQueue()
    private var content: Content?
    private var step: Step?
    /// First step of the next command sequence.
    ///
    /// The sequence starts after the outstanding command is answered; that answer is ignored.
    private var next: Step?
    private var didAdvertise = false

    /// Creates an idle advertiser; returns nil if the controller supports neither generation of commands.
    public init?(_ supported: SupportedCommands) {
        guard let generation = Generation(supported) else { return nil }
        self.init(generation)
    }

    /// Creates an advertiser that uses the commands of `generation`.
    public init(_ generation: Generation) {
        self.generation = generation
    }

    /// Time at which `advance` must be called if no event arrives before then; nil if no answer is pending.
    public var deadline: Duration? { commands.deadline }

    /// Starts advertising; replaces the content that is being advertised.
    public mutating func start(_ content: Content) {
        guard content.data.count <= HCICommand.maximumAdvertisingDataLength,
            content.scanResponse.count <= HCICommand.maximumAdvertisingDataLength
        else {
            fail(.tooLong(data: content.data.count, scanResponse: content.scanResponse.count))
            return
        }
        self.content = content
        didAdvertise = false
        state = .starting
        begin(.disable)
    }

    /// Re-enables advertising after a connection has begun or ended; does nothing unless the state is `advertising` or
    /// `suspended`.
    public mutating func resume() {
        guard state == .advertising || state == .suspended else { return }
        state = .starting
        begin(.enable)
    }

    /// Stops advertising in any state; a second call has no effect.
    public mutating func stop() {
        if state == .idle || state == .stopping { return }
        content = nil
        state = .stopping
        begin(.disable)
    }

    /// Returns the command to send now, or nil if no command can be sent.
    public mutating func nextCommand(now: Duration) -> HCICommand? {
        commands.nextCommand(now: now)
    }

    /// Processes an event packet, including its indicator; ignores a malformed packet.
    public mutating func handle(_ packet: Span<UInt8>, now: Duration) {
        guard let event = try? HCIEvent(packet) else { return }
        switch event {
        case .commandComplete, .commandStatus:
            if let outcome = commands.handle(event, now: now) { take(outcome) } else { noteForeign(event) }
        case .hardwareError(let code):
            if state != .idle { fail(.hardwareError(code)) }
        case .disconnectionComplete, .leMeta, .other: break
        }
    }

    /// Handles the time-out of a command.
    public mutating func advance(now: Duration) {
        if let outcome = commands.expire(now: now) { take(outcome) }
    }

    private mutating func begin(_ first: Step) {
        commands.removeWaiting()
        next = nil
        if commands.outstandingOpcode != nil { next = first } else { send(first) }
    }

    private mutating func send(_ wanted: Step) {
        guard let command = command(wanted) else { return fail(.tooLong(data: 0, scanResponse: 0)) }
        step = wanted
        // The queue is empty here, so there is room.
        _ = commands.enqueue(command)
    }

    private func command(_ step: Step) -> HCICommand? {
        let content = content ?? Content(AdvertisingParameters(kind: .nonConnectable, interval: 0), data: [])
        return switch (step, generation) {
        case (.disable, .legacy): .leSetAdvertisingEnable(false)
        case (.disable, .extended): .leSetExtendedAdvertisingEnable(false, handle: Self.set)
        case (.setParameters, .legacy): .leSetAdvertisingParameters(content.parameters)
        case (.setParameters, .extended): .leSetExtendedAdvertisingParameters(handle: Self.set, content.parameters)
        case (.setData, .legacy): .leSetAdvertisingData(content.data)
        case (.setData, .extended): .leSetExtendedAdvertisingData(handle: Self.set, content.data)
        case (.setScanResponse, .legacy): .leSetScanResponseData(content.scanResponse)
        case (.setScanResponse, .extended):
            .leSetExtendedScanResponseData(handle: Self.set, content.scanResponse)
        case (.enable, .legacy): .leSetAdvertisingEnable(true)
        case (.enable, .extended): .leSetExtendedAdvertisingEnable(true, handle: Self.set)
        }
    }

    private mutating func take(_ outcome: HCICommandQueue.Outcome) {
        if let wanted = next {
            next = nil
            send(wanted)
            return
        }
        guard let done = step else { return }
        step = nil
        switch outcome {
        case .timedOut(let opcode): fail(.noAnswer(opcode))
        case .failed(let opcode, let status): refused(done, opcode, status)
        case .completed: advance(after: done)
        }
    }

    private mutating func refused(_ step: Step, _ opcode: HCIOpcode, _ status: HCIStatus) {
        switch (step, status) {
        // Advertising was already disabled, or the set does not exist yet.
        case (.disable, .commandDisallowed), (.disable, .unknownAdvertisingIdentifier): advance(after: .disable)
        // The controller was able to advertise before, so the open connections must be the cause.
        case (.enable, .commandDisallowed), (.enable, .connectionLimitExceeded):
            if didAdvertise { state = .suspended } else { fail(.refused(opcode, status)) }
        default: fail(.refused(opcode, status))
        }
    }

    private mutating func advance(after done: Step) {
        switch done {
        case .disable where content == nil: state = .idle
        case .disable: send(.setParameters)
        case .setParameters: send(.setData)
        // A controller rejects scan response data for advertising that is not scannable.
        case .setData: send(content?.parameters.kind == .nonConnectable ? .enable : .setScanResponse)
        case .setScanResponse: send(.enable)
        case .enable:
            didAdvertise = true
            state = .advertising
        }
    }

    private mutating func fail(_ failure: Failure) {
        commands.removeWaiting()
        step = nil
        next = nil
        content = nil
        state = .failed(failure)
    }

    private mutating func noteForeign(_ event: borrowing HCIEvent) {
        guard state == .advertising else { return }
        switch event {
        case .commandComplete(_, let opcode, _):
            let enable: HCIOpcode = generation == .legacy ? .leSetAdvertisingEnable : .leSetExtendedAdvertisingEnable
            if opcode == enable || opcode == .reset { foreignCommands &+= 1 }
        default: break
        }
    }
}
