// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage

/// A keyboard whose typed characters are counted, where somebody may want to delete them.
struct FieldKeyboard: ~Copyable, KeyboardDevice {
    /// What the keys go to.
    let output: KeyboardOutput
    /// What they leave in a field; nil where nobody asks.
    let field: TypedField?

    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let result = try output.write(events)
        // After the write, which readers wait for.
        if let field, case .done(let bytes) = result { field.take(events.extracting(first: bytes)) }
        return result
    }
}
