// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import Synchronization

/// Firmware behind a Unix socket, on its own thread, for programs that the tests run.
public final class FirmwareLine: Sendable {
    /// Event on the line.
    public enum Event: Sendable, Equatable {
        case opened, closed
        /// The host has written this number of bytes.
        case received(Int)
        /// The firmware has written these bytes.
        case said([UInt8])
    }

    /// Many devices that are received before and together with the relevant one, as fast as the line allows.
    public struct Crowd: Sendable {
        /// Number of addresses; nil for a new address in every report.
        public var addresses: Int?
        /// Time during which only the crowd is received.
        public var lead: Duration
        /// True if the crowd continues after that time.
        public var stays: Bool
        /// Provides blocks of whole reports and their number instead of the crowd's own reports; called on the line's
        /// thread.
        public var blocks: (@Sendable () -> (bytes: [UInt8], count: Int))?

        /// Creates a crowd with an RSSI of −30 dBm.
        public init(addresses: Int?, alone lead: Duration, stays: Bool) {
            self.addresses = addresses
            self.lead = lead
            self.stays = stays
        }

        /// Creates a crowd that sends these blocks all the time.
        public init(of blocks: @escaping @Sendable () -> (bytes: [UInt8], count: Int)) {
            self.init(addresses: nil, alone: .zero, stays: true)
            self.blocks = blocks
        }
    }

    private struct State: Sendable {
        /// Number of the crowd's reports that were written, and the time this took.
        var crowd: (reports: Int, time: Duration) = (0, .zero)
        var scanBegan: ContinuousClock.Instant?
        /// Time at which the periodic reports started.
        var chatterBegan: ContinuousClock.Instant?
        /// Time of the last connection.
        var connected: ContinuousClock.Instant?
        var firmware: ScriptedFirmware
        var events: [Event] = []
        /// Bytes to be written, with the time at which they are due.
        var waiting: [(time: ContinuousClock.Instant, bytes: [UInt8])] = []
        var isEnding = false
        /// True once the periodic reports have stopped.
        var isQuiet = false
    }

    private enum Failure: Error { case noSocket(Int32) }

    /// Argument for `--adapter`.
    public let adapter: String
    private let path: String
    private let listener: Int32
    private let state: Mutex<State>
    /// Woken by the line's thread at each change of the state.
    private let news: Waker
    /// Reports that the firmware repeats while it scans, and the interval between them.
    private let chatter: (bytes: [UInt8], pause: Duration)?
    private let crowd: Crowd?

    /// Creates a line at a path; the firmware keeps its state when one host closes the line and another opens it.
    public init(
        at path: String,
        _ firmware: ScriptedFirmware,
        chatter: (bytes: [UInt8], pause: Duration)? = nil,
        crowd: Crowd? = nil
    ) throws {
        self.crowd = crowd
        self.path = path
        self.chatter = chatter
        adapter = "h4:unix:\(path)"
        state = Mutex(State(firmware: firmware))
        news = try Waker()
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = listener
        let isBound = withUnsafeBytes(of: &name) { bytes in
            let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return bind(listener, address, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
        guard listener >= 0, isBound, listen(listener, 4) == 0 else { throw Failure.noSocket(errno) }
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<FirmwareLine>.fromOpaque(context).takeRetainedValue().serve()
                return nil
            },
            Unmanaged.passRetained(self).toOpaque()
        )
        pthread_detach(thread)
    }

    /// Stops the thread and closes the line.
    public func end() { state.withLock { $0.isEnding = true } }

    /// Stops the periodic reports; the crowd continues.
    public func endChatter() { state.withLock { $0.isQuiet = true } }

    /// Current state of the firmware.
    public var firmware: ScriptedFirmware { state.withLock { $0.firmware } }
    /// All events until now.
    public var events: [Event] { state.withLock { $0.events } }

    /// Changes the firmware's script.
    public func change(_ body: (inout ScriptedFirmware) -> Void) { state.withLock { body(&$0.firmware) } }

