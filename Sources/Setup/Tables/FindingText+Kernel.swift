// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

// The texts of findings about what the kernel lacks.

extension FindingText {
    static let kernelUnfit = FindingText(
        what: LocalText("this kernel lacks {1}", "このカーネルには{1}がありません"),
        why: LocalText("without it {2}", "これがないと、次のようになります: {2}"),
        remedy: LocalText(
            "use a kernel that has it ({3})",
            "これを備えたカーネルを使用してください({3})"
        )
    )

    static let kernelLacks = FindingText(
        what: LocalText("this kernel lacks {1}", "このカーネルには{1}がありません"),
        why: LocalText("without it {2}", "これがないと、次のようになります: {2}"),
        remedy: LocalText(
            "a kernel that has it ({3}) would mend that; `doctor --json` has the whole table",
            "これを備えたカーネル({3})なら解消します。一覧は `doctor --json` にあります"
        )
    )
}
