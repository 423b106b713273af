// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Performs scans on one controller: chooses the commands and their order, and interprets the answers.
///
/// It performs no input or output.
///
/// After every call, the caller sends the command that `nextCommand` returns. The caller also passes every event packet
/// to `handle`, and calls `advance` at `deadline`. A scan does not end by itself unless its parameters have a duration
/// (CB-2).
///
/// Legacy and extended commands must not be mixed on a controller. The generation is therefore chosen once, from the
/// controller's supported commands rather than its version. If the controller supports both generations, the extended
/// commands are used, as in the kernel. Core 6.0, Vol 4, Part E, 3.1.1, 7.8.10, 7.8.11, 7.8.64 and 7.8.65.
public struct Scanner: Sendable {
    /// Generation of scan commands.
    public enum Generation: Hashable, Sendable {
        /// LE Set Scan Parameters and LE Set Scan Enable.
        case legacy
        /// LE Set Extended Scan Parameters and LE Set Extended Scan Enable.
        case extended

        /// Chooses the extended commands if the controller supports both of them, otherwise the legacy commands;
        /// returns nil if it supports neither generation.
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

    /// Reason why scanning failed.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case refused(HCIOpcode, HCIStatus)
        case noAnswer(HCIOpcode)
        /// The controller reported a hardware error; the value is the vendor's code.
        case hardwareError(UInt8)

        /// Human-readable description in one line.
        public var description: String {
            switch self {
            case .refused(let opcode, let status): HostFailure.refused(opcode, status).description
            case .noAnswer(let opcode): HostFailure.noAnswer(opcode).description
            case .hardwareError(let code): HostFailure.hardwareError(code).description
            }
        }
    }

    /// State of a scanner.
    public enum State: Hashable, Sendable {
        /// The scanner has no scan in progress.
        case idle
        /// The commands that start the scan are in progress.
        case starting
        /// The scan is enabled and advertisements are reported.
        case scanning
        /// The command that stops the scan is in progress.
        case stopping
        /// The scan has failed; `start` retries, and `stop` tries to disable the controller's scanning.
        case failed(Failure)
    }

    private enum Step { case disable, setParameters, enable }

    /// Pauses before the retries of a command that failed with Command Disallowed; after the last retry, the scan
    /// fails.
    ///
    /// Only the commands that set the scan parameters and enable scanning are retried. They may fail because the kernel
    /// has started its own scan between two of our commands; our next disable command ends that scan.
    public static let pauses: [Duration] = [.milliseconds(100), .milliseconds(200), .milliseconds(400)]

    /// Generation of the commands in use.
    ///
    /// It changes to legacy if the controller rejects an extended command as unknown.
    public private(set) var generation: Generation
    /// Current state.
    public private(set) var state = State.idle
    /// Table of the devices that were heard.
    public var devices: DeviceTable
    /// Error of the latest malformed event, for the log.
    public private(set) var lastFault: DecodingError?
    /// Number of times that another program or the kernel changed scanning or reset the controller during our scan.
    ///
    /// The controller may have stopped scanning as a result; the caller decides whether to call `start` again.
    public private(set) var foreignCommands: UInt64 = 0

    private var commands = HCICommandQueue()
    private var wanted: ScanParameters?
    private var step: Step?
    private var wantsAnother = false
    /// Number of consecutive Command Disallowed failures that were followed by a pause.
    private var refusals = 0
    private var resumesAt: Duration?

    /// Creates an idle scanner; returns nil if the controller supports neither generation of commands.
    public init?(_ supported: SupportedCommands, devices: DeviceTable = DeviceTable()) {
        guard let generation = Generation(supported) else { return nil }
        self.init(generation, devices: devices)
    }

    /// Creates a scanner that uses the commands of `generation`.
    public init(_ generation: Generation, devices: DeviceTable = DeviceTable()) {
        self.generation = generation
        self.devices = devices
    }

    /// Time at which `advance` must be called if no event arrives before then; nil if neither an answer nor a retry is
    /// pending.
    public var deadline: Duration? { resumesAt ?? commands.deadline }

    /// True while a command is unanswered; other users of the controller wait until it is answered.
    public var isWaitingForAnswer: Bool { commands.outstandingOpcode != nil }

    /// Starts a scan; replaces the current scan if there is one.
    public mutating func start(_ parameters: ScanParameters) {
        wanted = parameters
        state = .starting
        refusals = 0
        begin()
    }

    /// Stops the scan in any state; a second call has no effect.
    public mutating func stop() {
        if state == .idle || state == .stopping { return }
        wanted = nil
        state = .stopping
        begin()
    }

    /// Records that another program or the kernel has stopped our scan.
    public mutating func noteStop() {
        if state != .scanning { return }
        state = .idle
    }

    /// Returns the command to send now, or nil if no command can be sent.
    public mutating func nextCommand(now: Duration) -> HCICommand? {
        commands.nextCommand(now: now)
    }

    /// Processes an event packet, including its indicator; calls `update` for every report to pass on.
    ///
    /// A malformed packet is counted and ignored. Reports are used only in the states `starting` and `scanning`; in
    /// other states they belong to another program's scan.
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

    /// Handles the time-out of a command, and resumes after a pause.
    public mutating func advance(now: Duration) {
        if let outcome = commands.expire(now: now) { take(outcome, now: now) }
        guard let resumesAt, resumesAt <= now else { return }
        self.resumesAt = nil
        send(.disable)
    }

    /// Starts the command sequence for the requested state; an outstanding command is completed first.
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
        // Despite listing the extended commands as supported, the controller supports only commands from before
        // Bluetooth 5.
        case .failed(_, .unknownHCICommand) where generation == .extended:
            generation = .legacy
            send(.disable)
        case .failed(_, .commandDisallowed) where done != .disable && refusals < Self.pauses.count:
            resumesAt = now + Self.pauses[refusals]
            refusals += 1
        // If the disable command fails with Command Disallowed, scanning was already disabled; for other commands this
        // status is an error.
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
