// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// The layout of one `struct input_event`, as the kernel reads it from a uinput device.
///
/// Two words for the time (always zero: the kernel stamps the event itself), a type and a code of 16 bits and a value of
/// 32: 24 bytes where a word has 64 bits, 16 bytes where it has 32. The corresponding C type is `struct input_event` of
/// `<linux/input.h>`.
public struct InputEvent: Equatable, Sendable {
    /// Bytes of one event.
    public static let size = timeSize + 8
    /// Bytes of the time, which come first.
    static let timeSize = 2 * MemoryLayout<Int>.size

    /// The type of an event that ends a frame (C: `EV_SYN`).
    public static let synchronization: UInt16 = 0
    /// The type of a key's event (C: `EV_KEY`).
    public static let key: UInt16 = 1

    /// The kind of event.
    public var type: UInt16
    /// Which key, for a key's event.
    public var code: UInt16
    /// 1 down, 0 up; 2, which the kernel uses for autorepeat, is never written.
    public var value: Int32

    /// An event without its time.
    public init(type: UInt16, code: UInt16, value: Int32) {
        self.type = type
        self.code = code
        self.value = value
    }

    /// The event that ends a frame: type, code and value zero (C: `SYN_REPORT`).
    public static let report = InputEvent(type: synchronization, code: 0, value: 0)

    /// A key going down or up.
    public static func key(_ code: KeyCode, down: Bool) -> InputEvent {
        InputEvent(type: key, code: code.rawValue, value: down ? 1 : 0)
    }

    /// Type, code and value as the one word of eight bytes that follows the time in memory.
    var word: UInt64 {
        #if _endian(big)
            UInt64(type) &<< 48 | UInt64(code) &<< 32 | UInt64(UInt32(bitPattern: value))
        #else
            UInt64(UInt32(bitPattern: value)) &<< 32 | UInt64(code) &<< 16 | UInt64(type)
        #endif
    }

    /// The bits of the value in a word, and the place of their lowest.
    static let valueBits = InputEvent(type: 0, code: 0, value: -1).word
    #if _endian(big)
        static let valuePlace: UInt64 = 0
    #else
        static let valuePlace: UInt64 = 32
    #endif

    init(word: UInt64) {
        #if _endian(big)
            self.init(
                type: UInt16(truncatingIfNeeded: word &>> 48),
                code: UInt16(truncatingIfNeeded: word &>> 32),
                value: Int32(truncatingIfNeeded: word)
            )
        #else
            self.init(
                type: UInt16(truncatingIfNeeded: word),
                code: UInt16(truncatingIfNeeded: word &>> 16),
                value: Int32(truncatingIfNeeded: word &>> 32)
            )
        #endif
    }
}

/// The CapsLock light of the virtual keyboard: how the thread that hears of it tells the typist.
///
/// While it is on, readers turn letters round, so the typist turns them round too and the text comes out as meant. It is
/// off until somebody says otherwise. A change is taken up at the next keystroke; those that were written before it, and
/// that their reader has yet to read, are with that reader.
public final class CapsLockLight: Sendable {
    private let state = Atomic<Bool>(false)

    /// A light that is off.
    public init() {}

    /// Whether the light is on.
    public var isOn: Bool { state.load(ordering: .relaxed) }

    /// Takes note of a change.
    public func set(_ isOn: Bool) { state.store(isOn, ordering: .relaxed) }
}
