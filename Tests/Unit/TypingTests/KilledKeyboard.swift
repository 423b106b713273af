// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import Typing

/// Model of a uinput device and the application that reads it: how the kernel handles events, and keys when the device
/// is closed.
///
/// A write is accepted either completely or not at all, an event that changes nothing is dropped, and a removed device
/// releases its keys.
final class KernelKeyboard {
    private let text: TextKeyboard
    private(set) var held: Set<UInt16> = []
    /// False simulates a kernel that does not release the keys of a removed device.
    var releasesKeys = true

    init() throws { text = try TextKeyboard(layout: .us) }

    func write(_ events: RawSpan) throws {
        for start in stride(from: 0, to: events.byteCount, by: InputEvent.size) {
            let place = start + InputEvent.size - 8
            let type = events.unsafeLoadUnaligned(fromByteOffset: place, as: UInt16.self)
            let code = events.unsafeLoadUnaligned(fromByteOffset: place + 2, as: UInt16.self)
            let value = events.unsafeLoadUnaligned(fromByteOffset: place + 4, as: Int32.self)
            guard type == InputEvent.key else { continue }
            let isChange = value == 1 ? held.insert(code).inserted : held.remove(code) != nil
            guard isChange else { continue }
            _ = try text.write(events.extracting(start..<start + InputEvent.size))
        }
    }

    /// Removes the device, as when its process ends.
    func close() throws {
        guard releasesKeys else { return }
        for code in held.sorted() {
            var bytes = [UInt8](repeating: 0, count: InputEvent.size)
            bytes[InputEvent.size - 8] = UInt8(InputEvent.key)
            bytes[InputEvent.size - 6] = UInt8(code & 0xFF)
            bytes[InputEvent.size - 5] = UInt8(code >> 8)
            _ = try text.write(bytes.span.bytes)
        }
        held = []
    }

    func takeText() -> String { text.screen.takeText() }
}

/// Data path of one process, from notifications to events; its state is lost with the process.
struct KeyboardProcess: ~Copyable {
    private var feed: Feed
    private var typist: Typist
    private var deframer: Deframer?
    private let ledger = Ledger()

    static func start(_ settings: KillSettings) throws -> KeyboardProcess {
        let ring = try ByteRing(capacity: 4096)
        guard let producer = ring.takeProducer() else { throw NoHandle() }
        guard let consumer = ring.takeConsumer() else { throw NoHandle() }
        return KeyboardProcess(settings, producer, consumer)
    }

    private init(
        _ settings: KillSettings,
        _ producer: consuming ByteRing.Producer,
        _ consumer: consuming ByteRing.Consumer
    ) {
        feed = Feed(producer, ledger: ledger)
        typist = Typist(
            consumer,
            table: settings.table,
            pacer: Pacer(settings.pace),
            barcodes: settings.rules,
            gate: Gate(),
            ledger: ledger
        )
        deframer = settings.framing.map { Deframer($0) }
    }

    mutating func receive(_ bytes: [UInt8], now: Int64) {
        guard let result = deframer?.receive(bytes.span, now: .nanoseconds(now)) else { return pass(bytes, now) }
        feed.skip(wrapping: result.wrapping, bad: result.bad)
        pass(result.payload, now)
    }

    private mutating func pass(_ bytes: [UInt8], _ now: Int64) {
        _ = feed.receive(bytes.span.bytes, epoch: 1, now: now)
    }

    /// Types until `end`.
    ///
    /// Returns false once `mayGoOn` has returned false; it is called before and after each write, and at each wait.
    mutating func type(
        on keyboard: KernelKeyboard,
        from start: Int64,
        until end: Int64,
        _ mayGoOn: () -> Bool
    ) throws -> Bool {
        var now = start
        while true {
            switch typist.next(now: now) {
            case .write:
                guard mayGoOn() else { return false }
                try keyboard.write(typist.output)
                guard mayGoOn() else { return false }
                typist.commit(now: now)
            case .wait(let time):
                guard mayGoOn() else { return false }
                guard time <= end else { return true }
                now = time
            case .sleep: return mayGoOn()
            }
        }
    }

    private struct NoHandle: Error {}
}

/// Settings that affect typing.
struct KillSettings {
    var table: CompiledTable
    var pace: Pace
    var rules: BarcodeRules?
    var framing: Framing?

    /// Returns every pace with both queues, in stream and scan mode, with and without framing.
    static func all() throws -> [KillSettings] {
        let framing = try Framing(start: [0x02], length: .init(), check: .init(.crc8Maxim))
        let rules = try BarcodeRules()
        let table = try CompiledTable(.linble)
        var all: [KillSettings] = []
        for profile in Pace.Profile.allCases {
            for queue in ReaderQueue.allCases {
                for (rules, framing) in [(nil, nil), (rules, nil), (nil, framing), (rules, framing)] {
                    let pace = try Pace(profile, queue: queue)
                    all.append(KillSettings(table: table, pace: pace, rules: rules, framing: framing))
                }
            }
        }
        return all
    }
}
