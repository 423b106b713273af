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

@Suite("Several devices and several outputs", .virtualTime, .serialized, .timeLimit(.minutes(5)))
struct DeviceSessionTests {
    /// Output with a keyboard, the text on its screen, and its own pace.
    private final class Output {
        let keyboard: VirtualKeyboard
        private let screen: TextKeyboard
        private(set) var text = ""

        init(stall: Int64, on loop: EventLoop) throws {
            screen = try TextKeyboard(layout: .us)
            let typing = TypingSettings(
                table: try CompiledTable(ByteTable(.linble), layout: .us),
                pacer: Pacer(try Pace(stall: stall, queue: .small)),
                maximumAge: nil,
                capsLock: .ignore,
                verifies: false
            )
            keyboard = try VirtualKeyboard(typing, on: loop, screen: screen) { _ in }
        }

        func look() { text += screen.screen.takeText() }
    }

    /// Devices that advertise all the time, with one session each, on one radio.
    private final class Bench {
        let outputs: [Output]
        private(set) var sessions: [DeviceSession] = []
        private(set) var channels: [DeviceAddress: FieldChannel] = [:]
        private let loop: EventLoop
        private let radio = QuietRadio()
        private let core: AdapterCore
        private let addresses: [DeviceAddress]

        /// Creates devices with outputs; `plan` contains the numbers of the outputs for each device.
        init(_ plan: [[Int]]) throws {
            loop = try EventLoop()
            let loop = loop
            // The first output types without pauses, and the others are paced.
            outputs = try (0...(plan.joined().max() ?? 0)).map { try Output(stall: Int64($0) * 1_000_000, on: loop) }
            core = AdapterCore(loop, using: radio)
            addresses = plan.indices.map {
                DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F0 + UInt64($0)), .random)
            }
            for (address, numbers) in zip(addresses, plan) {
                let settings = KeyboardSettings(
                    adapter: .any,
                    device: .kept(SelectedDevice(address, name: nil)),
                    profiles: [.linble],
                    typing: TypingSettings(
                        table: try CompiledTable(ByteTable(.linble), layout: .us),
                        pacer: Pacer(try Pace(stall: 0, queue: .small)),
                        maximumAge: nil,
                        capsLock: .ignore,
                        verifies: false
                    )
                )
                sessions.append(
                    DeviceSession(settings, typingOn: numbers.map { outputs[$0].keyboard }, on: core.radio)
                )
            }
            core.onEvent = { [unowned self] event in
                if case .ready = event { for session in sessions { session.adapterReady() } }
            }
            radio.onConnect = { [unowned self] address, completion in
                let channel = FieldChannel(address, .init(.linble), on: loop) { _ in nil }
                channels[address] = channel
                _ = loop.schedule(at: .zero) { completion(.success(channel)) }
            }
            core.start()
            advertise()
        }

        private func advertise() {
            for address in addresses { radio.advertise(address.address, [0x02, 0x01, 0x06]) }
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(50)) { [weak self] in self?.advertise() }
        }

        func run(until isDone: () -> Bool) throws -> Bool {
            try loop.run {
                for output in outputs { output.look() }
                return isDone()
            }
        }

        func connect() throws {
            #expect(try run { sessions.allSatisfy { $0.state == .connected } }, "\(sessions.map(\.state))")
        }

        func tell(_ device: Int, _ text: String) { channels[addresses[device]]?.tell(text) }

        func hangUp(_ device: Int) { channels[addresses[device]]?.end(.system(.connectionReset)) }

        /// Waits until no output has data to type.
        func settle(_ expected: [Int]) throws -> Bool {
            try run {
                zip(outputs, expected).allSatisfy { $0.keyboard.bytes.received >= $1 && $0.keyboard.bytes.waiting == 0 }
            }
        }

        func end() throws {
            core.stop()
            for session in sessions { session.beginStop() }
            var open = sessions.count + outputs.count
            for session in sessions { session.stop { open -= 1 } }
            for output in outputs { output.keyboard.stop { open -= 1 } }
            #expect(try run { open == 0 })
            core.release {}
        }
    }

    /// Returns the errors in the accounts of two devices that alternately send `barcodes` barcodes to their own
    /// outputs.
    private static func faults(_ bench: Bench, _ outputs: [Int], barcodes: Int) throws -> [String] {
        try bench.connect()
        for number in 0..<barcodes {
            for device in [0, 1] { bench.tell(device, "D\(device)N\(number)\r") }
        }
        let texts = [0, 1].map { device in (0..<barcodes).map { "D\(device)N\($0)\n" }.joined() }
        _ = try bench.settle(texts.map(\.utf8.count))
        var faults: [String] = []
        for (device, text) in texts.enumerated() {
            let values = bench.sessions[device].values
            if values.notifications != barcodes || values.stray != 0 { faults.append("values of \(device): \(values)") }
            let output = bench.outputs[outputs[device]]
            if output.text != text { faults.append("text of \(device): \(output.text)") }
            let bytes = output.keyboard.bytes
            if bytes.received != text.utf8.count || bytes.typed != text.utf8.count || bytes.lost != 0 {
                faults.append("account of \(device): \(bytes)")
            }
        }
        return faults
    }

    @Test("Two devices type on an output each, with exact accounts; a shared one is noticed", arguments: [3, 40])
    func twoAndTwo(barcodes: Int) throws {
        let apart = try Bench([[0], [1]])
        #expect(try Self.faults(apart, [0, 1], barcodes: barcodes) == [])
        try apart.end()
        let shared = try Bench([[0], [0]])
        #expect(try Self.faults(shared, [0, 0], barcodes: barcodes).count == 4)
        try shared.end()
    }

    @Test("One device types on two outputs; what the gate of one refuses, the other types")
    func oneAndTwo() throws {
        let bench = try Bench([[0, 1]])
        try bench.connect()
        bench.tell(0, "A\r")
        #expect(try bench.settle([2, 2]))
        bench.outputs[1].keyboard.isGateOpen = false
        bench.tell(0, "B\r")
        #expect(try bench.settle([4, 4]))
        #expect(bench.outputs.map(\.text) == ["A\nB\n", "A\n"])
        let accounts = bench.outputs.map(\.keyboard.bytes)
        #expect(accounts.map(\.typed) == [4, 2] && accounts.map(\.gated) == [0, 2])
        #expect(bench.sessions[0].values.notifications == 2)
        try bench.end()
    }

    @Test("A device that hangs up, is disconnected or forgotten leaves the other's link, queue and account alone")
    func oneGoes() throws {
        let bench = try Bench([[0], [1]])
        try bench.connect()
        // The second output is paced, so this text is still queued when the first device disconnects.
        bench.tell(1, "WAITING\r")
        bench.hangUp(0)
        #expect(bench.sessions.map(\.state) == [.lost, .connected])
        bench.tell(1, "MORE\r")
        #expect(try bench.settle([0, 13]))
        #expect(bench.outputs[1].text == "WAITING\nMORE\n" && bench.outputs[1].keyboard.bytes.typed == 13)
        try bench.connect()
        bench.sessions[0].disconnect()
        bench.tell(1, "AGAIN\r")
        #expect(try bench.settle([0, 19]))
        bench.sessions[0].choose(nil)
        #expect(bench.sessions.map(\.state) == [.unselected, .connected])
        #expect(bench.outputs.map(\.keyboard.bytes.typed) == [0, 19])
        #expect(bench.sessions.map(\.linkCounts.ready) == [2, 1])
        try bench.end()
    }
}
