// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Testing
import Texts
import TextsSupport
import Wedge

@Suite("The state in two languages")
struct StateTextTests {
    @Test("LK-24: every state has its text and its hint, in the words of the LINBLE keyboard")
    func states() {
        #expect(Session.State.allCases.count == 9)
        #expect(Session.State.connecting.text(.japanese, "LINBLE-TEST") == "接続を試みています: LINBLE-TEST")
        #expect(Session.State.connected.text(.japanese, "LINBLE-TEST") == "通信可能です: LINBLE-TEST")
        #expect(Session.State.failed.hint.japanese.hasPrefix("アドバタイズしているか確認して下さい"))
        #expect(PageText.use.text(.japanese) == "つかう" && PageText.cancel.text(.japanese) == "キャンセル")
    }

    @Test("LK-24: a state's sentence says what it is, why, and what can be done, in both languages")
    func sentences() {
        let choice = DeviceChoice.name("LINBLE-TEST")
        let reason = Reason("it does not answer", remedy: "bring it near")
        #expect(
            Session.State.failed.sentence(choice, reason, in: .english)
                == "no connection to LINBLE-TEST: it does not answer (bring it near); is it advertising? trying again"
        )
        #expect(
            Session.State.connected.sentence(choice, nil, in: .english)
                == "connected to LINBLE-TEST: typing what it sends"
        )
        #expect(Session.State.unselected.sentence(nil, nil, in: .japanese).contains("`blewedge use DEVICE`"))
        #expect(Session.State.lost.sentence(nil, nil, in: .japanese).contains("3秒後"))
    }
}
