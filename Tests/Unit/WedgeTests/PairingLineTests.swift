// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Control
import Devices
import LinuxIO
import TestSupport
import Testing
import Texts

/// Lines of a pairing conversation.
@Suite("Pairing on the control socket: its lines")
struct PairingLineTests {
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    private static func events() throws -> [PairingEvent] {
        let key = LongTermKey([UInt8](1...16), isAuthenticated: true, isSecureConnections: true, role: .central)
        let bond = Bond(
            identityAddress: device,
            localAddress: BluetoothAddress(rawValue: 0xC0FF_EE00_0001),
            longTermKeys: [try #require(key)]
        )
        return [
            .listening, .pairing(device), .ask(.compare(42)), .ask(.enter), .show(999_999),
            .note(Reason(LogText.choiceRaised.message("A", "encrypted"))),
            .note(Reason(CommandFailure(.usage, BondFaultText.known, "A", "B"))),
            .paired(BondFacts(try #require(bond))), .failed(CommandFailure(.timeout, BondFaultText.notInTime, "60")),
        ]
    }

    @Test("D-9: each event is read back from its line, in every language; the last one is the bond or the failure")
    func roundTrip() throws {
        let events = try Self.events()
        for event in events {
            let value = try JSONValue(Array(event.object.text.utf8))
            let again = try #require(PairingEvent(value), "\(event)")
            #expect(again == event)
            #expect(event.isLast == ["paired", "failed"].contains(event.name))
            if case .note(let reason) = event, case .note(let read) = again {
                #expect(read.cause.text(.japanese) == reason.cause.text(.japanese))
            }
        }
        #expect(events[2].object.text == #"{"event":"compare","number":"000042"}"#)
        #expect(
            events[7].object.text
                == #"{"event":"paired","address":"F0:F1:F2:F3:F4:F5","addressType":"random","adapter":"C0:FF:EE:00:00:01","#
                + #""security":"authenticated","keySize":16,"secureConnections":true,"resolvingKey":false}"#
        )
    }

    @Test("D-9: a line of another kind, or without a member, is no event")
    func faults() throws {
        for text in [
            "{}", "[]", #"{"event":"gate"}"#, #"{"event":"compare"}"#, #"{"event":"compare","number":"12345"}"#,
            #"{"event":"passkey","number":123456}"#, #"{"event":"pairing","address":"F0:F1:F2:F3:F4:F5"}"#,
            #"{"event":"note"}"#, #"{"event":"paired","address":"F0:F1:F2:F3:F4:F5","addressType":"random"}"#,
        ] {
            #expect(PairingEvent(try JSONValue(Array(text.utf8))) == nil, "\(text)")
        }
    }

    @Test("D-9: a client answers yes or no to a comparison, six digits or no to a passkey, and nothing unasked")
    func answers() throws {
        let answers: [(String, ManagedPairing.Question, PairingAnswer)] = [
            ("yes", .compare(1), .same(true)), ("no", .compare(1), .same(false)), (" no ", .enter, .passkey(nil)),
            ("000042", .enter, .passkey(42)), ("999999", .enter, .passkey(999_999)),
        ]
        for (line, question, answer) in answers {
            #expect(try PairingAnswer(line: Array(line.utf8), to: question) == answer)
            #expect(try PairingAnswer(line: Array(answer.line.utf8), to: question) == answer)
        }
        let faults: [(String, ManagedPairing.Question?, String)] = [
            ("yes", nil, "word 1: nothing is asked now"), ("", .enter, "word 1: an answer is missing"),
            ("yes please", .compare(1), "word 2: nothing may follow here"),
            ("\"no", .enter, "word 1: the closing quotation mark is missing"),
        ]
        let others = ["y", "000001", "YES"].map {
            ($0, ManagedPairing.Question.compare(1), "word 1: yes or no belongs here")
        }
        let numbers = ["yes", "12345", "1234567", "+12345", "１２３４５６"].map {
            ($0, ManagedPairing.Question.enter, "word 1: six digits belong here, or no")
        }
        for (line, question, cause) in faults + others + numbers {
            let fault = #expect(throws: ControlFault.self, "\(line)") {
                try PairingAnswer(line: Array(line.utf8), to: question)
            }
            #expect(fault?.description == cause)
        }
    }
}
