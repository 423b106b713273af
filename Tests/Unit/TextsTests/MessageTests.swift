// SPDX-License-Identifier: GPL-2.0-or-later

import Testing
import Texts

@Suite("Messages")
struct MessageTests {
    @Test("A reason is told with what mends it, where there is such a thing")
    func remedies() {
        let cause = Message(detail: "it does not answer")
        for language in [Language.english, .japanese] {
            let reason = Reason(cause, remedy: Message(detail: "bring it near"))
            #expect(reason.message.text(language) == "it does not answer (bring it near)")
            #expect(Reason(cause).message.text(language) == "it does not answer")
        }
    }
}
