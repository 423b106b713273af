// SPDX-License-Identifier: GPL-2.0-or-later

enum TUIKey: Hashable {
    case character(Character)
    case enter, tab, backTab, backspace, delete, escape
    case up, down, left, right, home, end, pageUp, pageDown
    /// Function key with this number, counted from 1.
    case function(Int)
    /// Ctrl-C, which always ends the program.
    case interrupt
    /// Ctrl-L, which redraws the screen.
    case redraw
    /// Ctrl-Z, which stops the program.
    case suspend
    /// Click of the left mouse button on a cell, counted from 0; the owner of the decoder converts it to `click`.
    case mouse(row: Int, column: Int)
    /// Click on a part of the screen that responds to it.
    case click(TUITarget)
    /// Pasted text, at most `TUIKeyDecoder.longestPaste` bytes of it.
    case paste(String)
}

/// Decoder of a terminal's bytes into keys.
///
/// It supports the sequences of xterm-compatible terminals and of the Linux console, and Alt with a digit or b for
/// keyboards without function keys. An unknown sequence is consumed whole and ignored; no input is buffered without a
/// limit.
struct TUIKeyDecoder {
    /// Maximum length of a pasted text, in bytes; the rest is discarded.
    static let longestPaste = 4096
    /// Maximum length of a control sequence, in bytes.
    private static let longestSequence = 32

    private enum State {
        case ground
        /// After ESC.
        case escape
        /// After ESC [, with the bytes received since.
        case control([UInt8])
        /// After ESC [ [, which the Linux console sends for F1 to F5.
        case console
        /// After ESC O.
        case single
        /// Within an overlong sequence, until its final byte.
        case overlong
        /// Between ESC [ 200 ~ and ESC [ 201 ~; `tail` holds bytes that may begin the end sequence.
        case paste(text: [UInt8], tail: [UInt8])
        /// Within a multi-byte character: the bytes received, and the number of missing bytes.
        case character([UInt8], missing: Int)
    }

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private var state = State.ground

    /// True after a lone ESC, and within an escape sequence or a character of several bytes.
    var isPending: Bool {
        switch state {
        case .ground, .paste: false
        default: true
        }
    }

