// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage

/// A keyboard whose typed characters are counted, where somebody may want to delete them.
final class FieldKeyboard: KeyboardDevice {
    /// What the keys go to.
    private let output: KeyboardOutput
    /// What they leave in a field; nil where nobody asks.
    private let field: TypedField?

    init(output: KeyboardOutput, field: TypedField?) {
        self.output = output
        self.field = field
    }

    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let result = try output.write(events)
        // After the write, which readers wait for.
        if let field, case .done(let bytes) = result { field.take(events.extracting(first: bytes)) }
        return result
    }
}
