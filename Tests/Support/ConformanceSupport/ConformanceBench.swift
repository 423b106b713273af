// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
import BluetoothPackets
package import LinuxIO
package import TestSupport

/// Two adapters in radio range: the adapter under test, and the lower tester's adapter with raw PDU channels.
package final class ConformanceBench {
    /// Expected condition that did not occur in time.
    package enum Failure: Error {
        case adapter(AdapterError)
        case connection(LinkFailure)
        case late(String)
    }

    /// Time-outs of the testers.
    package struct Pace {
        /// Maximum time to wait for an expected event.
        package var patience: Duration
        /// Time after which no further event is expected.
        package var silence: Duration

        package init(patience: Duration, silence: Duration) {
            self.patience = patience
            self.silence = silence
        }
    }

    package let loop: EventLoop
    let subject: any LowEnergyAdapter
    let tester: any LowEnergyAdapter
    let pace: Pace
    private var isAdvertising = false
    private var arrived: [any ATTChannel] = []
    private var awaited: (() -> Bool)?

    /// Creates a bench with the adapter under test and the tester's adapter.
    package init(_ subject: any LowEnergyAdapter, tester: any LowEnergyAdapter, on loop: EventLoop, pace: Pace) {
        self.subject = subject
        self.tester = tester
        self.loop = loop
        self.pace = pace
    }

    /// Plays the script with a client under test, and returns the deviations from the script.
    package func playClient(_ script: ConformanceScript) throws -> [String] {
        var link = try ClientOverRadio(self)
        defer { link.close() }
        return try script.run(&link)
    }

    /// Plays the script with a server under test, and returns the deviations from the script.
    package func playServer(_ script: ConformanceScript) throws -> [String] {
        var link = try ServerOverRadio(script.database, self)
        defer { link.close() }
        return try script.run(&link)
    }

    /// Closes both adapters.
    package func close() {
        subject.close()
        tester.close()
    }

    /// Opens an adapter, and waits until it is usable.
    package static func open(
        on loop: EventLoop,
        _ open: (@escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void
    ) throws -> any LowEnergyAdapter {
        var outcome: Result<any LowEnergyAdapter, AdapterError>?
        try open { result in
            outcome = result
            loop.stop()
        }
        while outcome == nil { try loop.run() }
        guard let outcome else { throw Failure.late("the adapter") }
        return try outcome.get()
    }

    // MARK: For the links

    /// Stops the loop, because an awaited condition may have become true.
    func noteProgress() {
        if let awaited, awaited() { loop.stop() }
    }

    /// Runs the loop until the condition holds or the time is over; returns true if it holds.
    @discardableResult
    func until(_ time: Duration, _ condition: @escaping () -> Bool) throws -> Bool {
        if condition() { return true }
        awaited = condition
        defer { awaited = nil }
        let timer = loop.schedule(at: MonotonicClock.now + time) { [loop] in loop.stop() }
        try loop.run()
        loop.cancel(timer)
        return condition()
    }

    /// Connects an adapter to an advertising one, and returns the central's channel.
    func connect(_ central: any LowEnergyAdapter, to peripheral: any LowEnergyAdapter) throws -> any ATTChannel {
        var outcome: Result<any ATTChannel, LinkFailure>?
        let attempt = try central.connect(to: Self.address(of: peripheral), timeout: pace.patience) {
            [weak self] result in
            outcome = result
            self?.noteProgress()
        }
        guard try until(pace.patience * 2, { outcome != nil }), let outcome else {
            attempt.cancel()
            throw Failure.late("a connection")
        }
        return try outcome.get()
    }

    /// Connects the adapter under test to the tester, and returns both channels.
    func connectToTester() throws -> (subject: any ATTChannel, tester: any ATTChannel) {
        if !isAdvertising {
            isAdvertising = true
            try advertise { completion in
                tester.advertise(
                    Advertisement(data: [], interval: .milliseconds(20)),
                    onConnection: { [weak self] channel in
                        self?.arrived.append(channel)
                        self?.noteProgress()
                    },
                    completion: completion
                )
            }
        }
        arrived = []
        let channel = try connect(subject, to: tester)
        guard try until(pace.patience, { !self.arrived.isEmpty }), let other = arrived.first else {
            throw Failure.late("the tester's end of the connection")
        }
        return (channel, other)
    }

    /// Starts advertising, and waits until it is active.
    func advertise(_ begin: (@escaping (Result<Void, AdapterError>) -> Void) throws -> Void) throws {
        var outcome: Result<Void, AdapterError>?
        try begin { [weak self] result in
            outcome = result
            self?.noteProgress()
        }
        guard try until(pace.patience, { outcome != nil }), let outcome else { throw Failure.late("advertising") }
        try outcome.get()
    }

    /// Disconnects the two adapters if they are connected, and waits until both have noticed it.
    func disconnect(_ central: any LowEnergyAdapter, from device: DeviceAddress, _ isOver: @escaping () -> Bool) {
        var isDone = false
        central.disconnect(device) { [weak self] in
            isDone = true
            self?.noteProgress()
        }
        _ = try? until(pace.patience) { isDone && isOver() }
    }

    static func address(of adapter: any LowEnergyAdapter) -> DeviceAddress {
        (adapter as? HostAdapter)?.deviceAddress ?? DeviceAddress(adapter.address, .public)
    }
}

/// Lower tester's end of a connection.
final class TesterChannel {
    private let channel: any ATTChannel
    private var pdus: [[UInt8]] = []
    private let bench: ConformanceBench
    private(set) var isOpen = true

    init(_ channel: any ATTChannel, _ bench: ConformanceBench) {
        self.channel = channel
        self.bench = bench
        channel.onReceive = { [weak self] pdu in
            self?.pdus.append([UInt8](copying: pdu))
            bench.noteProgress()
        }
        channel.onClosed = { [weak self] _ in
            self?.isOpen = false
            bench.noteProgress()
        }
    }

    /// Sends a PDU, or discards it if the other side has disconnected.
    func send(_ pdu: [UInt8]) throws {
        guard isOpen else { return }
        guard try channel.send(pdu) else { throw ConformanceBench.Failure.late("room for a PDU") }
    }

    func nextPDU(isExpected: Bool) throws -> [UInt8]? {
        if isExpected { try bench.until(bench.pace.patience) { !self.pdus.isEmpty } }
        return pdus.isEmpty ? nil : pdus.removeFirst()
    }

    func close() { channel.close() }
}