    /// Decodes bytes together with the incomplete input before them; returns the keys.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [TUIKey] {
        var keys: [TUIKey] = []
        for byte in bytes { take(byte, &keys) }
        return keys
    }

    /// Ends a pending sequence.
    ///
    /// A lone ESC becomes the Escape key, a partial character becomes U+FFFD, and all other bytes are discarded.
    mutating func timeout() -> [TUIKey] {
        defer { if isPending { state = .ground } }
        if case .escape = state { return [.escape] }
        if case .character = state { return [.character("\u{FFFD}")] }
        return []
    }

    private mutating func take(_ byte: UInt8, _ keys: inout [TUIKey]) {
        switch state {
        case .ground: ground(byte, &keys)
        case .escape: escape(byte, &keys)
        case .control(let bytes): control(byte, bytes, &keys)
        case .console:
            state = .ground
            // ESC [ [ A is F1.
            if (0x41...0x45).contains(byte) { keys.append(.function(Int(byte) - 0x40)) }
        case .single:
            state = .ground
            // Enter on the numeric keypad in application mode.
            if let key = byte == UInt8(ascii: "M") ? .enter : Self.cursorKey(byte) { keys.append(key) }
        case .overlong: if Self.isFinal(byte) || byte == 0x1B { state = .ground }
        case .paste(let text, let tail): paste(byte, text, tail, &keys)
        case .character(let bytes, let missing): character(byte, bytes, missing, &keys)
        }
    }

    private mutating func ground(_ byte: UInt8, _ keys: inout [TUIKey]) {
        switch byte {
        case 0x1B: state = .escape
        case 0x0D, 0x0A: keys.append(.enter)
        case 0x09: keys.append(.tab)
        case 0x08, 0x7F: keys.append(.backspace)
        case 0x03: keys.append(.interrupt)
        case 0x0C: keys.append(.redraw)
        case 0x1A: keys.append(.suspend)
        case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        case 0x80...: keys.append(.character("\u{FFFD}"))
        default: break
        }
    }

    private mutating func character(_ byte: UInt8, _ bytes: [UInt8], _ missing: Int, _ keys: inout [TUIKey]) {
        guard (0x80...0xBF).contains(byte) else {
            state = .ground
            keys.append(.character("\u{FFFD}"))
            return take(byte, &keys)
        }
        let bytes = bytes + [byte]
        guard missing <= 1 else {
            state = .character(bytes, missing: missing - 1)
            return
        }
        state = .ground
        keys.append(.character(String(validating: bytes, as: UTF8.self)?.first ?? "\u{FFFD}"))
    }

    private mutating func escape(_ byte: UInt8, _ keys: inout [TUIKey]) {
        state = .ground
        switch byte {
        case UInt8(ascii: "["): state = .control([])
        case UInt8(ascii: "O"): state = .single
        case 0x1B:
            keys.append(.escape)
            state = .escape
        // Alt with a digit is the function key of that number.
        case 0x30: keys.append(.function(10))
        case 0x31...0x39: keys.append(.function(Int(byte) - 0x30))
        // Alt-b (beacons) is F11, which many terminals reserve for themselves; Alt-x (hex) is F12.
        case UInt8(ascii: "b"): keys.append(.function(11))
        case UInt8(ascii: "x"): keys.append(.function(12))
        case ..<0x20, 0x7F...:
            keys.append(.escape)
            take(byte, &keys)
        default: break
        }
    }

    private mutating func control(_ byte: UInt8, _ bytes: [UInt8], _ keys: inout [TUIKey]) {
        if bytes.isEmpty, byte == UInt8(ascii: "[") {
            state = .console
        } else if Self.isFinal(byte) {
            state = .ground
            finish(String(decoding: bytes, as: UTF8.self), byte, &keys)
        } else if byte == 0x1B {
            state = .escape
        } else if byte < 0x20 || byte > 0x7E {
            state = .ground
        } else {
            state = bytes.count < Self.longestSequence ? .control(bytes + [byte]) : .overlong
        }
    }

    private mutating func finish(_ parameters: String, _ final: UInt8, _ keys: inout [TUIKey]) {
        if parameters.hasPrefix("<") {
            if let key = Self.mouseKey(parameters.dropFirst(), final) { keys.append(key) }
            return
        }
        // Other reports of the terminal are not keys.
        if let first = parameters.utf8.first, (0x3C...0x3F).contains(first) { return }
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        if final == UInt8(ascii: "~"), let number = numbers.first ?? nil {
            if number == 200 { state = .paste(text: [], tail: []) }
            if let key = Self.numberedKeys[number] { keys.append(key) }
        } else if final == UInt8(ascii: "Z") {
            keys.append(.backTab)
        } else if let key = Self.cursorKey(final) {
            keys.append(key)
        }
    }

    private mutating func paste(_ byte: UInt8, _ text: [UInt8], _ tail: [UInt8], _ keys: inout [TUIKey]) {
        var (text, tail) = (text, tail + [byte])
        if tail == Self.pasteEnd {
            state = .ground
            keys.append(.paste(String(decoding: text, as: UTF8.self)))
            return
        }
        // Bytes that turn out not to be the end of the paste belong to its text.
        while !tail.isEmpty, !Self.pasteEnd.starts(with: tail) {
            let first = tail.removeFirst()
            if text.count < Self.longestPaste { text.append(first) }
        }
        state = .paste(text: text, tail: tail)
    }

    /// Returns the key for a mouse report (xterm, SGR 1006).
    ///
    /// The report contains the button, the column and the row; column and row are counted from 1.
    private static func mouseKey(_ parameters: Substring, _ final: UInt8) -> TUIKey? {
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        guard final == UInt8(ascii: "M"), numbers.count == 3, let button = numbers[0], let column = numbers[1],
            let row = numbers[2], (1...Screen.sizes.upperBound).contains(column),
            (1...Screen.sizes.upperBound).contains(row)
        else { return nil }
        return switch button {
        case 0: .mouse(row: row - 1, column: column - 1)
        case 64: .up
        case 65: .down
        default: nil
        }
    }

    private static func isFinal(_ byte: UInt8) -> Bool { (0x40...0x7E).contains(byte) }

    /// Returns the key for a final byte after ESC [ or ESC O: xterm's cursor keys and F1 to F4.
    private static func cursorKey(_ byte: UInt8) -> TUIKey? {
        switch byte {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(byte) - 0x4F)
        default: nil
        }
    }

    /// Keys by the number between ESC [ and ~ in their escape sequences.
    private static let numberedKeys: [Int: TUIKey] = [
        1: .home, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
        11: .function(1), 12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5), 17: .function(6),
        18: .function(7), 19: .function(8), 20: .function(9), 21: .function(10), 23: .function(11),
        24: .function(12),
    ]
}
