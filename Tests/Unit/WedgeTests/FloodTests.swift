// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Glibc
import Keystrokes
import Link
import LinuxIO
import TestSupport
import Testing
import Texts
import Typing

/// Path from the device's channel to the keyboard, with devices that send more than can be typed.
@Suite("A device that floods", .virtualTime, .serialized, .timeLimit(.minutes(10)))
struct FloodTests {
    private typealias Device = ScriptedChannel

    private final class Stage {
        static let address = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)
        let loop: EventLoop
        let radio = QuietRadio()
        let keyboard: TextKeyboard
        let service: KeyboardService
        var devices: [Device] = []
        var states: [(state: Session.State, reason: String?, time: Duration)] = []
        var typed = ""
        private var links = 0
        private var beacon: EventLoop.Timer?

        /// Creates a stage; `stall` is the pace in milliseconds, and 0 types without pauses.
        init(stall: Int64, isPatient: Bool = false, on loop: EventLoop) throws {
            self.loop = loop
            keyboard = try TextKeyboard(layout: .us)
            let typing = TypingSettings(
                table: try CompiledTable(ByteTable(.linble), layout: .us),
                pacer: Pacer(try Pace(stall: stall * 1_000_000, queue: .small)),
                maximumAge: nil,
                capsLock: .ignore,
                verifies: false
            )
            let settings = KeyboardSettings(
                adapter: .any,
                device: .address(Self.address),
                profiles: [.linble],
                typing: typing
            )
            var note: ((KeyboardService.Event) -> Void)?
            service = try KeyboardService(settings, through: AdapterCore(loop, using: radio), screen: keyboard) {
                note?($0)
            }
            service.keyboard.isPatient = isPatient
            note = { [unowned self] event in
                guard case .state(let state, _, let reason) = event else { return }
                states.append((state, reason?.cause.english, MonotonicClock.now))
            }
            radio.onConnect = { [unowned self] address, completion in
                let device = Device(address, loop)
                devices.append(device)
                _ = loop.schedule(at: .zero) { completion(.success(device)) }
            }
            service.start { _ in }
            advertise()
        }

        /// Advertises all the time, even while connected, as a flooding device may do.
        private func advertise() {
            radio.advertise(Self.address, [0x02, 0x01, 0x06])
            beacon = loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { [weak self] in self?.advertise() }
        }

        func run(until isDone: () -> Bool) throws {
            let isOver = try loop.run {
                typed += keyboard.screen.takeText()
                return isDone()
            }
            try #require(isOver, "\(service.counts.bytes), \(states)")
        }

        /// Runs at least one turn of the loop.
        func turn() throws {
            var turns = 0
            try run {
                turns += 1
                return turns > 2
            }
        }

        func connect() throws -> Device {
            links += 1
            try run { devices.count >= links && service.device.state == .connected }
            return try #require(devices.last)
        }

