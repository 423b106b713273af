// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import Typing

/// Converts notifications to keys through frames, ring and typist, with delays, gates, disconnections and failing
/// writes.
struct KeysEntry: ~Copyable {
    private static let tables: [CompiledTable] = [ByteTable.linble, .strict, .discard].compactMap {
        try? CompiledTable($0)
    }
    private static let framings: [Framing?] = [
        nil, try? Framing(start: [0x02], end: [0x03]),
        try? Framing(start: [0xA5], length: .init(), check: .init(.crc8Maxim)),
        try? Framing(header: 1, length: .init(size: 2, isLittleEndian: false, surplus: 3), end: [0x0D], keepsEnd: true),
        try? Framing(
            start: [0x02],
            end: [0x03, 0x04],
            check: .init(.crc16Modbus, from: 1, isBehindEnd: true),
            maximum: 40
        ),
    ]
    private static let rules: [BarcodeRules?] = [
        nil, try? BarcodeRules(minimumLength: 2, maximumLength: 20, duplicateWindow: 1_000_000_000),
        try? BarcodeRules(idleGap: 50_000_000, suffix: BarcodeAffix("{tab}")),
        try? BarcodeRules(terminators: [0x0D]).typing([[0x41, 0x42]: BarcodeAffix("cd")]),
    ]

    private var feed: Feed
    private var typist: Typist
    private var deframer: Deframer?
    private let pressable: Set<UInt16>
    private let isSpread: Bool
    private let ledger = Ledger()
    private let gate = Gate()
    private var now: Int64 = 1_000_000_000
    private var epoch: UInt32 = 1
    private var received = 0
    private var down: Set<UInt16> = []
    private var broken: String?

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        guard var entry = try? Self.entry(input.byte(), input.byte()) else { return "no keyboard" }
        while !input.isAtEnd, entry.broken == nil { entry.turn(&input) }
        return entry.broken ?? entry.finish()
    }

    /// Creates the parts whose creation can fail.
    private static func entry(_ kind: UInt8, _ modes: UInt8) throws -> KeysEntry {
        let queue = ReaderQueue.allCases[Int(kind >> 7)]
        let pace = try Pace(Pace.Profile.allCases[Int(kind >> 4 & 7) % 5], queue: queue)
        let ring = try ByteRing(capacity: kind & 0x80 == 0 ? 512 : 4096, startingAt: UInt.max - 300)
        guard let producer = ring.takeProducer() else { throw NoHandle() }
        guard let consumer = ring.takeConsumer() else { throw NoHandle() }
        return KeysEntry(kind, modes, pace, producer, consumer)
    }

    private init(
        _ kind: UInt8,
        _ modes: UInt8,
        _ pace: Pace,
        _ producer: consuming ByteRing.Producer,
        _ consumer: consuming ByteRing.Consumer
    ) {
        let table = Self.tables[Int(kind & 0x0F) % Self.tables.count]
        let rules = Self.rules[Int(modes & 3)]
        feed = Feed(producer, ledger: ledger)
        typist = Typist(
            consumer,
            table: table,
            pacer: Pacer(pace),
            barcodes: rules,
            maximumAge: modes & 0x80 == 0 ? Typist.defaultMaximumAge : nil,
            gate: gate,
            ledger: ledger
        )
        deframer = Self.framings[Int(modes >> 2 & 7) % 5].map { Deframer($0) }
        isSpread = pace.isSpread
        pressable = Set(table.keys.union(rules?.keys ?? KeySet()).codes.map(\.rawValue))
    }

    private mutating func turn(_ input: inout FuzzInput) {
        switch input.below(16) {
        case 0: now += Int64(input.byte()) * 1_000_000
        case 1: now += Int64(input.byte()) * 100_000_000
        case 2: gate.close()
        case 3: gate.open(now: now)
        case 4: newLink()
        case 5: gate.drop(through: epoch, input.byte() & 1 == 0 ? .disconnected : .switched)
        case 6: _ = type(accepting: input.below(70))
        case 7, 8, 9: _ = type(accepting: nil)
        default: receive(input.bytes(128))
        }
        if let rest = deframer?.expire(now: .nanoseconds(now)) { take(rest) }
        check()
    }

    private mutating func receive(_ bytes: [UInt8]) {
        received += bytes.count
        if let result = deframer?.receive(bytes.span, now: .nanoseconds(now)) { take(result) } else { pass(bytes) }
    }

    private mutating func take(_ result: Deframer.Result) {
        feed.skip(wrapping: result.wrapping, bad: result.bad)
        pass(result.payload)
    }

    private mutating func pass(_ payload: [UInt8]) {
        let span = payload.span.bytes
        _ = feed.receive(span, epoch: epoch, now: now)
    }

    private mutating func newLink() {
        if let rest = deframer?.end() { take(rest) }
        gate.endLink(through: epoch)
        epoch += 1
    }

    /// Writes all pending events; returns nil if writing never ends.
    ///
    /// If `events` is set, the device accepts only that many events of one write and then disappears.
    private mutating func type(accepting events: Int?) -> Typist.Step? {
        for _ in 0..<20_000 {
            let step = typist.next(now: now)
            guard step == .write else { return step }
            guard typist.outputEvents > 0 else { return nil }
            for event in Self.keys(typist.output) { press(event) }
            if let events {
                typist.fail(acceptedEvents: events, now: now)
                // The kernel releases the keys of a removed device.
                down = []
                return .sleep
            }
            if !isSpread, !down.isEmpty { broken = "keys \(down) stay down" }
            typist.commit(now: now)
        }
        return nil
    }

    /// Returns the key events of a write, as an application would read them.
    private static func keys(_ output: RawSpan) -> [InputEvent] {
        stride(from: 0, to: output.byteCount, by: InputEvent.size).map { start in
            let place = start + InputEvent.size - 8
            return InputEvent(
                type: output.unsafeLoadUnaligned(fromByteOffset: place, as: UInt16.self),
                code: output.unsafeLoadUnaligned(fromByteOffset: place + 2, as: UInt16.self),
                value: output.unsafeLoadUnaligned(fromByteOffset: place + 4, as: Int32.self)
            )
        }.filter { $0.type == InputEvent.key }
    }

    private mutating func press(_ event: InputEvent) {
        guard pressable.contains(event.code) else { return broken = "key \(event.code), which was not declared" }
        let isRight = event.value == 1 ? down.insert(event.code).inserted : down.remove(event.code) != nil
        if !isRight { broken = "key \(event.code) \(event.value) twice" }
    }

    /// Checks that the account balances at every moment.
    private mutating func check() {
        let snapshot = ledger.snapshot()
        let counted = Int(snapshot.received) + (deframer?.waiting ?? 0)
        if counted != received { broken = "\(counted) bytes of \(received)" }
        if snapshot.waiting > 4096 { broken = "\(snapshot.waiting) bytes wait" }
    }

    /// Checks that no byte waits forever: after disconnection and enough time, every byte is accounted for, and all
    /// keys are released.
    private mutating func finish() -> String? {
        newLink()
        gate.open(now: now)
        for _ in 0..<20_000 {
            guard broken == nil, let step = type(accepting: nil) else { return broken ?? "writes for ever" }
            check()
            guard case .wait(let time) = step else {
                let waiting = ledger.snapshot().waiting
                guard broken == nil, waiting == 0 else { return broken ?? "\(waiting) bytes have no outcome" }
                return down.isEmpty ? nil : "keys \(down) stay down"
            }
            guard time > now else { return "waits for the past" }
            now = time
        }
        return "waits for ever"
    }
}

/// The handle of a ring has already been taken.
private struct NoHandle: Error {}
