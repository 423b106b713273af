// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Keystrokes
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO
@testable import Typing

@Suite("A shared keyboard that goes away", .timeLimit(.minutes(10)))
struct SharedReplacementTests {
    @Test("D-42: one lane replaces the keyboard, the others lose nothing, and nobody types before applications read it")
    func replaced() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 3))
            for lane in 0..<3 { bench.receive(lane, "\(lane)\r") }
            #expect(try bench.until { (0..<3).allSatisfy { bench.typed($0) == 2 } })
            bench.devices.refusals.store(6, ordering: .relaxed)
            bench.devices.all.withLock { $0 }.first?.leave()
            bench.receive(0, "lost\r")
            #expect(try bench.until { bench.keyboards[0].bytes.lost == 5 })
            bench.receive(1, "kept\r")
            #expect(try bench.until { bench.changes.contains("0 remade") })
            #expect(bench.keyboards[1].bytes.waiting == 5)
            bench.receive(2, "idle\r")
            #expect(try bench.until { bench.typed(1) == 7 && bench.typed(2) == 7 })
            bench.receive(0, "again\r")
            #expect(try bench.until { bench.typed(0) == 8 })
            #expect(bench.changes == ["0 gone", "0 remade"])
            #expect(bench.keyboards.map(\.remakes) == [1, 0, 0])
            #expect(bench.keyboards.map(\.bytes.lost) == [5, 0, 0])
            for keyboard in bench.keyboards {
                let bytes = keyboard.bytes
                #expect(bytes.received == bytes.typed + bytes.lost && bytes.waiting == 0)
            }
            let devices = bench.devices.all.withLock { $0 }
            try #require(devices.count == 2)
            #expect(["kept\nidle\nagain\n", "idle\nkept\nagain\n"].contains(devices[1].typed))
            for device in devices {
                #expect(device.firstWrite.load(ordering: .relaxed) - device.made >= TypingThread.settlingTime)
            }
            try bench.stop()
        }
    }

    @Test("D-42: after the replacement, the rest of a barcode is typed before the barcode of another lane")
    func restOfBarcode() throws {
        try SharedBench.inVirtualTime {
            // The sixth write is the press of the third key.
            let bench = try SharedBench(.init(lanes: 2, pace: .slow, lifetime: 5))
            bench.receive(0, "12345\r")
            #expect(try bench.until { bench.typed(0) == 2 })
            bench.receive(1, "99\r")
            #expect(try bench.until { bench.typed(1) == 3 && bench.keyboards[0].bytes.waiting == 0 })
            let bytes = bench.keyboards[0].bytes
            #expect(bytes.received == 6 && bytes.typed == 5 && bytes.lost(.writeFailed) == 1)
            #expect(bench.devices.texts == ["123", "45\n99\n"] && bench.keyboards.allSatisfy { $0.cutTurns == 0 })
            try bench.stop()
        }
    }

    @Test("D-42: if the lane whose write failed is stopped, another lane replaces the keyboard")
    func stoppedRenewer() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 2))
            bench.receive(0, "1\r")
            #expect(try bench.until { bench.typed(0) == 2 })
            bench.devices.refusals.store(.max, ordering: .relaxed)
            bench.devices.all.withLock { $0 }.first?.leave()
            bench.receive(0, "lost\r")
            #expect(try bench.until { bench.changes == ["0 gone"] })
            bench.receive(1, "kept\r")
            bench.keyboards[1].ping()
            #expect(try bench.until { bench.keyboards[1].hasAnswered })
            #expect(bench.changes == ["0 gone"])
            try bench.stop(0..<1)
            bench.devices.refusals.store(0, ordering: .relaxed)
            #expect(try bench.until { bench.typed(1) == 5 })
            #expect(bench.changes == ["0 gone", "1 gone", "1 remade"] && bench.keyboards[1].bytes.lost == 0)
            #expect(bench.devices.texts == ["1\n", "kept\n"])
            try bench.stop(1..<2)
        }
    }

    @Test("D-42: a lane that is being stopped does not replace the keyboard, and ends without one")
    func stoppedWithoutKeyboard() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 3))
            bench.receive(0, "1\r")
            #expect(try bench.until { bench.typed(0) == 2 })
            bench.devices.refusals.store(.max, ordering: .relaxed)
            bench.devices.all.withLock { $0 }.first?.leave()
            bench.receive(0, "lost\r")
            #expect(try bench.until { bench.changes == ["0 gone"] })
            bench.receive(1, "late\r")
            bench.keyboards[1].ping()
            #expect(try bench.until { bench.keyboards[1].hasAnswered })
            try bench.stop(1..<2)
            #expect(bench.keyboards[1].bytes.waiting == 5 && bench.changes == ["0 gone"])
            try bench.stop(0..<1)
            try bench.stop(2..<3)
            #expect(bench.devices.texts == ["1\n"])
        }
    }

    @Test("D-1: bytes expire while there is no keyboard, although the threads answer")
    func age() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 2, maximumAge: .seconds(5)))
            bench.receive(0, "1\r")
            #expect(try bench.until { bench.typed(0) == 2 })
            bench.devices.refusals.store(.max, ordering: .relaxed)
            bench.devices.all.withLock { $0 }.first?.leave()
            bench.receive(0, "lost\r")
            #expect(try bench.until { bench.changes == ["0 gone"] })
            bench.receive(1, "old\r")
            for _ in 0..<20 {
                bench.keyboards[1].ping()
                try bench.run(for: .seconds(1))
            }
            bench.devices.refusals.store(0, ordering: .relaxed)
            while !bench.changes.contains("0 remade"), bench.devices.texts.count < 3 {
                bench.keyboards[1].ping()
                try bench.run(for: .seconds(1))
            }
            #expect(try bench.until { bench.keyboards[1].bytes.waiting == 0 })
            #expect(bench.keyboards[1].bytes.lost(.tooOld) == 4)
            bench.receive(1, "new\r")
            #expect(try bench.until { bench.typed(1) == 4 })
            #expect(bench.devices.texts == ["1\n", "new\n"])
            try bench.stop()
        }
    }

    @Test("D-1: bytes that waited for another lane expire too when the keyboard fails meanwhile")
    func ageOfWaiting() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 2, pace: .slow, maximumAge: .seconds(5), lifetime: 20))
            bench.devices.refusals.store(.max, ordering: .relaxed)
            bench.receive(0, "1234567890\r")
            #expect(try bench.until { bench.typed(0) == 2 })
            bench.receive(1, "old\r")
            #expect(try bench.until { bench.changes == ["0 gone"] })
            try bench.run(for: .seconds(20))
            bench.devices.refusals.store(0, ordering: .relaxed)
            #expect(try bench.until { bench.keyboards.allSatisfy { $0.bytes.waiting == 0 } })
            #expect(bench.keyboards[1].bytes.lost(.tooOld) == 4 && bench.changes == ["0 gone", "0 remade"])
            // A barcode in progress is finished.
            #expect(bench.keyboards[0].bytes.typed == 10 && bench.keyboards[0].bytes.lost(.writeFailed) == 1)
            try bench.stop()
        }
    }

    @Test("D-42: a lane that is added while there is no keyboard replaces it if no other lane does")
    func laterLane() throws {
        let bench = try SharedBench(.init(lanes: 1))
        let shared = try #require(bench.shared)
        let pace = try Pace(.desktop, queue: .large)
        let (first, second) = (shared.addLane(pace), shared.addLane(pace))
        let events = [UInt8](repeating: 0, count: UInputDevice.eventSize)
        let later = MonotonicClock.nanoseconds + 10_000_000_000
        #expect(first.claim(now: later) == nil)
        bench.devices.all.withLock { $0 }.first?.leave()
        #expect(throws: (any Error).self) { try first.write(events.span.bytes) }
        #expect(second.isFailed && second.obstacle(now: later) == .absent)
        #expect(first.obstacle(now: later) == .failed(.operationNotSupportedByDevice))
        // Another lane leaves the replacement to the first.
        try second.renew()
        #expect(second.isFailed && second.generation == 0)
        first.retire()
        #expect(first.obstacle(now: later) == .absent)
        shared.capsLock.set(true)
        try second.renew()
        #expect(!shared.capsLock.isOn)
        #expect(!second.isFailed && second.generation == 1 && bench.devices.texts.count == 2)
        #expect(second.obstacle(now: MonotonicClock.nanoseconds) != nil && second.obstacle(now: later) == nil)
        // A failed write of a lane that is being stopped leaves the replacement to the others.
        bench.devices.all.withLock { $0 }.last?.leave()
        #expect(throws: (any Error).self) { try first.write(events.span.bytes) }
        #expect(first.obstacle(now: later) == .absent)
        #expect(second.obstacle(now: later) == .failed(.operationNotSupportedByDevice))
        try bench.stop()
    }

    @Test("D-42: a keyboard that accepts a part of a write is replaced")
    func partialWrite() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 2))
            bench.devices.all.withLock { $0 }.first?.takePart()
            bench.receive(0, "1\r")
            #expect(try bench.until { bench.changes == ["0 gone", "0 remade"] })
            bench.receive(1, "2\r")
            #expect(try bench.until { bench.typed(1) == 2 })
            #expect(bench.keyboards[0].bytes.lost(.writeFailed) == 2 && bench.devices.texts == ["1", "2\n"])
            try bench.stop()
        }
    }

    @Test("A lane that is released frees the keyboard and its number")
    func releasedLane() throws {
        let bench = try SharedBench(.init(lanes: 1))
        let shared = try #require(bench.shared)
        let pace = try Pace(.console, queue: .large)
        let later = MonotonicClock.nanoseconds + 10_000_000_000
        let other = shared.addLane(pace)
        do {
            let lane = shared.addLane(pace)
            #expect(lane.claim(now: later) == nil)
            lane.wrote(now: later, keystrokes: 600, endsBarcode: false, isBetweenKeystrokes: true)
            #expect(other.claim(now: later) == .wait(later + 100_000_000))
            #expect(lane.claim(now: later) != nil && lane.cuts == 1)
            #expect(other.claim(now: later) == nil)
            other.wrote(now: later, keystrokes: 2, endsBarcode: true, isBetweenKeystrokes: true)
            // The lane is released during its turn.
            #expect(lane.claim(now: later) == nil && lane.number == other.number + 1)
            lane.wrote(now: later, keystrokes: 1, endsBarcode: false, isBetweenKeystrokes: true)
            #expect(other.claim(now: later) != nil)
        }
        #expect(other.claim(now: later) == nil)
        let reused = shared.addLane(pace)
        #expect(reused.number == other.number + 1 && reused.cuts == 0 && reused.claim(now: later) != nil)
        try bench.stop()
    }

    @Test("D-42: all lanes learn of CapsLock, whichever of them reads the event")
    func lights() throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        defer { close(ends[1]) }
        // `struct input_event`: the time, EV_LED, LED_CAPSL, and the state.
        func set(_ isOn: Bool) {
            let event: [UInt8] = [UInt8](repeating: 0, count: 16) + [0x11, 0, 1, 0, isOn ? 1 : 0, 0, 0, 0]
            _ = write(ends[1], event, event.count)
        }
        let loop = try EventLoop()
        let light = CapsLockLight()
        let descriptors = (0..<2).map { _ in dup(ends[0]) }
        close(ends[0])
        let watches = try descriptors.map { number in
            try LightWatch(KeyboardLights(Descriptor(owning: number, .keyboard)), on: loop, shared: light)
        }
        for isOn in [true, false, true] {
            set(isOn)
            #expect(try loop.run { light.isOn == isOn })
        }
        // A watcher that follows later does not reset what another has read.
        try watches[1].follow(KeyboardLights(Descriptor(owning: dup(ends[1]), .keyboard)))
        #expect(light.isOn && watches.allSatisfy { $0.capsLock === light })
        for watch in watches { watch.end() }
    }
}