        func end() throws -> Ledger.Snapshot {
            if let beacon { loop.cancel(beacon) }
            var isOver = false
            service.stop { isOver = true }
            try run { isOver }
            return service.counts.bytes
        }
    }

    private static func barcode(_ number: Int) -> [UInt8] {
        let digits = String(number)
        return Array((String(repeating: "0", count: 13 - digits.count) + digits).utf8) + [0x0D]
    }

    @Test("A link that loses 256 KiB to its device's flood is ended, said, counted, and made again later")
    func flood() throws {
        let stage = try Stage(stall: 100, on: try EventLoop())
        let device = try stage.connect()
        // An inventory reader may send as much as the ring holds and 15,000 more barcodes without losing its link.
        for number in 0..<18_000 { device.notify(Self.barcode(number)) }
        try stage.turn()
        let lost = stage.service.counts.bytes.lost(.ringFull)
        #expect(lost > 200_000 && stage.service.device.state == .connected && !device.isClosed)
        var sent = 64 * 14
        while stage.service.counts.bytes.lost(.ringFull) <= 1 << 18 {
            device.notify(Self.barcode(0))
            sent += 14
        }
        // Packets that are read in the same turn are still handled and counted.
        for _ in 0..<64 { device.notify(Self.barcode(0)) }
        try stage.run { stage.service.device.state != .connected }
        #expect(device.isClosed)
        let last = try #require(stage.states.last)
        #expect(last.state == .failed)
        #expect(last.reason == "the device sends faster than text can be typed: 262150 bytes did not fit in the buffer")
        #expect((262_150...262_150 + 64 * 14).contains(stage.service.counts.bytes.lost(.ringFull)))
        #expect(
            stage.service.device.linkCounts.ended(.flooded) == 1
                && stage.service.device.linkCounts.ended(.endedHere) == 0
        )
        _ = try stage.connect()
        #expect(MonotonicClock.now - last.time >= .seconds(3))
        let account = try stage.end()
        #expect(account.received == account.typed + account.lost && account.received == 18_000 * 14 + UInt64(sent))
        #expect(stage.service.device.linkCounts.ready == 2 && stage.service.device.linkCounts.ended(.endedHere) == 1)
    }

    @Test("An end that waits for its readers fills the ring itself: no link is ended for that")
    func patientEnd() throws {
        let stage = try Stage(stall: 100, isPatient: true, on: try EventLoop())
        let device = try stage.connect()
        for number in 0..<40_000 { device.notify(Self.barcode(number)) }
        try stage.turn()
        #expect(stage.service.counts.bytes.lost(.ringFull) > 1 << 18)
        #expect(stage.service.device.state == .connected && !device.isClosed)
        _ = try stage.end()
    }

    @Test("1,000,000 notifications: the memory is bounded, and what was received is typed or lost, to the byte")
    func million() throws {
        let count = RunCount.from("BLEWEDGE_NOTIFICATIONS", usual: RunCount.isOptimized ? 1_000_000 : 100_000)
        let stage = try Stage(stall: 0, on: try EventLoop())
        let device = try stage.connect()
        var numbers = (lines: 0, last: -1, isOrdered: true)
        func take() {
            guard let end = stage.typed.utf8.lastIndex(of: 0x0A) else { return }
            for line in stage.typed.utf8[..<end].split(separator: 0x0A) {
                let number = Int(Substring(line)) ?? -1
                numbers = (numbers.lines + 1, number, numbers.isOrdered && line.count == 13 && number > numbers.last)
            }
            stage.typed.removeSubrange(...end)
        }
        let memory = try Self.residentKiB()
        var waiting: UInt64 = 0
        var number = 0
        // At first, the device sends more than is typed, independently of the scheduling of the two threads.
        stage.keyboard.screen.whileNothingIsWritten {
            while number < count, stage.service.counts.bytes.lost(.ringFull) < 200_000 {
                device.notify(Self.barcode(number))
                number += 1
            }
            waiting = stage.service.counts.bytes.waiting
        }
        // Then it sends as much as is typed, like a device that waits for its radio.
        while number < count {
            device.notify(Self.barcode(number))
            number += 1
            guard number % 512 == 0 else { continue }
            waiting = max(waiting, stage.service.counts.bytes.waiting)
            try stage.run { stage.service.counts.bytes.waiting < 1 << 14 }
            take()
        }
        try stage.run { stage.service.counts.bytes.waiting == 0 }
        // Reads the text typed since the last check.
        try stage.turn()
        take()
        let growth = try Self.residentKiB() - memory
        let account = stage.service.counts.bytes
        print(
            "\(count) notifications: \(account.received) received, \(account.typed) typed,",
            "\(account.lost(.ringFull)) lost to the ring; at most \(waiting) waiting;",
            "the process grew by \(growth) KiB from \(memory) KiB, other tests' share included"
        )
        #expect(stage.service.device.state == .connected && stage.devices.count == 1)
        #expect(account.received == UInt64(count * 14))
        #expect(account.typed == UInt64(numbers.lines * 14) && account.lost == account.lost(.ringFull))
        #expect(account.received == account.typed + account.lost && account.lost >= 200_000)
        #expect(numbers.isOrdered && numbers.lines < count)
        // At most the contents of the ring and the part that the typist is typing.
        #expect(waiting < 1 << 17)
        _ = try stage.end()
    }

    /// Returns the resident memory of the process.
    private static func residentKiB() throws -> Int {
        let text = String(decoding: try FileSystem.contents(of: "/proc/self/status", limit: 1 << 16), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.filter(\.isNumber)))
    }
}
