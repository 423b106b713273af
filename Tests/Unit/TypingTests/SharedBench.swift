// SPDX-License-Identifier: GPL-2.0-or-later

import ClockSupport
import Keystrokes
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Typing

/// Virtual keyboards of several devices, on one keyboard that they share or each on its own.
final class SharedBench {
    /// Keyboard that shows the text on a screen until it is removed.
    final class Device: KeyboardDevice {
        let made = MonotonicClock.nanoseconds
        private let text: Mutex<String>
        private let keyboard: TextKeyboard
        private let isGone = Atomic<Bool>(false)
        private let takesPart = Atomic<Bool>(false)
        private let isBusy = Atomic<Bool>(false)
        /// Number of writes that began before the previous one had ended.
        let overlaps = Atomic<Int>(0)
        /// Time of the first write; 0 before it.
        let firstWrite = Atomic<Int64>(0)
        /// Number of writes after which the device is removed.
        private let lifetime: Int
        private let writes = Atomic<Int>(0)

        init(lifetime: Int = .max) throws(Errno) {
            keyboard = try TextKeyboard(layout: .us)
            text = Mutex("")
            self.lifetime = lifetime
        }

        /// All text typed so far.
        var typed: String {
            text.withLock { text in
                text += keyboard.screen.takeText()
                return text
            }
        }

        func leave() { isGone.store(true, ordering: .relaxed) }

