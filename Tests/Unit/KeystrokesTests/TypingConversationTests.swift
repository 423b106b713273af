// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import Testing

@Suite("Tests/Vectors/typing: bytes in, keys and times out")
struct TypingConversationTests {
    static func play(_ one: TypingConversation) throws {
        var path = try ConversationPath(one.settings)
        let differences = try path.play(one.steps)
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    @Test("Bytes, in conversations", arguments: TypingConversation.listed("bytes"))
    func bytes(_ one: TypingConversation) throws { try Self.play(one) }

    @Test("Layouts and CapsLock, in conversations", arguments: TypingConversation.listed("layouts"))
    func layouts(_ one: TypingConversation) throws { try Self.play(one) }

    @Test("D-3: line ends, in conversations", arguments: TypingConversation.listed("line-ends"))
    func lineEnds(_ one: TypingConversation) throws { try Self.play(one) }

    @Test(
        "Shift, repeated keys and notifications, in conversations",
        arguments: TypingConversation.listed("notifications")
    )
    func notifications(_ one: TypingConversation) throws { try Self.play(one) }

    @Test("D-13: the pace, in conversations", arguments: TypingConversation.listed("pace"))
    func pace(_ one: TypingConversation) throws { try Self.play(one) }

    @Test(
        "D-1: gate, links, age and failures, in conversations",
        arguments: TypingConversation.listed("refusals")
    )
    func refusals(_ one: TypingConversation) throws { try Self.play(one) }

    @Test(
        "Whole barcodes and what they stand for, in conversations",
        arguments: TypingConversation.listed("scans")
    )
    func barcodes(_ one: TypingConversation) throws { try Self.play(one) }

    @Test("D-2: what an open device may press, in conversations", arguments: TypingConversation.listed("open-devices"))
    func openDevices(_ one: TypingConversation) throws { try Self.play(one) }

    @Test("There are at least 150 conversations, each of its own name, each with an account of bytes at its end")
    func count() throws {
        let all = try TypingConversation.files.flatMap { try TypingConversation.all($0) }
        #expect(all.count >= 150)
        #expect(Set(all.map(\.name)).count == all.count)
        for one in all {
            guard case .account(let account) = one.steps.last?.event else {
                Issue.record("\(one.name): no account at its end")
                continue
            }
            #expect(account.received > 0, "\(one.name)")
        }
    }

    @Test(
        "A key, time or account that differs from the file is detected (control)",
        arguments: TypingConversation.files
    )
    func controls(file: String) throws {
        for one in TypingConversation.listed(file).prefix(2) {
            for index in one.steps.indices {
                var changed = one
                switch one.steps[index].event {
                case .written(var events):
                    guard !events.isEmpty else { continue }
                    events[0].code += 1
                    changed.steps[index].event = .written(events)
                case .account(var account):
                    account.typed += 1
                    changed.steps[index].event = .account(account)
                default: continue
                }
                var path = try ConversationPath(changed.settings)
                #expect(try !path.play(changed.steps).isEmpty, "\(one.name)")
            }
            guard let index = one.steps.lastIndex(where: { if case .written = $0.event { true } else { false } }) else {
                continue
            }
            var late = one
            for later in index..<late.steps.count { late.steps[later].time += 1 }
            var path = try ConversationPath(late.settings)
            #expect(try !path.play(late.steps).isEmpty, "\(one.name)")
        }
    }
}
