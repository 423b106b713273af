// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import Texts

extension Snippets {
    /// The rules, extended by the snippets that replace barcodes (HK-1), for readers who use `layout` and a
    /// table that presses `others`.
    ///
    /// If the keyboard must not have the Left key beside its other keys (D-14), the cursor stays after the text.
    /// Without rules there are no barcodes: a snippet with `received` is then refused.
    package func meant(
        in rules: BarcodeRules?,
        layout: KeyboardLayout,
        beside others: KeySet
    ) throws(CommandFailure) -> BarcodeRules? {
        var meanings: [[UInt8]: BarcodeAffix] = [:]
        var keys = others.union(rules?.keys ?? KeySet())
        for snippet in all {
            guard let received = snippet.received else { continue }
            if rules == nil {
                throw CommandFailure(
                    .configuration,
                    FileFaultText.snippetWithoutScans,
                    snippet.title.debugDescription
                )
            }
            do throws(BarcodeAffix.Fault) {
                var typed = try BarcodeAffix(snippet.steps(), layout: layout)
                if keys.union(typed.keys).forbidden != nil {
                    typed = try BarcodeAffix(snippet.steps(canMove: false), layout: layout)
                }
                meanings[received] = typed
                keys = keys.union(typed.keys)
            } catch {
                throw CommandFailure(
                    .configuration,
                    FileFaultText.snippetNotTypable,
                    snippet.title.debugDescription,
                    "\(error)"
                )
            }
        }
        guard let rules, !meanings.isEmpty else { return rules }
        do throws(BarcodeRules.Fault) {
            return try rules.typing(meanings)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.snippetsFaulty, "\(error)")
        }
    }
}
