// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import HIDReports
import LinuxIO
import TestSupport
import Testing
import VirtualAdapters

@testable import Rehearsal

/// Simulated keyboard scanner and a central with this program's host, on simulated controllers.
final class KeyboardBench {
    /// Outcome of a procedure of the central.
    enum Answer: Equatable {
        case value([UInt8])
        case done
        case refused(ATTError)
        case lost
    }

    static let period = Duration.seconds(4)
    /// Address of the keyboard, as in the program's simulated devices.
    static let device = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE01_0004), .public)

    let loop: EventLoop
    let keyboard: HIDKeyboardDevice
    /// Central's adapter.
    let adapter: HostAdapter
    private let radio: MemoryRadio
    private var attempt: (any ConnectionAttempt)?
    private(set) var link: ATTLink?
    /// Reports received since the last connection, without their ids, and the handle of the last one.
    private(set) var reports: [[UInt8]] = []
    private(set) var reportHandle: AttributeHandle?
    private var isLost = false

    init(faults: Set<KeyboardFault> = [], line: @escaping (Int) -> String = { "line \($0)\r" }) throws {
        loop = try EventLoop()
        let radio = MemoryRadio(on: loop)
        self.radio = radio
        let transports = [BluetoothAddress(rawValue: 0xC0FF_EE00_0002), Self.device.address].map(radio.addController)
        adapter = HostAdapter(name: "central", transport: transports[0], on: loop)
        let core = AdapterCore(loop, starting: HostAdapter(name: "keyboard", transport: transports[1], on: loop))
        keyboard = HIDKeyboardDevice(name: "HID Scanner", every: Self.period, faults: faults, on: core, line: line)
        keyboard.start()
        var outcome: Result<Void, AdapterError>?
        adapter.start { outcome = $0 }
        try run { outcome != nil && keyboard.keyboard != nil }
        try outcome?.get()
    }

    deinit {
        adapter.close()
        keyboard.core.adapter?.close()
    }

    func run(until isDone: () -> Bool) throws {
        try #require(try loop.run(until: isDone), "\(reports.count) reports")
    }

    /// Waits for a time of the virtual clock.
    func wait(_ time: Duration) throws {
        let end = MonotonicClock.now + time
        try run { MonotonicClock.now >= end }
    }

    /// Pairs as `blewedge pair` does, and disconnects.
    func pair() throws -> Result<Bond, ManagedPairing.Failure> {
        let wish = PairingOptions(Self.device, .noInputNoOutput, required: .encrypted, limit: .seconds(60))
        let pairing = adapter.makePairing(wish)
        var result: Result<Bond, ManagedPairing.Failure>?
        pairing.onNews = { news in if case .ended(let ended) = news { result = ended } }
        pairing.begin()
        try run { result != nil }
        var isClosed = false
        pairing.close(forgetting: false) { isClosed = true }
        try run { isClosed && keyboard.core.adapter?.isConnected == false }
        return try #require(result)
    }

    /// Connects, and receives reports from the beginning.
    func connect() throws {
        var result: Result<any ATTChannel, LinkFailure>?
        attempt = try adapter.connect(to: Self.device, timeout: .seconds(30)) { result = $0 }
        try run { result != nil }
        let link = ATTLink(try #require(result).get(), on: loop)
        self.link = link
        reports = []
        isLost = false
        link.onValue = { [unowned self] value, bytes in
            reportHandle = value.handle
            reports.append(bytes.withUnsafeBufferPointer { Array($0) })
        }
        link.onEvent = { [unowned self] event in if case .closed = event { isLost = true } }
    }

    /// Encrypts the link; returns false if the keyboard lacks the key.
    func secure() throws -> Bool {
        var result: Result<Void, LinkFailure>?
        link?.secure(.encrypted) { result = $0 }
        try run { result != nil || isLost }
        guard case .success? = result else { return false }
        return true
    }

    func disconnect() throws {
        link?.close()
        link = nil
        try run { keyboard.core.adapter?.isConnected == false && !adapter.isConnected }
    }

    /// Carries out a procedure of the client.
    func ask(_ body: (inout GATTClient, Duration) throws(GATTError) -> GATTClient.ProcedureID) throws -> Answer {
        var answer: Answer?
        let link = try #require(link)
        link.onEvent = { event in
            switch event {
            case .procedure(let event):
                switch event.result {
                case .success(.value(let value)): answer = .value(value)
                case .success: answer = .done
                case .failure(.errorResponse(_, _, let error)): answer = .refused(error)
                case .failure: answer = .lost
                }
            case .closed: answer = .lost
            }
        }
        _ = try link.perform { client, now throws(GATTError) in try body(&client, now) }
        try run { answer != nil }
        return try #require(answer)
    }

    func read(_ handle: AttributeHandle) throws -> Answer {
        try ask { client, now throws(GATTError) in try client.readLong(handle, now: now) }
    }

    func write(_ value: [UInt8], to handle: AttributeHandle) throws -> Answer {
        try ask { client, now throws(GATTError) in try client.write(value, to: handle, now: now) }
    }

    /// Writes the Client Characteristic Configuration of the input report.
    func subscribe() throws -> Answer { try write([0x01, 0x00], to: Handles.inputConfiguration) }

    /// Text of the received reports, decoded with the keyboard's own map.
    func text(_ map: [UInt8] = HIDKeyboardServices.reportMap, repeatsOnShiftChange: Bool = false) throws -> String {
        var settings = KeyDecoder.Settings()
        settings.repeatsOnShiftChange = repeatsOnShiftChange
        var decoder = KeyDecoder(settings)
        var reader = ReportReader(try ReportMap(map))
        var text: [UInt8] = []
        for report in reports {
            _ = decoder.decode(reader.read(report.span, id: HIDKeyboardServices.reportID), into: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Handles of the keyboard's values and descriptors, according to the layout of its database.
    enum Handles {
        static let protocolMode = AttributeHandle(rawValue: 0x0009)
        static let input = AttributeHandle(rawValue: 0x000B)
        static let inputConfiguration = AttributeHandle(rawValue: 0x000C)
        static let inputReference = AttributeHandle(rawValue: 0x000D)
        static let output = AttributeHandle(rawValue: 0x000F)
        static let outputReference = AttributeHandle(rawValue: 0x0010)
        static let map = AttributeHandle(rawValue: 0x0012)
        static let information = AttributeHandle(rawValue: 0x0014)
        static let pnpID = AttributeHandle(rawValue: 0x0019)
        static let batteryLevel = AttributeHandle(rawValue: 0x001C)
        /// Attributes of the three services that can be read, except the configuration.
        static let readable = [
            protocolMode, input, inputReference, output, outputReference, map, information, pnpID, batteryLevel,
        ]
    }
}
