// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import Devices
import TestSupport
import Testing
import Texts
import TextsSupport

@Suite("The state in two languages")
struct StateTextTests {
    @Test("LK-24: each of the nine states has the sentence of Tests/Vectors/state-sentences.txt, in both languages")
    func states() throws {
        var written: [String: String] = [:]
        for line in try VectorFile.lines("state-sentences.txt") {
            let words = line.text.split(separator: " ", maxSplits: 2)
            written["\(words[0]) \(words[1])"] = String(words[2])
        }
        #expect(Session.State.allCases.count == 9 && written.count == 18)
        for state in Session.State.allCases {
            for (name, language) in [("en", Language.english), ("ja", .japanese)] {
                let sentence = state.sentence(of: "LINBLE-TEST", nil, nil, in: language)
                #expect(sentence == written["\(state.rawValue) \(name)"])
            }
        }
    }

    @Test("The hint of a device that was not heard, and the buttons, use the LINBLE keyboard's Japanese words")
    func hint() {
        #expect(LinkFaultText.notHeard.text(.japanese, "10").hasSuffix("アドバタイズしているか確認して下さい"))
        #expect(PageText.use.text(.japanese) == "つかう" && PageText.no.text(.japanese) == "キャンセル")
    }

    @Test("Whether a device advertises is asked where it was not heard, and never of one that has answered")
    func question() {
        var session = Session(isChosen: true)
        _ = session.handle(.adapterReady, now: .zero)
        guard case .report(.failed, let reason?)? = session.handle(.deadline, now: .seconds(10)).last else {
            Issue.record("nothing is said of a device that is not heard")
            return
        }
        #expect(Session.State.failed.sentence(nil, reason, in: .english).contains("on and advertising"))
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        _ = session.handle(.heard(device), now: .seconds(11))
        let refused = Reason("the peer refused to subscribe")
        guard case .report(.failed, let later?)? = session.handle(.attemptFailed(refused), now: .seconds(12)).last
        else {
            Issue.record("nothing is said of an attempt that failed")
            return
        }
        for language in [Language.english, .japanese] {
            let sentence = Session.State.failed.sentence(nil, later, in: language)
            #expect(!sentence.contains("advertising") && !sentence.contains("アドバタイズ"))
        }
    }

    @Test("A cause that begins with the words of its state does not repeat them")
    func doubled() {
        for (language, words) in [(Language.english, "permission denied"), (.japanese, "使用が許可されていません")] {
            for fault in [AdapterFaultText.refusedByKernel, .missingRights] {
                let reason = Reason(fault.message("CAP_NET_ADMIN"))
                let sentence = Session.State.unauthorized.sentence(nil, reason, in: language)
                #expect(sentence.hasPrefix(words) && !sentence.dropFirst(words.count).contains(words), "\(sentence)")
            }
        }
    }

    @Test("A state's sentence says what it is, why, and what can be done, in both languages")
    func sentences() {
        let choice = DeviceSelector.name("LINBLE-TEST")
        let reason = Reason("it does not answer", remedy: "bring it near")
        #expect(
            Session.State.failed.sentence(choice, reason, in: .english)
                == "cannot connect to LINBLE-TEST: it does not answer (bring it near); retrying"
        )
        #expect(
            Session.State.connected.sentence(choice, nil, in: .english)
                == "connected to LINBLE-TEST: typing received data"
        )
        #expect(Session.State.unselected.sentence(nil, nil, in: .japanese).contains("`blewedge use DEVICE`"))
        #expect(Session.State.lost.sentence(nil, nil, in: .japanese).contains("3秒後"))
    }
}
