// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

/// Connection with a serial device that has the attributes of `ScriptedDevice`, and responds differently if `habit`
/// says so.
final class FieldChannel: ATTChannel {
    /// Behavior of the device instead of responding.
    enum Habit { case isSilent, isSlow(Duration), hangsUp }

    let device: DeviceAddress
    let droppedPackets: UInt32 = 0
    var onReceive: ((Span<UInt8>) -> Void)?
    var onGap: (() -> Void)?
    var onWritable: (() -> Void)?
    var onClosed: ((LinkFailure) -> Void)?
    var timing: ConnectionTiming?
    var onTiming: ((ConnectionTiming) -> Void)?
    /// PDUs sent to the device.
    private(set) var sent: [[UInt8]] = []
    private let script: ScriptedDevice
    private let habit: ([UInt8]) -> Habit?
    private let loop: EventLoop

    init(
        _ device: DeviceAddress,
        _ service: ScriptedDevice.Service,
        on loop: EventLoop,
        habit: @escaping ([UInt8]) -> Habit?
    ) {
        self.device = device
        self.loop = loop
        self.habit = habit
        script = ScriptedDevice([service], LinkSetup(profile: .linble))
    }

    func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        sent.append(pdu)
        let habit = habit(pdu)
        if case .isSilent = habit { return true }
        let delay: Duration = if case .isSlow(let time) = habit { time } else { .zero }
        _ = loop.schedule(at: MonotonicClock.now + delay) { [self] in
            if case .hangsUp = habit { return end(.system(.connectionReset)) }
            for answer in script.answers(to: pdu) { onReceive?(answer.span) }
        }
        return true
    }

    func close() {
        onReceive = nil
        onTiming = nil
        onClosed = nil
    }

    /// Ends the connection.
    func end(_ failure: LinkFailure) {
        let handler = onClosed
        close()
        handler?(failure)
    }

    /// Sends a value of the serial service's characteristic, as a notification or with another opcode.
    func tell(_ value: [UInt8], opcode: UInt8 = 0x1B) { onReceive?(([opcode, 0x14, 0x00] + value).span) }

    func tell(_ text: String) { tell(Array(text.utf8)) }
}

/// Wedge with one device that advertises all the time, and a screen that shows the typed text.
final class FieldBench {
    private static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private let loop: EventLoop
    private let radio = QuietRadio()
    private let keyboard: TextKeyboard
    let service: KeyboardService
    /// All connections until now.
    private(set) var channels: [FieldChannel] = []
    /// All states until now, with their reasons in English.
    private(set) var states: [(state: Session.State, reason: String?)] = []
    private(set) var typed = ""

    init(
        _ scripted: ScriptedDevice.Service = .init(.linble),
        barcodes: BarcodeRules? = nil,
        timing: ConnectionTiming? = nil,
        habit: @escaping ([UInt8]) -> FieldChannel.Habit? = { _ in nil }
    ) throws {
        loop = try EventLoop()
        keyboard = try TextKeyboard(layout: .us)
        var typing = TypingSettings(
            table: try CompiledTable(ByteTable(.linble), layout: .us),
            pacer: Pacer(try Pace(stall: 0, queue: .large)),
            maximumAge: nil,
            capsLock: .ignore,
            verifies: false
        )
        typing.barcodes = barcodes
        let settings = KeyboardSettings(
            adapter: .any,
            device: .kept(SelectedDevice(Self.peer, name: nil)),
            profiles: [.linble],
            typing: typing
        )
        var note: ((KeyboardService.Event) -> Void)?
        service = try KeyboardService(settings, through: AdapterCore(loop, using: radio), screen: keyboard) {
            note?($0)
        }
        note = { [unowned self] event in
            if case .state(let state, _, let reason) = event { states.append((state, reason?.cause.english)) }
        }
        radio.onConnect = { [unowned self] address, completion in
            let channel = FieldChannel(address, scripted, on: loop, habit: habit)
            channel.timing = timing
            channels.append(channel)
            _ = loop.schedule(at: .zero) { completion(.success(channel)) }
        }
        service.start { _ in }
        advertise()
    }

    private func advertise() {
        radio.advertise(Self.peer.address, [0x02, 0x01, 0x06])
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { [weak self] in self?.advertise() }
    }

    /// Runs until a condition is met or the time is over; returns true if it is met.
    func run(_ limit: Duration = .seconds(60), until isDone: () -> Bool) throws -> Bool {
        try loop.run(within: limit, turn: .milliseconds(10)) {
            typed += keyboard.screen.takeText()
            return isDone()
        }
    }

    /// Runs for this time.
    func pass(_ time: Duration) throws { _ = try run(time) { false } }

    /// Returns the connection once text from the device is typed.
    func connected() throws -> FieldChannel {
        #expect(try run { service.device.state == .connected }, "\(states)")
        return try #require(channels.last)
    }

    /// Stops the wedge.
    func end() throws {
        var isOver = false
        service.stop { isOver = true }
        #expect(try run { isOver })
    }

    /// Returns a member of the counts in `status`.
    func count(_ name: String) -> Int64? {
        (try? JSONValue(Array(service.counts.object.text.utf8)))?[name]?.integer
    }
}
