// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import TestSupport
import Testing
import Texts
import Typing

@Suite("Requests on the control socket")
struct ControlRequestTests {
    @Test("D-9: each line of control-requests.txt is read as it says, and names the word that is wrong")
    func vectors() throws {
        let lines = try VectorFile.lines("control-requests.txt")
        #expect(lines.count > 70)
        for (number, text) in lines {
            let parts = text.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
            try #require(parts.count == 2, "line \(number)")
            let result = Result { () throws(ControlFault) in try ControlRequest(line: Array(parts[0].utf8)) }
            switch result {
            case .success(let request): #expect("= \(request.line)" == parts[1], "line \(number)")
            case .failure(let fault):
                let expected = parts[1].split(separator: " ", maxSplits: 2)
                try #require(expected.count == 3 && expected[0] == "!", "line \(number): \(fault)")
                #expect("\(fault.word)" == expected[1], "line \(number): \(fault)")
                #expect(fault.reason.contains(expected[2]), "line \(number): \(fault)")
            }
        }
    }

    @Test("D-9: bytes that are no text are refused, wherever they stand, and so is a line that is too long")
    func bytes() {
        for byte in (UInt8.min...UInt8.max) where byte != 0x0A && (byte < 0x20 || byte > 0x7E) {
            for line in [[byte], Array("use ".utf8) + [byte], Array("use \"".utf8) + [byte] + Array("\"".utf8)] {
                #expect(throws: ControlFault.self, "\(line)") { try ControlRequest(line: line) }
            }
        }
        let longest = Array("use ".utf8) + Array(repeating: UInt8(ascii: "A"), count: ControlLine.mostBytes - 4)
        #expect(throws: Never.self) { try ControlRequest(line: longest) }
        #expect(throws: ControlFault.self) { try ControlRequest(line: longest + [UInt8(ascii: "A")]) }
        let keys = Array(("key" + String(repeating: " 1", count: ControlRequest.mostKeys)).utf8)
        #expect(throws: Never.self) { try ControlRequest(line: keys) }
        #expect(throws: ControlFault.self) { try ControlRequest(line: keys + Array(" 1".utf8)) }
        let send = Array(("send hex " + String(repeating: "00", count: ControlRequest.mostBytes)).utf8)
        #expect(throws: Never.self) { try ControlRequest(line: send) }
        #expect(throws: ControlFault.self) { try ControlRequest(line: send + Array("00".utf8)) }
    }

    @Test("D-9: every request is read back from the line that stands for it")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<RunCount.from("BLEWEDGE_CONTROL_RUNS", usual: 2000) {
            let request = ControlRequest.random(using: &random)
            let line = request.line
            #expect(!line.utf8.contains(0x0A))
            let again = try ControlRequest(line: Array(line.utf8))
            #expect(again == request, "\(line)")
        }
    }

    @Test("D-9: no bytes at all stop the reader: they are a request, or a fault that names a word")
    func hostile() {
        var random = SeededGenerator(seed: 10)
        let pieces = [
            "version", "1", "status", "scan", "use", "key", "send", "hex", "text", "yes", "security", "none", "\"",
            "\\", "\\x", "\\n", " ",
            "  ", "0", "ff", "é", "\u{0}",
        ]
        for _ in 0..<RunCount.from("BLEWEDGE_CONTROL_RUNS", usual: 5000) {
            var line: [UInt8] = []
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                if Bool.random(using: &random) {
                    line += Array((pieces.randomElement(using: &random) ?? "").utf8)
                } else {
                    line.append(UInt8.random(in: .min ... .max, using: &random))
                }
                if Bool.random(using: &random) { line.append(UInt8(ascii: " ")) }
            }
            do throws(ControlFault) {
                let request = try ControlRequest(line: line)
                #expect((try? ControlRequest(line: Array(request.line.utf8))) == request)
            } catch {
                #expect(error.word >= 1 && !error.reason.isEmpty)
            }
        }
    }

    @Test("D-9: who may ask for what: the group reads, the owner and root change, and keys can be switched off")
    func rights() {
        let requests: [(ControlRequest, isReading: Bool, isTyping: Bool)] = [
            (.status, true, false), (.events, true, false), (.scan(for: .seconds(5), isAnew: false), true, false),
            (.use(.name("A"), confirmed: true), false, false), (.forget, false, false), (.received, false, false),
            (.connect, false, false),
            (.pair(PairingRequest(.name("A"))), false, false),
            (.disconnect, false, false), (.pause, false, false), (.resume, false, false), (.send([1]), false, false),
            (.ask(ChatScript.Command(send: nil, expect: nil)), false, false),
            (.reload, false, false), (.stop, false, false), (.key([.character("1")]), false, true),
            (.snippet("link"), false, true), (.clear, false, true), (.value, false, true),
            (.device("scanner2", .connect), false, false), (.device("scale", .value), false, true),
            (.beacons(.status), true, false), (.beacons(.regions), true, false), (.beacons(.designated), true, false),
            (.beacons(.range(.statics, seconds: 1, withoutDesignated: false)), true, false),
            (.beacons(.watch(.all, .usual)), false, false), (.beacons(.unwatch(.all)), false, false),
            (.beacons(.designate(["A"], in: nil, .usual)), false, false),
            (.beacons(.update(["A"], isSwitcher: true)), false, false), (.beacons(.release("A")), false, false),
            (.beacons(.stopAdvertising), false, false), (.beacons(.clear), false, false),
        ]
        let verbs = Set(requests.map { $0.0.line.split(separator: " ")[2] })
        #expect(verbs == Set(ControlRequest.verbs.map { Substring($0) }))
        for allowsKeys in [true, false] {
            let rights = ControlRights(owner: 1000, allowsKeys: allowsKeys)
            for (request, isReading, isTyping) in requests {
                for (user, isTrusted) in [(UInt32(0), true), (1000, true), (1001, false), (.max, false)] {
                    let refusal = rights.refusal(of: request, by: user)
                    let isAllowed = isReading || isTrusted && (allowsKeys || !isTyping)
                    #expect((refusal == nil) == isAllowed, "\(request.line) by \(user), keys \(allowsKeys)")
                    #expect(refusal == nil || refusal?.status == .permission && refusal?.remedy != nil)
                }
            }
        }
    }
}

