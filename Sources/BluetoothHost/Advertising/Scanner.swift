// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Scanning on one controller: which commands, in which order, and what their answers mean.
///
/// No input or output of its own.
///
/// The caller sends what `nextCommand` returns after every other call, passes every event packet to `handle`, and calls
/// `advance` at `deadline`. A scan never ends by itself unless its parameters have a duration (CB-2).
///
/// Legacy and extended commands must not be mixed on a controller, so the generation is chosen once, from the commands
/// that the controller knows and not from its version: the extended ones where it knows both of them, as the kernel
/// does. Core 6.0, Vol 4, Part E, 3.1.1, 7.8.10, 7.8.11, 7.8.64 and 7.8.65.
public struct Scanner: Sendable {
    /// The generation of commands that a controller is scanned with.
    public enum Generation: Hashable, Sendable {
        /// LE Set Scan Parameters and LE Set Scan Enable.
        case legacy
        /// LE Set Extended Scan Parameters and LE Set Extended Scan Enable.
        case extended

        /// The extended one where the controller knows both of its commands, else the legacy one; nil for neither.
        public init?(_ commands: SupportedCommands) {
            if commands.contains(.leSetExtendedScanParameters), commands.contains(.leSetExtendedScanEnable) {
                self = .extended
            } else if commands.contains(.leSetScanParameters), commands.contains(.leSetScanEnable) {
                self = .legacy
            } else {
                return nil
            }
        }

        var parametersOpcode: HCIOpcode { self == .legacy ? .leSetScanParameters : .leSetExtendedScanParameters }
        var enableOpcode: HCIOpcode { self == .legacy ? .leSetScanEnable : .leSetExtendedScanEnable }
    }

    /// The reason why scanning failed.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case refused(HCIOpcode, HCIStatus)
        case noAnswer(HCIOpcode)
        /// The controller reported a fault of its own, with the vendor's code.
        case hardwareError(UInt8)