    /// Number of the crowd's reports until now, and the time this took.
    public var crowdReports: (reports: Int, time: Duration) { state.withLock { $0.crowd } }
    /// Returns the crowd's reports per second since an earlier value of `crowdReports`, or since the beginning.
    public func crowdRate(since earlier: (reports: Int, time: Duration) = (0, .zero)) -> Double {
        let now = crowdReports
        let seconds: Double = (now.time - earlier.time) / .seconds(1)
        return Double(now.reports - earlier.reports) / seconds
    }
    /// Time from the first periodic report to the connection.
    public var timeToConnection: Duration? {
        state.withLock { state in
            guard let began = state.chatterBegan, let connected = state.connected else { return nil }
            return connected - began
        }
    }

    /// Waits for a condition, by default for up to two minutes; returns true if it was met.
    public func waits(
        within time: Duration = .seconds(120),
        for condition: (ScriptedFirmware, [Event]) -> Bool
    ) -> Bool {
        waits(within: time) { condition($0.firmware, $0.events) }
    }

    /// Waits up to two minutes until the crowd has sent `count` reports; returns true if it has.
    public func waits(forReports count: Int) -> Bool { waits(within: .seconds(120)) { $0.crowd.reports >= count } }

    /// Waits for a change made by the line's thread; only one thread at a time may wait.
    private func waits(within time: Duration, for condition: (State) -> Bool) -> Bool {
        let (seconds, attoseconds) = time.components
        let end = MonotonicClock.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        while !state.withLock({ condition($0) }) {
            guard MonotonicClock.nanoseconds < end else { return false }
            news.wait(until: end)
        }
        return true
    }

    /// Changes the state on the line's thread, and wakes the waiting thread.
    private func note(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        news.wake()
    }

    // MARK: The thread

    private func serve() {
        defer {
            close(listener)
            unlink(path)
        }
        while !state.withLock({ $0.isEnding }) {
            guard isReady(listener, within: 10) else { continue }
            let line = accept(listener, nil, nil)
            guard line >= 0 else { continue }
            note { state in
                state.events.append(.opened)
                state.waiting = []
            }
            let greeting = firmware.greeting
            if greeting.isEmpty || say(greeting, on: line) { serve(line) }
            close(line)
            note { $0.events.append(.closed) }
        }
    }

    private func serve(_ line: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var nextChatter = ContinuousClock.now
        var people = CrowdReports(crowd?.addresses)
        while !state.withLock({ $0.isEnding }) {
            if isReady(line, within: crowd == nil ? 1 : 0) {
                let count = read(line, &buffer, buffer.count)
                guard count > 0 else { return }
                let bytes = Array(buffer.prefix(count))
                note { state in
                    state.events.append(.received(count))
                    for output in state.firmware.receive(bytes) {
                        state.waiting.append((ContinuousClock.now + output.delay, output.bytes))
                    }
                }
            }
            let now = ContinuousClock.now
            let due = state.withLock { state in
                let due = state.waiting.filter { $0.time <= now }.map(\.bytes)
                state.waiting.removeAll { $0.time <= now }
                return due
            }
            for bytes in due {
                guard say(bytes, on: line) else { return }
                if bytes.starts(with: [0x04, 0x3E, 0x13, 0x01, 0]) { state.withLock { $0.connected = .now } }
            }
            let scanned: Duration? = state.withLock { state in
                guard state.firmware.isScanning, !state.firmware.isDead else { return nil }
                let began = state.scanBegan ?? now
                state.scanBegan = began
                return now - began
            }
            guard let scanned else { continue }
            let isAlone = crowd.map { scanned < $0.lead } ?? false
            if let crowd, isAlone || crowd.stays {
                let block = crowd.blocks?() ?? people.next()
                guard say(block.bytes, on: line) else { return }
                let time = ContinuousClock.now - now
                note { $0.crowd = ($0.crowd.reports + block.count, $0.crowd.time + time) }
            }
            if let chatter, !isAlone, now >= nextChatter, !state.withLock({ $0.isQuiet }) {
                nextChatter = now + chatter.pause
                state.withLock { if $0.chatterBegan == nil { $0.chatterBegan = .now } }
                guard say(chatter.bytes, on: line) else { return }
            }
        }
    }

    private func isReady(_ number: Int32, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private func say(_ bytes: [UInt8], on line: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(line, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        // Large and frequent output is not recorded.
        if crowd == nil, bytes.count < 1024 { note { $0.events.append(.said(bytes)) } }
        return true
    }
}
