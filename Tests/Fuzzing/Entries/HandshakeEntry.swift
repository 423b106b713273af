// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration

/// The input is a command, its reply and a key as text, separated by zero bytes, and then data of the device and times.
enum HandshakeEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        let texts = parts.prefix(2).map { String(decoding: $0, as: UTF8.self) }
        var input = FuzzInput(parts.count > 2 ? Array(parts[2]) : [])
        let key = input.bytes(8)
        guard let send = texts.first.flatMap({ template($0, .command, key) }) else { return nil }
        let expect = texts.count > 1 ? template(texts[1], .reply, key) : nil
        guard send.bytes().count <= HexTemplate.greatestLength, again(send, .command, key) else {
            return "another command"
        }
        let command = ChatScript.Command(send: send, expect: expect, timeout: .seconds(1), attempts: 2)
        var handshake = ChatScript([command, command])
        var now = Duration.zero
        var steps = 0
        var step = handshake.begin(now: now)
        while steps < 2000 {
            steps += 1
            switch step {
            case .write(let bytes):
                guard bytes.count <= HexTemplate.greatestLength else { return "\(bytes.count) bytes to write" }
                step = handshake.written(now: now)
            case .wait:
                if input.isAtEnd {
                    guard let deadline = handshake.deadline else { return "waits for ever" }
                    now = deadline
                    step = handshake.handleDeadline(now: now)
                } else {
                    step = handshake.receive(input.bytes(40), now: now)
                }
            case .finished, .failed: return nil
            }
        }
        return "no end"
    }

    private static func template(_ text: String, _ purpose: HexTemplate.Purpose, _ key: [UInt8]) -> HexTemplate? {
        try? HexTemplate(text, for: purpose, key: key)
    }

    private static func again(_ template: HexTemplate, _ purpose: HexTemplate.Purpose, _ key: [UInt8]) -> Bool {
        Self.template(template.text, purpose, key) == template
    }
}
