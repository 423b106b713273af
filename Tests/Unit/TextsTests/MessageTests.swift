// SPDX-License-Identifier: GPL-2.0-or-later

import Testing
import Texts

@Suite("Messages")
struct MessageTests {
    @Test("A reason is reported with its remedy if there is one")
    func remedies() {
        let cause = Message(detail: "it does not answer")
        for language in [Language.english, .japanese] {
            let reason = Reason(cause, remedy: Message(detail: "bring it near"))
            #expect(reason.message.text(language) == "it does not answer (bring it near)")
            #expect(Reason(cause).message.text(language) == "it does not answer")
        }
    }

    @Test("An argument of a suggested command is one shell word, whatever the device's name")
    func commands() {
        let text = LocalText("{1}: `{1} pair {1}`, or {2}", "{1}: `pair {1}`")
        func filled(_ name: String) -> String { Message(text, id: nil, [name, "later"]).english }
        #expect(filled("LINBLE-Z1") == "LINBLE-Z1: `LINBLE-Z1 pair LINBLE-Z1`, or later")
        #expect(filled("秤1") == "秤1: `秤1 pair 秤1`, or later")
        #expect(filled("HID Scanner") == "HID Scanner: `HID Scanner pair 'HID Scanner'`, or later")
        #expect(filled("a;reboot") == "a;reboot: `a;reboot pair 'a;reboot'`, or later")
        #expect(filled("$(x)'s") == #"$(x)'s: `$(x)'s pair '$(x)'\''s'`, or later"#)
    }
}
