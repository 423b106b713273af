// SPDX-License-Identifier: GPL-2.0-or-later

/// Input report of a map, prepared for decoding, and its last payload.
struct InputReport: Sendable {
    /// Declared length in bytes, without the id byte.
    let bytes: Int
    /// Fields that can contain keys.
    private let fields: [KeyboardField]
    /// Last payload, padded, in which an ignored array keeps its earlier bits; empty if no field can contain keys.
    private var last: [UInt8]
    /// Payload that is being decoded; it has the length of `last`.
    private var current: [UInt8]

    init(_ report: HIDReport) {
        bytes = report.bytes
        fields = report.fields.filter(\.isKeyboardField).map(KeyboardField.init)
        last = [UInt8](repeating: 0, count: fields.isEmpty ? 0 : report.bytes)
        current = last
    }

    /// True if a field can contain keys.
    var hasKeys: Bool { !fields.isEmpty }

    /// Forgets the last payload.
    mutating func reset() {
        for index in last.indices { last[index] = 0 }
    }

    /// Applies a payload to `keys`; returns true if an array is ignored because of a roll-over.
    ///
    /// The bits of an ignored array are replaced by those of the last payload.
    mutating func apply(_ payload: Span<UInt8>, to keys: inout PressOrder) -> Bool {
        pad(payload)
        var isRollOver = false
        for index in fields.indices {
            guard !fields.span[index].apply(current.span, since: last.span, to: &keys) else { continue }
            isRollOver = true
            fields[index].copy(from: last, to: &current)
        }
        keys.removeReleased()
        swap(&last, &current)
        return isRollOver
    }

    /// Fills `current` with a payload and, where it is too short, zeros.
    private mutating func pad(_ payload: Span<UInt8>) {
        var target = current.mutableSpan
        let count = min(payload.count, target.count)
        for index in 0..<count { target[index] = payload[index] }
        for index in count..<target.count { target[index] = 0 }
    }
}
