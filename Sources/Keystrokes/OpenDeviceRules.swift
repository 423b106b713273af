// SPDX-License-Identifier: GPL-2.0-or-later

/// What a device presses in stream mode that anybody may be: its link has no security (D-2).
///
/// Of each notification, a byte presses Enter only as the last one, and then once; a carriage return with its line feed is
/// one where the table says so. No byte presses Escape or Ctrl. What presses more is withheld: it counts as discarded, and
/// nothing is typed in its place.
public struct OpenDeviceRules: Sendable {
    /// The bytes that are never typed, and those that are typed at a notification's end only.
    private let presses: [CompiledTable.Press]
    private let joinsLineEnds: Bool

    /// The rules for what that table types.
    public init(_ table: CompiledTable) {
        presses = (UInt8.min...UInt8.max).map { table.press(of: $0) }
        joinsLineEnds = table.joinsLineEnds
    }

    /// The bytes of a notification that are typed; nil where all of them are.
    func typed(of bytes: RawSpan) -> [UInt8]? {
        let end = lineEnd(of: bytes)
        guard let first = bytes.byteOffsets.first(where: { isWithheld(Self.byte($0, bytes), isLast: $0 >= end) }) else {
            return nil
        }
        var typed: [UInt8] = []
        typed.reserveCapacity(bytes.byteCount)
        for index in bytes.byteOffsets {
            let byte = Self.byte(index, bytes)
            if index < first || !isWithheld(byte, isLast: index >= end) { typed.append(byte) }
        }
        return typed
    }

    /// Where the last byte stands, or the carriage return of the last line feed, which is one Enter with it.
    private func lineEnd(of bytes: RawSpan) -> Int {
        let last = bytes.byteCount - 1
        guard joinsLineEnds, last > 0, Self.byte(last, bytes) == ByteTable.lineFeed else { return last }
        return Self.byte(last - 1, bytes) == ByteTable.carriageReturn ? last - 1 : last
    }

    private static func byte(_ index: Int, _ bytes: RawSpan) -> UInt8 {
        // Sound: every bit pattern is a byte, and the index is checked by the span.
        unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    private func isWithheld(_ byte: UInt8, isLast: Bool) -> Bool {
        switch presses[Int(byte)] {
        case .harmless: false
        case .enter: !isLast
        case .more: true
        }
    }
}

extension CompiledTable {
    /// What a byte presses, as far as it matters from a device that anybody may be.
    enum Press: UInt8, Sendable {
        /// Neither Enter nor Escape nor Ctrl.
        case harmless
        /// Enter once, as its last key.
        case enter
        /// Escape or Ctrl, or Enter otherwise.
        case more
    }

    /// What a byte presses, with CapsLock off or on.
    func press(of byte: UInt8) -> Press {
        let cases = [false, true].map { press(strokes(of: byte, capsLock: $0)) }
        return cases.contains(.more) ? .more : cases.contains(.enter) ? .enter : .harmless
    }

    private func press(_ strokes: [KeyboardLayout.Stroke]) -> Press {
        if strokes.contains(where: { $0.modifiers.contains(.control) || Self.never.contains($0.key) }) { return .more }
        let enters = strokes.filter { Self.enters.contains($0.key) }.count
        guard enters > 0 else { return .harmless }
        return enters == 1 && strokes.last.map { Self.enters.contains($0.key) } == true ? .enter : .more
    }

    private static let never = Set(["escape", "leftctrl", "rightctrl"].compactMap(KeyCode.init(name:)))
    private static let enters = Set(["enter", "kpenter"].compactMap(KeyCode.init(name:)))
}
