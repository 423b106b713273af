// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Keystrokes

/// Complete data path on one thread for tests: feed, ring, typist, and a device that decodes the events.
final class Path {
    var feed: Feed
    var typist: Typist
    let ledger: Ledger
    let gate: Gate
    var keyboard = DecodedKeyboard()
    /// Time and events of each write.
    var recorded: [(time: Int64, events: [InputEvent])] = []
    var writes: [(time: Int64, events: Int)] { recorded.map { ($0.time, $0.events.count) } }
    var now: Int64 = 1_000_000_000
    /// True if each write begins and ends without a pressed key; false if keystrokes are spread over several writes.
    let isWhole: Bool
    /// True if the device is unpaired.
    let isOpen: Bool
    /// Number of keystrokes that a failed write has cut after the press.
    var halfKeystrokes = 0

    init(
        table: ByteTable = .linble,
        layout: KeyboardLayout = .us,
        stall: Int64 = 0,
        queue: ReaderQueue = .small,
        pace: Pace? = nil,
        barcodes: BarcodeRules? = nil,
        capacity: Int = 1 << 16,
        startingAt start: UInt = 0,
        maximumAge: Int64? = Typist.defaultMaximumAge,
        light: CapsLockLight? = nil,
        isOpen: Bool = false
    ) throws {
        self.isOpen = isOpen
        let ring = try ByteRing(capacity: capacity, startingAt: start)
        guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { throw NoHandle() }
        let compiled = try CompiledTable(table, layout: layout)
        let pacer = if let pace { Pacer(pace) } else { try Pacer(stall: stall, queue: queue) }
        isWhole = !pacer.pace.isSpread
        ledger = Ledger()
        gate = Gate()
        feed = Feed(producer, ledger: ledger, open: barcodes == nil ? OpenDeviceRules(compiled) : nil)
        typist = Typist(
            consumer,
            table: compiled,
            pacer: pacer,
            barcodes: barcodes,
            maximumAge: maximumAge,
            gate: gate,
            light: light,
            ledger: ledger
        )
    }

    @discardableResult
    func receive(_ bytes: [UInt8], epoch: UInt32 = 1) -> Feed.Outcome {
        unsafe bytes.withUnsafeBytes { buffer in
            let span = unsafe RawSpan(_unsafeBytes: buffer)
            return feed.receive(span, epoch: epoch, now: now, isFromOpenDevice: isOpen)
        }
    }

    func next() -> Typist.Step { typist.next(now: now) }

    func commit() { typist.commit(now: now) }

    func fail(accepted events: Int) { typist.fail(acceptedEvents: events, now: now) }

    /// Writes all due events; returns the typist's next step.
    func typeDue() throws -> Typist.Step {
        while true {
            let step = next()
            guard step == .write else { return step }
            let events = outputEvents()
            if isWhole {
                try keyboard.take(events)
            } else {
                for event in events { try keyboard.take(event) }
            }
            recorded.append((now, events))
            commit()
        }
    }

    /// Types everything, advancing the time as the typist requests.
    func typeAll() throws {
        while case .wait(let time) = try typeDue() {
            try #require(time > now)
            now = time
        }
    }

    /// Types until `end` or until the typist sleeps, with wake-ups that are up to `late` nanoseconds late.
    func typeUntil(_ end: Int64, late: Int64) throws {
        while case .wait(let time) = try typeDue() {
            try #require(time > now)
            guard time <= end else { break }
            now = time + (late == 0 ? 0 : abs((time &* 2_654_435_761) % late))
        }
        if end != Int64.max { now = max(now, end) }
    }

    /// Returns the events of the current write, decoded from its bytes.
    func outputEvents() -> [InputEvent] {
        typist.outputCopied()
    }
}

/// The handle of a ring has already been taken.
struct NoHandle: Error {}

/// Both ends of a ring on one thread.
final class Ends {
    private var producer: ByteRing.Producer
    private var consumer: ByteRing.Consumer

    init(_ ring: ByteRing) throws {
        guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { throw NoHandle() }
        self.producer = producer
        self.consumer = consumer
    }

    var position: UInt { consumer.position }

    func push(_ bytes: [UInt8]) -> Bool { producer.push(bytes) }

    func push(_ first: UInt64, _ second: UInt64, _ bytes: [UInt8]) -> Bool { producer.push(first, second, bytes) }

    func mustWake() -> Bool { producer.mustWake() }

    func pop(_ count: Int) -> [UInt8] { consumer.pop(count) }

    func available(from position: UInt) -> Int { consumer.available(from: position) }

    func words(at position: UInt) -> [UInt64] { consumer.words(at: position).map { [$0.0, $0.1] } ?? [] }

    func bytes(at position: UInt, count: Int) -> [UInt8] {
        consumer.bytes(at: position, count: count)
    }

    func release(through position: UInt) { consumer.release(through: position) }

    func mayFallAsleep() -> Bool { consumer.mayFallAsleep(at: consumer.position) }

    func stayAwake() { consumer.stayAwake() }
}