extension ControlRequest {
    /// Returns a random request, with any text and bytes that a line can contain.
    fileprivate static func random(using random: inout SeededGenerator) -> ControlRequest {
        func text() -> String {
            let signs = Array("aZ09 \"\\\n\t=:é漢\u{7F}\u{0}\u{200B}yes")
            return String(
                (0..<Int.random(in: 1...12, using: &random)).compactMap { _ in signs.randomElement(using: &random) }
            )
        }
        func bytes() -> [UInt8] {
            (0..<Int.random(in: 1...ControlRequest.mostBytes, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
        }
        switch Int.random(in: 0..<17, using: &random) {
        case 0: return .status
        case 1: return .events
        case 2:
            return .scan(
                for: .milliseconds(Int.random(in: 100...60_000, using: &random)),
                isAnew: Bool.random(using: &random)
            )
        case 3:
            let level = ([nil] + GATTLinkSecurity.Level.allCases).randomElement(using: &random) ?? nil
            return .use(.name(text()), confirmed: Bool.random(using: &random), security: level)
        case 4: return Bool.random(using: &random) ? .forget : .received
        case 5: return .connect
        case 6: return .disconnect
        case 7: return .pause
        case 8: return .resume
        case 9:
            let count = Int.random(in: 1...ControlRequest.mostKeys, using: &random)
            return .key((0..<count).compactMap { _ in KeyName.allCases.randomElement(using: &random) })
        case 10: return .snippet(text())
        case 11: return .clear
        case 12: return .send(bytes())
        case 13:
            let hex = Hexadecimal.text(bytes().prefix(HexTemplate.greatestLength))
            let hasReply = Bool.random(using: &random)
            return .ask(
                ChatScript.Command(
                    send: try? HexTemplate(hex, for: .command),
                    expect: hasReply ? try? HexTemplate(hex, for: .reply) : nil,
                    timeout: hasReply ? .milliseconds(Int.random(in: 10...60_000, using: &random)) : .seconds(2),
                    attempts: hasReply ? Int.random(in: 1...10, using: &random) : 1
                )
            )
        case 14: return .reload
        case 15:
            var request = PairingRequest(.name(text()))
            request.console = PairingConsole.allCases.randomElement(using: &random) ?? .none
            request.required = Bool.random(using: &random) ? .encrypted : .authenticated
            request.limit = .seconds(Int.random(in: 1...600, using: &random))
            return .pair(request)
        default: return .stop
        }
    }
}