        /// Makes each write fail after its first event.
        func takePart() { takesPart.store(true, ordering: .relaxed) }

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
            let isFirst = isBusy.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
            if !isFirst.exchanged { overlaps.add(1, ordering: .relaxed) }
            defer { isBusy.store(false, ordering: .releasing) }
            let write = writes.add(1, ordering: .relaxed).newValue
            if isGone.load(ordering: .relaxed) || write > lifetime { throw .operationNotSupportedByDevice }
            _ = firstWrite.compareExchange(
                expected: 0,
                desired: MonotonicClock.nanoseconds,
                ordering: .relaxed
            )
            guard takesPart.load(ordering: .relaxed) else { return try keyboard.write(events) }
            return try keyboard.write(events.extracting(first: UInputDevice.eventSize))
        }
    }

    /// Devices created so far.
    final class Devices: Sendable {
        let all = Mutex<[Device]>([])
        /// Number of attempts to create another device that will fail.
        let refusals = Atomic<Int>(0)
        /// Number of writes after which the first device is removed.
        let lifetime: Int

        init(lifetime: Int) { self.lifetime = lifetime }

        func make() throws(KeyboardError) -> Device {
            if refusals.load(ordering: .relaxed) > 0 {
                refusals.subtract(1, ordering: .relaxed)
                throw .notMade(.noSuchFileOrDirectory)
            }
            do throws(Errno) {
                let device = try Device(lifetime: all.withLock { $0.isEmpty } ? lifetime : .max)
                all.withLock { $0.append(device) }
                return device
            } catch {
                throw .notMade(error)
            }
        }

        var texts: [String] { all.withLock { $0 }.map(\.typed) }
    }

    struct Options {
        var lanes = 8
        var pace = Pace.Profile.console
        var barcodes: BarcodeRules?
        var maximumAge: Duration?
        var keypad: Keypad?
        var lifetime = Int.max
        var isShared = true
    }

    let loop: EventLoop
    let devices: Devices
    private(set) var shared: SharedKeyboard?
    private(set) var keyboards: [VirtualKeyboard] = []
    /// Changes reported by the keyboards, each with the number of its lane.
    private(set) var changes: [String] = []

    init(_ options: Options) throws {
        loop = try EventLoop()
        let devices = Devices(lifetime: options.lifetime)
        self.devices = devices
        let pacer = Pacer(try Pace(options.pace, queue: .large))
        let table = try CompiledTable(ByteTable(.linble), layout: .us)
        let settings = (0..<options.lanes).map { lane in
            var settings = TypingSettings(
                table: table,
                pacer: pacer,
                barcodes: options.barcodes,
                maximumAge: options.maximumAge,
                capsLock: .ignore,
                verifies: options.isShared
            )
            settings.keypad = lane == 0 ? options.keypad : nil
            return settings
        }
        let make = { @Sendable () throws(KeyboardError) -> any KeyboardDevice in try devices.make() }
        shared = options.isShared ? try SharedKeyboard(settings, makeDevice: make) : nil
        // The control without turns writes to a single device too.
        let only: any KeyboardDevice = options.isShared ? try Device() : try devices.make()
        let makeOnly = { () throws(KeyboardError) -> any KeyboardDevice in only }
        for (lane, settings) in settings.enumerated() {
            let keyboard = try VirtualKeyboard(
                settings,
                on: loop,
                screen: nil,
                makeDevice: options.isShared ? nil : makeOnly,
                sharing: shared,
                onFailure: { _ in Issue.record("lane \(lane) has failed") }
            )
            keyboard.onChange = { [unowned self] change in
                switch change {
                case .gone: changes.append("\(lane) gone")
                case .remade:
                    changes.append("\(lane) remade")
                    for keyboard in keyboards { keyboard.followReplacement() }
                }
            }
            keyboards.append(keyboard)
        }
    }

    func receive(_ lane: Int, _ text: String) {
        keyboards[lane].receive(Array(text.utf8).span, epoch: 1, isFromOpenDevice: false)
    }

    func until(_ condition: () -> Bool) throws -> Bool {
        try loop.run(within: .seconds(3600), turn: .milliseconds(5), until: condition)
    }

    /// Runs the loop for a time of the clock.
    func run(for time: Duration) throws {
        let end = MonotonicClock.now + time
        #expect(try until { MonotonicClock.now >= end })
    }

    func typed(_ lane: Int) -> UInt64 { keyboards[lane].bytes.typed }

    func stop(_ lanes: Range<Int>) throws {
        var stopped = 0
        for lane in lanes { keyboards[lane].stop { stopped += 1 } }
        #expect(try until { stopped == lanes.count })
    }

    /// Stops all keyboards and removes them.
    func stop() throws {
        try stop(0..<keyboards.count)
        keyboards = []
    }

    /// Stops a lane and removes its keyboard; the lanes after it are renumbered.
    func remove(_ lane: Int) throws {
        try stop(lane..<lane + 1)
        keyboards.remove(at: lane)
    }

    /// Runs `body` in virtual time, which advances only while all threads sleep; in a release build, in real time.
    static func inVirtualTime(_ body: () throws -> Void) throws {
        #if DEBUG
            try SystemTime.$ofTask.withValue(VirtualClock(), operation: body)
        #else
            try body()
        #endif
    }

    /// Random barcodes of each lane.
    static func barcodes(lanes: Int, count: Int, using generator: inout SeededGenerator) -> [[String]] {
        let characters = Array("ABCDEFabcdef0123456789-+")
        return (0..<lanes).map { lane in
            (0..<count).map { number in
                let length = Int.random(in: 1...6, using: &generator)
                let tail = (0..<length).map { _ in characters.randomElement(using: &generator) ?? "x" }
                return "\(lane).\(number)." + String(tail)
            }
        }
    }

    /// Receives the barcodes, each in one to three pieces at most 30 ms apart, and waits until all are typed.
    func receive(_ barcodes: [[String]], using generator: inout SeededGenerator) throws {
        for (lane, barcodes) in barcodes.enumerated() {
            var time = MonotonicClock.now + .milliseconds(Int.random(in: 0...50, using: &generator))
            for barcode in barcodes {
                var rest = Substring(barcode + "\r")
                for piece in 0..<3 where !rest.isEmpty {
                    let length = piece == 2 ? rest.count : Int.random(in: 1...rest.count, using: &generator)
                    let text = String(rest.prefix(length))
                    rest = rest.dropFirst(length)
                    _ = loop.schedule(at: time) { [unowned self] in receive(lane, text) }
                    time += .milliseconds(Int.random(in: 0...30, using: &generator))
                }
                time += .milliseconds(Int.random(in: 0...200, using: &generator))
            }
        }
        let expected = barcodes.map { UInt64($0.reduce(0) { $0 + $1.utf8.count + 1 }) }
        #expect(try until { keyboards.map(\.bytes.typed) == expected })
    }
}
