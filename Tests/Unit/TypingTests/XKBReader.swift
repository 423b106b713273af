// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

@testable import Keystrokes

/// Application that handles keyboard events like a compositor, with the state, keymap and compose table of
/// libxkbcommon.
///
/// It shares no table with the product. It rejects everything that a keyboard must not do: pressing a key twice, ending
/// a write with a pressed key, a frame of more than six values, or a key that was not declared.
final class XKBReader {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    private typealias Pointer = OpaquePointer

    /// Text received until now.
    ///
    /// The key F8 is represented by U+00F8.
    var text: [UInt32] = []
    private let declared: [Bool]
    private let state: Pointer
    private let compose: Pointer?
    private var down = [Bool](repeating: false, count: 768)
    private var downCount = 0
    private var frame = 0

    private let updateKey: @convention(c) (Pointer, UInt32, Int32) -> Int32
    private let keysym: @convention(c) (Pointer, UInt32) -> UInt32
    private let utf8: @convention(c) (Pointer, UInt32, UnsafeMutablePointer<CChar>?, Int) -> Int32
    private let feed: @convention(c) (Pointer, UInt32) -> Int32
    private let status: @convention(c) (Pointer) -> Int32
    private let composed: @convention(c) (Pointer, UnsafeMutablePointer<CChar>?, Int) -> Int32
    private let reset: @convention(c) (Pointer) -> Void
    private var buffer = [CChar](repeating: 0, count: 16)

    private static func find<Function>(_ name: String, as type: Function.Type) throws -> Function {
        guard let library = dlopen("libxkbcommon.so.0", RTLD_NOW), let function = dlsym(library, name) else {
            throw Fault(description: "libxkbcommon0 is not installed, or lacks \(name)")
        }
        return unsafeBitCast(function, to: type)
    }

    init(layout: String, variant: String = "", capsLock: Bool, composes: Bool, declared keys: KeySet) throws {
        declared = (0..<768).map { keys.codes.contains(KeyCode(rawValue: UInt16($0))) }
        updateKey = try Self.find("xkb_state_update_key", as: (@convention(c) (Pointer, UInt32, Int32) -> Int32).self)
        keysym = try Self.find("xkb_state_key_get_one_sym", as: (@convention(c) (Pointer, UInt32) -> UInt32).self)
        utf8 = try Self.find(
            "xkb_state_key_get_utf8",
            as: (@convention(c) (Pointer, UInt32, UnsafeMutablePointer<CChar>?, Int) -> Int32).self
        )
        feed = try Self.find("xkb_compose_state_feed", as: (@convention(c) (Pointer, UInt32) -> Int32).self)
        status = try Self.find("xkb_compose_state_get_status", as: (@convention(c) (Pointer) -> Int32).self)
        composed = try Self.find(
            "xkb_compose_state_get_utf8",
            as: (@convention(c) (Pointer, UnsafeMutablePointer<CChar>?, Int) -> Int32).self
        )
        reset = try Self.find("xkb_compose_state_reset", as: (@convention(c) (Pointer) -> Void).self)

        let newContext = try Self.find("xkb_context_new", as: (@convention(c) (Int32) -> Pointer?).self)
        let newKeymap = try Self.find(
            "xkb_keymap_new_from_names",
            as: (@convention(c) (Pointer, UnsafePointer<UnsafePointer<CChar>?>, Int32) -> Pointer?).self
        )
        let newState = try Self.find("xkb_state_new", as: (@convention(c) (Pointer) -> Pointer?).self)
        let newTable = try Self.find(
            "xkb_compose_table_new_from_locale",
            as: (@convention(c) (Pointer, UnsafePointer<CChar>, Int32) -> Pointer?).self
        )
        let newCompose = try Self.find("xkb_compose_state_new", as: (@convention(c) (Pointer, Int32) -> Pointer?).self)
        let serialize = try Self.find(
            "xkb_state_serialize_mods",
            as: (@convention(c) (Pointer, Int32) -> UInt32).self
        )

        // These objects exist until the test process ends.
        guard let context = newContext(0) else { throw Fault(description: "xkb-data is not installed") }
        let names = ["evdev", "pc105", layout, variant, ""].map { (text: String) in UnsafePointer(strdup(text)) }
        guard let keymap = newKeymap(context, names, 0), let state = newState(keymap) else {
            throw Fault(description: "no layout \(layout)(\(variant))")
        }
        self.state = state
        if composes {
            guard let table = newTable(context, "en_US.UTF-8", 0), let compose = newCompose(table, 0) else {
                throw Fault(description: "libx11-data is not installed: there is no compose table of en_US.UTF-8")
            }
            self.compose = compose
        } else {
            compose = nil
        }
        guard capsLock else { return }
        // CapsLock, or Shift with CapsLock if the key alone has another meaning, as on Japanese keyboards.
        for key in [42, 58] as [UInt32] { _ = updateKey(state, key + 8, 1) }
        for key in [58, 42] as [UInt32] { _ = updateKey(state, key + 8, 0) }
        if serialize(state, 1 << 2) & 2 == 0 {
            for press in [1, 0] as [Int32] { _ = updateKey(state, 58 + 8, press) }
        }
        guard serialize(state, 1 << 2) & 2 != 0 else { throw Fault(description: "\(layout) has no CapsLock") }
    }

    /// Handles the events of a write.
    func take(_ batch: borrowing EventBatch) throws {
        for index in 0..<batch.count {
            guard let event = batch[index] else { throw Fault(description: "no event") }
            try take(type: event.type, code: event.code, value: event.value)
        }
        guard frame == 0, downCount == 0 else { throw Fault(description: "a write ends with a key down") }
    }

    private func take(type: UInt16, code: UInt16, value: Int32) throws {
        frame += 1
        guard frame <= 6 else { throw Fault(description: "a frame of more than six values") }
        if type == 0 {
            guard code == 0, value == 0, frame > 1 else { throw Fault(description: "a bad report") }
            frame = 0
            return
        }
        let key = Int(code)
        guard type == 1, value == 0 || value == 1, key < 768, declared[key] else {
            throw Fault(description: "key \(code), value \(value)")
        }
        guard down[key] != (value == 1) else { throw Fault(description: "key \(code) is \(value) already") }
        down[key] = value == 1
        downCount += value == 1 ? 1 : -1
        if value == 1 { try read(UInt32(code)) }
        _ = updateKey(state, UInt32(code) + 8, value)
    }

    private func read(_ key: UInt32) throws {
        let symbol = keysym(state, key + 8)
        if symbol == 0xFFC5 {
            text.append(0xF8)
            return
        }
        if let compose, feed(compose, symbol) == 1 {
            switch status(compose) {
            case 0: break
            case 1: return
            case 2:
                append(composed(compose, &buffer, buffer.count))
                reset(compose)
                return
            default: throw Fault(description: "key \(key) breaks a composition")
            }
        }
        append(utf8(state, key + 8, &buffer, buffer.count))
    }

    private func append(_ count: Int32) {
        guard count > 0 else { return }
        let bytes = buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }
        if bytes.count == 1 {
            text.append(UInt32(bytes[0]))
        } else {
            text += String(decoding: bytes, as: UTF8.self).unicodeScalars.map(\.value)
        }
    }
}