extension ByteRing.Producer {
    mutating func push(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            let span = unsafe RawSpan(_unsafeBytes: buffer)
            return push(span)
        }
    }

    mutating func push(_ first: UInt64, _ second: UInt64, _ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            let span = unsafe RawSpan(_unsafeBytes: buffer)
            return push(first, second, span)
        }
    }
}

extension Typist {
    borrowing func outputCopied() -> [InputEvent] { events(of: output) }
}

extension ByteRing.Consumer {
    borrowing func bytes(at position: UInt, count: Int) -> [UInt8] {
        let span = span(at: position, count: count)
        var bytes: [UInt8] = []
        for index in span.indices { bytes.append(span[index]) }
        return bytes
    }

    mutating func pop(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let taken = unsafe bytes.withUnsafeMutableBytes { buffer in
            var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
            return pop(into: &span)
        }
        return Array(bytes.prefix(taken))
    }
}

/// Decodes the events of a device's bytes; every time must be zero.
func events(of bytes: RawSpan) -> [InputEvent] {
    let size = 2 * MemoryLayout<Int>.size + 8
    var events: [InputEvent] = []
    var isTimeZero = bytes.byteCount % size == 0
    for start in stride(from: 0, to: bytes.byteCount - size + 1, by: size) {
        for place in [start, start + MemoryLayout<Int>.size] {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: Int.self)
            isTimeZero = isTimeZero && word == 0
        }
        events.append(
            InputEvent(
                type: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start + size - 8, as: UInt16.self),
                code: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start + size - 6, as: UInt16.self),
                value: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start + size - 4, as: Int32.self)
            )
        )
    }
    #expect(isTimeZero)
    return events
}

/// Application that decodes keyboard events with its own transcription of the US layout.
///
/// It shares no table with the product, and rejects everything that a keyboard must not do. F8 is decoded as U+00F8.
struct DecodedKeyboard {
    struct Fault: Error { var what: String }

    /// True while CapsLock swaps the case of letters.
    var capsLock = false
    private(set) var text = ""
    private(set) var down: Set<UInt16> = []
    private(set) var largestFrame = 0
    private(set) var keystrokes = 0
    private var frame = 0

    /// Releases all keys, as the kernel does when a device is removed.
    mutating func goes() {
        down = []
        frame = 0
    }

    /// Discards the decoded text, but not the state of the keys.
    mutating func forgetText() { text = "" }

    /// Decodes one write, which must begin and end without a pressed key.
    mutating func take(_ events: [InputEvent]) throws {
        for event in events { try take(event) }
        guard frame == 0 else { throw Fault(what: "a write ends without its report") }
        guard down.isEmpty else { throw Fault(what: "a write ends with keys down: \(down)") }
    }

    mutating func take(_ event: InputEvent) throws {
        frame += 1
        largestFrame = max(largestFrame, frame)
        if event.type == 0 {
            guard event.code == 0, event.value == 0, frame > 1 else { throw Fault(what: "bad report \(event)") }
            frame = 0
            return
        }
        guard event.type == 1 else { throw Fault(what: "type \(event.type)") }
        switch event.value {
        case 0: guard down.remove(event.code) != nil else { throw Fault(what: "\(event.code) up while up") }
        case 1:
            guard down.insert(event.code).inserted else { throw Fault(what: "\(event.code) down while down") }
            guard event.code != 42, event.code != 29 else { return }
            guard down.subtracting([42, 29]).count == 1 else { throw Fault(what: "two keys down: \(down)") }
            guard let caps = Self.caps[event.code] else { throw Fault(what: "unexpected key \(event.code)") }
            let isLetter = caps.count == 2 && caps.first?.isLetter == true
            let column = down.contains(42) != (capsLock && isLetter) ? 1 : 0
            var character = Array(caps.unicodeScalars)[min(column, caps.count - 1)]
            // As in terminals, Ctrl clears the three highest bits of the seven.
            if down.contains(29) { character = Unicode.Scalar(UInt8(character.value & 0x1F)) }
            text.unicodeScalars.append(character)
            keystrokes += 1
        default: throw Fault(what: "value \(event.value)")
        }
    }

    /// Characters of each key without and with Shift, by the kernel's key code.
    private static let caps: [UInt16: String] = [
        2: "1!", 3: "2@", 4: "3#", 5: "4$", 6: "5%", 7: "6^", 8: "7&", 9: "8*", 10: "9(", 11: "0)", 12: "-_", 13: "=+",
        14: "\u{8}", 15: "\t", 16: "qQ", 17: "wW", 18: "eE", 19: "rR", 20: "tT", 21: "yY", 22: "uU", 23: "iI", 24: "oO",
        25: "pP", 26: "[{", 27: "]}", 28: "\n", 30: "aA", 31: "sS", 32: "dD", 33: "fF", 34: "gG", 35: "hH", 36: "jJ",
        37: "kK", 38: "lL", 39: ";:", 40: "'\"", 41: "`~", 43: "\\|", 44: "zZ", 45: "xX", 46: "cC", 47: "vV", 48: "bB",
        49: "nN", 50: "mM", 51: ",<", 52: ".>", 53: "/?", 57: "  ", 66: "\u{F8}",
    ]
}

extension String {
    /// Bytes of the text.
    var bytes: [UInt8] { Array(utf8) }
}
