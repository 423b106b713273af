// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage

/// A keyboard that counts the typed characters, so that a client can delete them.
final class FieldKeyboard: KeyboardDevice {
    /// The keyboard to which the events are written.
    private let output: KeyboardOutput
    /// The count of characters; nil if no client may delete any.
    private let field: TypedField?

    init(output: KeyboardOutput, field: TypedField?) {
        self.output = output
        self.field = field
    }

    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let result = try output.write(events)
        // The count follows the write, for which the readers wait.
        if let field, case .done(let bytes) = result { field.take(events.extracting(first: bytes)) }
        return result
    }
}
