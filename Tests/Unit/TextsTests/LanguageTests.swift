// SPDX-License-Identifier: GPL-2.0-or-later

import Testing
import Texts

@Suite("The reader's language")
struct LanguageTests {
    @Test(
        "The language is the locale's where it can be shown, or as it is forced",
        arguments: [
            (["LANG": "ja_JP.UTF-8"], Language.japanese),
            (["LANG": "ja_JP.utf8", "TERM": "xterm"], .japanese),
            (["LANG": "ja"], .english),
            (["LANG": "ja_JP.eucJP"], .english),
            (["LANG": "ja_JP.UTF-8@x"], .japanese),
            (["LANG": "jam_JM.UTF-8"], .english),
            (["LANG": "en_US.UTF-8", "LC_MESSAGES": "ja_JP.UTF-8"], .japanese),
            (["LANG": "ja_JP.UTF-8", "LC_MESSAGES": "en_US.UTF-8"], .english),
            (["LANG": "ja_JP.UTF-8", "LC_ALL": "C"], .english),
            (["LANG": "ja_JP.UTF-8", "LC_ALL": ""], .japanese),
            (["LANG": "ja_JP.UTF-8", "LC_CTYPE": "C"], .english),
            (["LANG": "ja_JP.UTF-8", "TERM": "linux"], .english),
            (["LANG": "ja_JP.UTF-8", "TERM": "linux", "BLEWEDGE_LANG": "ja"], .japanese),
            (["LANG": "ja_JP.UTF-8", "BLEWEDGE_LANG": "en"], .english),
            (["LANG": "ja_JP.UTF-8", "BLEWEDGE_LANG": "fr"], .japanese),
            ([:], .english),
        ]
    )
    func language(environment: [String: String], language: Language) {
        #expect(Language { environment[$0] } == language)
    }

    @Test("A duration is shown in the largest unit that it reaches")
    func times() {
        let texts = [-1, 0, 59, 60, 3599, 3600, 86_399, 86_400].map { TimeLabelText.text(seconds: $0, .english) }
        #expect(texts == ["0 s", "0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 d"])
        #expect(TimeLabelText.text(seconds: 61, .japanese) == "1分")
    }
}
