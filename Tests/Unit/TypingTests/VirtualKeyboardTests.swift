// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Keystrokes
import LinuxIO
import SensorValues
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

@Suite("The virtual keyboard that goes away", .timeLimit(.minutes(5)))
struct VirtualKeyboardTests {
    /// Keyboard that shows the text on a screen until it is removed.
    private final class Device: KeyboardDevice {
        private let keyboard: TextKeyboard
        private let isGone = Atomic<Bool>(false)
        private let error: Errno

        init(_ error: Errno) throws(Errno) {
            keyboard = try TextKeyboard(layout: .us)
            self.error = error
        }

        var screen: TextKeyboard.Screen { keyboard.screen }
        func leave() { isGone.store(true, ordering: .relaxed) }

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
            if isGone.load(ordering: .relaxed) { throw error }
            return try keyboard.write(events)
        }
    }

    /// Virtual keyboard with the devices that it has created, and its messages.
    private final class Bench {
        let loop: EventLoop
        private(set) var keyboard: VirtualKeyboard?
        private(set) var devices: [Device] = []
        private(set) var attempts: [Duration] = []
        private(set) var changes: [String] = []
        private(set) var failures: [Errno] = []
        /// Number of attempts to create another device that will fail.
        var refusals = 0
        var error = Errno.operationNotSupportedByDevice

        init() throws { loop = try EventLoop() }

        func begin() throws {
            let settings = TypingSettings(
                table: try CompiledTable(ByteTable(.linble), layout: .us),
                pacer: Pacer(try Pace(stall: 0, queue: .large)),
                maximumAge: nil,
                capsLock: .ignore,
                verifies: false
            )
            let made = try VirtualKeyboard(
                settings,
                on: loop,
                screen: nil,
                makeDevice: { [unowned self] () throws(KeyboardError) in
                    attempts.append(MonotonicClock.now)
                    if !devices.isEmpty, refusals > 0 {
                        refusals -= 1
                        throw .notMade(.noSuchFileOrDirectory)
                    }
                    do throws(Errno) {
                        let device = try Device(error)
                        devices.append(device)
                        return device
                    } catch {
                        throw .notMade(error)
                    }
                },
                onFailure: { [unowned self] error in failures.append(error) }
            )
            made.onChange = { [unowned self] change in
                switch change {
                case .gone(let error): changes.append(error.failure.cause.english)
                case .remade: changes.append("remade")
                }
            }
            keyboard = made
        }

        func receive(_ text: String) { keyboard?.receive(Array(text.utf8).span, epoch: 1, isFromOpenDevice: true) }

        func until(_ condition: () -> Bool) throws -> Bool { try loop.run(until: condition) }

        func stop() throws -> Bool {
            var isOver = false
            keyboard?.stop { isOver = true }
            return try until { isOver }
        }
    }

    @Test("A keyboard that is gone is made again; what it did not take is lost in a named place")
    func remade() throws {
        let bench = try Bench()
        try bench.begin()
        let keyboard = try #require(bench.keyboard)
        bench.receive("one\r")
        #expect(try bench.until { keyboard.bytes.typed == 4 })
        bench.refusals = 3
        bench.devices.first?.leave()
        bench.receive("two\r")
        #expect(try bench.until { bench.changes.contains("remade") })
        #expect(bench.changes == ["the virtual keyboard was removed (ENODEV)", "remade"])
        // Later data are typed on the new device.
        bench.receive("three\r")
        #expect(try bench.until { keyboard.bytes.typed == 10 })
        #expect(bench.devices.map { $0.screen.takeText() } == ["one\n", "three\n"])
        let bytes = keyboard.bytes
        #expect(bytes.received == 14 && bytes.lost(.writeFailed) == 4 && bytes.lost == 4 && bytes.waiting == 0)
        #expect(keyboard.remakes == 1 && bench.failures.isEmpty)
        // The first attempt is made immediately, and later ones after intervals that double.
        let times = bench.attempts.dropFirst()
        let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(times.count == 4)
        #expect(zip(pauses, [100, 200, 400]).allSatisfy { $0 >= .milliseconds($1) })
        #expect(try bench.stop())
    }

    @Test("While there is no keyboard, what comes waits, the thread answers, and it ends when asked to")
    func goneAtTheEnd() throws {
        let bench = try Bench()
        try bench.begin()
        let keyboard = try #require(bench.keyboard)
        bench.receive("one\r")
        #expect(try bench.until { keyboard.bytes.typed == 4 })
        bench.refusals = .max
        bench.devices.first?.leave()
        bench.receive("two\r")
        #expect(try bench.until { bench.attempts.count > 2 })
        bench.receive("three\r")
        keyboard.ping()
        #expect(try bench.until { keyboard.hasAnswered })
        let bytes = keyboard.bytes
        #expect(bytes.lost == 4 && bytes.waiting == 6 && bytes.received == 14)
        #expect(try bench.stop())
        #expect(keyboard.remakes == 0 && bench.failures.isEmpty)
    }

    @Test("A keyboard that refuses every write is made again ever later, and what it refuses is counted")
    func refusedAgain() throws {
        let bench = try Bench()
        bench.error = .notPermitted
        try bench.begin()
        let keyboard = try #require(bench.keyboard)
        bench.receive("one\r")
        #expect(try bench.until { keyboard.bytes.typed == 4 })
        for round in 1...4 {
            bench.devices.last?.leave()
            bench.receive("two\r")
            #expect(try bench.until { bench.devices.count == round + 1 && keyboard.bytes.lost == UInt64(4 * round) })
        }
        bench.receive("three\r")
        #expect(try bench.until { keyboard.bytes.typed == 10 })
        #expect(bench.failures.isEmpty && keyboard.remakes == 4)
        let pauses = zip(bench.attempts.dropFirst(), bench.attempts.dropFirst(2)).map { $1 - $0 }
        #expect(zip(pauses, [100, 200, 400]).allSatisfy { $0 >= .milliseconds($1) })
        #expect(try bench.stop())
    }

    @Test("A whole frame behind a broken one is typed when the broken one's pause is over, or the link ends")
    func frameBehindABrokenOne() throws {
        let bench = try Bench()
        try bench.begin()
        let keyboard = try #require(bench.keyboard)
        let source = TextSource(for: [keyboard], on: bench.loop)
        source.use(try Framing(start: [0xC1], length: .init(), check: .init(.sum)))
        let part: [UInt8] = [0xC1, 0x20, 0x31, 0x32]
        let whole: [UInt8] = [0xC1, 0x02, 0x34, 0x0D, 0x04]
        let begin = MonotonicClock.now
        for bytes in [part, whole] { source.receive(bytes.span, epoch: 1, isFromOpenDevice: true) }
        #expect(keyboard.bytes.received == 0)
        #expect(try bench.until { keyboard.bytes.typed == 2 })
        #expect(MonotonicClock.now - begin >= .milliseconds(900))
        #expect(bench.devices.map { $0.screen.takeText() } == ["4\n"])
        #expect(keyboard.bytes.received == 9)
        for bytes in [part, whole] { source.receive(bytes.span, epoch: 1, isFromOpenDevice: true) }
        source.endLink(through: 1)
        #expect(try bench.until { keyboard.bytes.typed == 4 })
        #expect(bench.devices.map { $0.screen.takeText() } == ["4\n"])
        // A lost notification also ends a frame.
        for bytes in [part, whole] { source.receive(bytes.span, epoch: 2, isFromOpenDevice: true) }
        source.noteMissing(epoch: 2)
        source.receive(whole.span, epoch: 2, isFromOpenDevice: true)
        #expect(try bench.until { keyboard.bytes.typed == 8 })
        let bytes = keyboard.bytes
        #expect(bytes.received == 32 && bytes.waiting == 0 && bytes.lost == 0)
        #expect(try bench.stop())
    }

    @Test("A value is typed again on the next link; the first encrypted one of a device is reported, once")
    func values() throws {
        let bench = try Bench()
        try bench.begin()
        let keyboard = try #require(bench.keyboard)
        let source = TextSource(for: [keyboard], on: bench.loop)
        var reports = 0
        source.onEncrypted = { reports += 1 }
        #expect(source.valueAccount == nil && !source.typeValue(epoch: 1, isFromOpenDevice: true))
        source.use(nil, ValueSettings(.bthome), isAdvertised: false)
        let (weight, encrypted): ([UInt8], [UInt8]) = ([0x40, 0x06, 0x5E, 0x1F], [0x41, 0x06, 0x5E, 0x1F])
        for _ in 1...2 { source.receive(weight.span, epoch: 1, isFromOpenDevice: true) }
        source.endLink(through: 1)
        source.receive(weight.span, epoch: 2, isFromOpenDevice: true)
        for _ in 1...2 { source.receive(encrypted.span, epoch: 2, isFromOpenDevice: true) }
        #expect(try bench.until { keyboard.bytes.typed == 10 })
        #expect(bench.devices.map { $0.screen.takeText() } == ["80.3\n80.3\n"])
        let account = try #require(source.valueAccount)
        #expect(account[.typed] == 2 && account[.unchanged] == 1 && account[.encrypted] == 2 && account.sum == 5)
        #expect(reports == 1 && keyboard.bytes.received == 10)
        source.use(nil, ValueSettings(.bthome, moment: .request), isAdvertised: false)
        source.receive(weight.span, epoch: 2, isFromOpenDevice: true)
        #expect(keyboard.bytes.received == 10 && source.typeValue(epoch: 2, isFromOpenDevice: true))
        #expect(try bench.until { keyboard.bytes.typed == 15 })
        // Without rules, the bytes are the text again.
        source.use(nil)
        source.receive([0x31].span, epoch: 2, isFromOpenDevice: true)
        #expect(try bench.until { keyboard.bytes.typed == 16 })
        #expect(try bench.stop())
    }

    @Test("D-10: a write that the kernel does not understand is told once, and no keyboard is made again")
    func refused() throws {
        let bench = try Bench()
        bench.error = .invalidArgument
        try bench.begin()
        let keyboard = try #require(bench.keyboard)
        bench.receive("one\r")
        #expect(try bench.until { keyboard.bytes.typed == 4 })
        bench.devices.first?.leave()
        bench.receive("two\r")
        #expect(try bench.until { !bench.failures.isEmpty })
        #expect(bench.failures == [.invalidArgument] && bench.changes.isEmpty && bench.devices.count == 1)
        #expect(try bench.stop())
    }
}