        /// One line for people.
        public var description: String {
            switch self {
            case .refused(let opcode, let status): HostFailure.refused(opcode, status).description
            case .noAnswer(let opcode): HostFailure.noAnswer(opcode).description
            case .hardwareError(let code): HostFailure.hardwareError(code).description
            }
        }
    }

    /// The state of a scanner.
    public enum State: Hashable, Sendable {
        /// Not scanning for us.
        case idle
        /// Commands are on their way.
        case starting
        /// Advertisements are reported.
        case scanning
        /// The command that ends it is on its way.
        case stopping
        /// Failed; `start` tries again, `stop` tries to switch the controller's scanning off.
        case failed(Failure)
    }

    private enum Step { case disable, setParameters, enable }

    /// The pauses after which a scan begins again when its parameters, or its beginning, were refused with Command
    /// Disallowed; one more refusal is the scan's end.
    ///
    /// The kernel may have begun a scan of its own between two of our commands, which the next "off" ends.
    public static let pauses: [Duration] = [.milliseconds(100), .milliseconds(200), .milliseconds(400)]

    /// The generation of commands that is used.
    ///
    /// It becomes the legacy one when the controller does not know an extended command.
    public private(set) var generation: Generation
    /// The state.
    public private(set) var state = State.idle
    /// The devices that were heard.
    public var devices: DeviceTable
    /// The last fault in an event, for the log.
    public private(set) var lastFault: DecodingError?
    /// The number of times that another program, or the kernel, switched scanning or reset the controller while we
    /// scanned.
    ///
    /// Scanning may be off since: the caller decides whether to `start` again.
    public private(set) var foreignCommands: UInt64 = 0

    private var commands = HCICommandQueue()
    private var wanted: ScanParameters?
    private var step: Step?
    private var wantsAnother = false
    /// The number of refusals in a row that were answered with a pause.
    private var refusals = 0
    private var resumesAt: Duration?

    /// A scanner that does nothing yet; nil for a controller that knows neither generation's commands.
    public init?(_ supported: SupportedCommands, devices: DeviceTable = DeviceTable()) {
        guard let generation = Generation(supported) else { return nil }
        self.init(generation, devices: devices)
    }

    /// A scanner that uses the commands of `generation`.
    public init(_ generation: Generation, devices: DeviceTable = DeviceTable()) {
        self.generation = generation
        self.devices = devices
    }

    /// The time at which `advance` must be called, if no event comes before.
    public var deadline: Duration? { resumesAt ?? commands.deadline }

    /// True while a command was sent and is not answered; who shares the controller waits then.
    public var isWaitingForAnswer: Bool { commands.outstandingOpcode != nil }

    /// Begins to scan; a scan with other parameters is replaced.
    public mutating func start(_ parameters: ScanParameters) {
        wanted = parameters
        state = .starting
        refusals = 0
        begin()
    }

    /// Ends the scan, whatever its state; a second call does nothing more.
    public mutating func stop() {
        if state == .idle || state == .stopping { return }
        wanted = nil
        state = .stopping
        begin()
    }

    /// Notes that another program, or the kernel, has ended the scan on our behalf.
    public mutating func noteStop() {
        if state != .scanning { return }
        wanted = nil
        state = .idle
    }

    /// The command to send now; nil for none.
    public mutating func nextCommand(now: Duration) -> HCICommand? {
        commands.nextCommand(now: now)
    }

    /// Takes an event packet, its indicator included; `update` is called for every report to pass on.
    ///
    /// A packet that is not sound is counted and not used. Reports are taken while starting or scanning only: at other
    /// times they belong to somebody else's scan.
    public mutating func handle(_ packet: Span<UInt8>, now: Duration, update: (DeviceTable.Update) -> Void = { _ in }) {
        do throws(DecodingError) {
            let event = try HCIEvent(packet)
            switch event {
            case .commandComplete, .commandStatus:
                let outcome = commands.handle(event, now: now)
                if let outcome { take(outcome, now: now) } else { noteForeign(event) }
            case .leMeta(let subevent, let parameters):
                if AdvertisingReportReader.reads(subevent) {
                    guard state == .starting || state == .scanning else { return }
                    try devices.handle(subevent, parameters, now: now, update: update)
                } else if subevent == .scanTimeout, state == .scanning {
                    state = .idle
                }
            case .hardwareError(let code):
                if state != .idle { fail(.hardwareError(code)) }
            case .disconnectionComplete, .other: break
            }
        } catch {
            lastFault = error
            devices.noteBadEvent()
        }
    }

    /// Gives up a command that takes too long, and begins again after a pause.
    public mutating func advance(now: Duration) {
        if let outcome = commands.expire(now: now) { take(outcome, now: now) }
        guard let resumesAt, resumesAt <= now else { return }
        self.resumesAt = nil
        send(.disable)
    }

    /// Begins the sequence for the wanted state, after the outstanding command if there is one.
    private mutating func begin() {
        commands.removeWaiting()
        resumesAt = nil
        wantsAnother = commands.outstandingOpcode != nil
        if wantsAnother { return }
        send(.disable)
    }

    private mutating func send(_ next: Step) {
        step = next
        let scan = wanted ?? .discovery
        let command: HCICommand =
            switch (next, generation) {
            case (.disable, .legacy): .leSetScanEnable(false, filtersDuplicates: false)
            case (.disable, .extended): .leSetExtendedScanEnable(false, scan)
            case (.setParameters, .legacy): .leSetScanParameters(scan)
            case (.setParameters, .extended): .leSetExtendedScanParameters(scan)
            case (.enable, .legacy): .leSetScanEnable(true, filtersDuplicates: scan.filtersDuplicates)
            case (.enable, .extended): .leSetExtendedScanEnable(true, scan)
            }
        // The queue is empty here, so there is room.
        _ = commands.enqueue(command)
    }

    private mutating func take(_ outcome: HCICommandQueue.Outcome, now: Duration) {
        if wantsAnother {
            wantsAnother = false
            send(.disable)
            return
        }
        guard let done = step else { return }
        step = nil
        switch outcome {
        case .timedOut(let opcode): fail(.noAnswer(opcode))
        // Whatever its list says, the controller has only the commands before Bluetooth 5.
        case .failed(_, .unknownHCICommand) where generation == .extended:
            generation = .legacy
            send(.disable)
        case .failed(_, .commandDisallowed) where done != .disable && refusals < Self.pauses.count:
            resumesAt = now + Self.pauses[refusals]
            refusals += 1
        // Command Disallowed as the answer to "off" means that scanning was off already; else it is a refusal.
        case .failed(let opcode, let status) where !(done == .disable && status == .commandDisallowed):
            fail(.refused(opcode, status))
        case .failed, .completed: advance(after: done)
        }
    }

    private mutating func advance(after done: Step) {
        switch done {
        case .disable where wanted == nil: state = .idle
        case .disable: send(.setParameters)
        case .setParameters: send(.enable)
        case .enable:
            refusals = 0
            state = .scanning
        }
    }

    private mutating func fail(_ failure: Failure) {
        commands.removeWaiting()
        step = nil
        wantsAnother = false
        resumesAt = nil
        state = .failed(failure)
    }

    private mutating func noteForeign(_ event: borrowing HCIEvent) {
        guard state == .scanning else { return }
        switch event {
        case .commandComplete(_, let opcode, _):
            let isScanning = opcode == generation.enableOpcode || opcode == generation.parametersOpcode
            if isScanning || opcode == .reset { foreignCommands &+= 1 }
        default: break
        }
    }
}
