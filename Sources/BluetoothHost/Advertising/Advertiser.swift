// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Advertising on one controller: which commands, in which order, and what their answers mean.
///
/// No input or output of its own.
///
/// The caller sends what `nextCommand` returns after every other call, passes every event packet to `handle`, and calls
/// `advance` at `deadline`. A controller stops advertising when a central connects: the caller says so by `resume`.
///
/// Legacy and extended commands must not be mixed on a controller; the generation is chosen as a `Scanner`'s is. Either
/// way it advertises with legacy PDUs, which every central hears. Core 6.0, Vol 4, Part E, 3.1.1, 7.8.5 to 7.8.9 and
/// 7.8.53 to 7.8.56.
public struct Advertiser: Sendable {
    /// The generation of commands that is used.
    public enum Generation: Hashable, Sendable {
        /// LE Set Advertising Parameters and its kin.
        case legacy
        /// LE Set Extended Advertising Parameters and its kin.
        case extended

        /// The extended one where the controller knows it, else the legacy one; nil for neither.
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

    /// The advertisement.
    public struct Content: Hashable, Sendable {
        /// The parameters.
        public var parameters: AdvertisingParameters
        /// The advertising data, at most 31 bytes.
        public var data: [UInt8]
        /// The scan response, at most 31 bytes; not sent where nobody may ask for it.
        public var scanResponse: [UInt8]

        /// Parameters and data.
        public init(_ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8] = []) {
            self.parameters = parameters
            self.data = data
            self.scanResponse = scanResponse
        }
    }

    /// The reason why advertising failed.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The data or the scan response has more than 31 bytes.
        case tooLong(data: Int, scanResponse: Int)
        case refused(HCIOpcode, HCIStatus)
        case noAnswer(HCIOpcode)
        /// The controller reported a fault of its own, with the vendor's code.
        case hardwareError(UInt8)

        /// One line for people.
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

    /// The state of an advertiser.
    public enum State: Hashable, Sendable {
        case idle
        /// Commands are on their way.
        case starting
        /// The controller advertises, as far as is known.
        case advertising
        /// The controller does not take the enabling now, as while all its connections are in use; `resume` tries
        /// again.
        case suspended
        /// The command that ends it is on its way.
        case stopping
        /// Failed; `start` tries again.
        case failed(Failure)
    }

    private enum Step { case disable, setParameters, setData, setScanResponse, enable }

    /// The advertising set that is used; the kernel's own first one, which an unused kernel leaves alone.
    private static let set: UInt8 = 0x00

    /// The generation of commands that is used.
    public let generation: Generation
    /// The state.
    public private(set) var state = State.idle
    /// The number of times that another program switched advertising while we advertised: it may be off since.
    public private(set) var foreignCommands: UInt64 = 0

    private var commands = HCICommandQueue()
    private var content: Content?
    private var step: Step?
    /// The sequence to begin after the outstanding command, whose answer does not matter any more.
    private var next: Step?
    private var didAdvertise = false

    /// An advertiser that does nothing yet; nil for a controller that knows neither generation's commands.
    public init?(_ supported: SupportedCommands) {
        guard let generation = Generation(supported) else { return nil }
        self.init(generation)
    }

    /// An advertiser that uses the commands of `generation`.
    public init(_ generation: Generation) {
        self.generation = generation
    }

    /// The time at which `advance` must be called, if no event comes before.
    public var deadline: Duration? { commands.deadline }

    /// Begins to advertise; other content is replaced.
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

    /// Enables advertising again, after a connection began or ended; nothing unless it advertises or is suspended.
    public mutating func resume() {
        guard state == .advertising || state == .suspended else { return }
        state = .starting
        begin(.enable)
    }

    /// Ends the advertising, whatever its state; a second call does nothing more.
    public mutating func stop() {
        if state == .idle || state == .stopping { return }
        content = nil
        state = .stopping
        begin(.disable)
    }

    /// The command to send now; nil for none.
    public mutating func nextCommand(now: Duration) -> HCICommand? {
        commands.nextCommand(now: now)
    }

    /// Takes an event packet, its indicator included; one that is not sound is not used.
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

    /// Gives up a command that takes too long.
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
        // Advertising was off already, or the set does not exist yet.
        case (.disable, .commandDisallowed), (.disable, .unknownAdvertisingIdentifier): advance(after: .disable)
        // The controller has advertised before: its present connections are in the way.
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
        // Where nobody may ask for a scan response the controller refuses one.
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
