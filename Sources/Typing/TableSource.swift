// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
import LinuxIO
package import Texts

/// The sources of byte tables.
package enum TableSource {
    /// The built-in table with this name, or else the table in the file of this path.
    package static func read(_ source: String) throws(CommandFailure) -> ByteTable {
        if let table = ByteTable(named: source) { return table }
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.textContents(of: source, limit: ByteTable.largestText)
        } catch {
            let names = ByteTable.BuiltIn.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .configuration,
                FileFaultText.tableUnreadable,
                source,
                "\(error)",
                names
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.configuration, FileFaultText.noText, source)
        }
        do {
            return try ByteTable(text: text)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.faulty, source, "\(error)")
        }
    }

    /// The table from `source`, compiled for the layout.
    package static func compiled(
        _ table: ByteTable,
        of source: String,
        layout: KeyboardLayout
    ) throws(CommandFailure) -> CompiledTable {
        do {
            return try CompiledTable(table, layout: layout)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.faulty, source, "\(error)")
        }
    }
}
