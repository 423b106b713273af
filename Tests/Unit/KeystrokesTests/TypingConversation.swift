// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import TestSupport
import Testing

/// Conversation of Tests/Vectors/typing, in the notation described in format.txt there.
struct TypingConversation: Sendable, CustomTestStringConvertible {
    /// Line that cannot be parsed, and the reason.
    struct Unreadable: Error {
        var line: Int
        var reason: String
    }

    /// Setting with the name of an option of `blewedge run`, or a name defined by the file format.
    struct Setting: Sendable {
        var number: Int
        var name: String
        var value: String
    }

    /// Event, or expected event.
    enum Event: Sendable {
        /// A notification is received.
        case received([UInt8])
        /// The keyboard must receive these events in one write.
        case written([InputEvent])
        case gateOpens(Bool)
        case capsLock(Bool)
        /// The link is lost; bytes received later belong to another link.
        case linkEnds
        /// The user causes the link to be dropped, for this reason.
        case dropped(Gate.Drop)
        /// The keyboard accepts only this number of events of the next write, and nothing more after that.
        case deviceTakes(Int)
        /// True while the typist is not called, because the process or machine is suspended; false ends this.
        case sleeps(Bool)
        /// The account must have these values.
        case account(Ledger.Snapshot)
    }

    /// Line with its time, in nanoseconds since the beginning.
    struct Step: Sendable {
        var number: Int
        var time: Int64
        var event: Event
    }

    var name: String
    var settings: [Setting] = []
    var steps: [Step] = []

    var testDescription: String { name }

    /// Names of the files in the directory.
    static let files = ["bytes", "layouts", "line-ends", "notifications", "open-devices", "pace", "refusals", "scans"]

    /// Returns the conversations of a file as test arguments; empty if the file cannot be read, which `all` reports.
    static func listed(_ file: String) -> [TypingConversation] { (try? all(file)) ?? [] }

    /// Reads the conversations of a file.
    static func all(_ file: String) throws -> [TypingConversation] {
        var all: [TypingConversation] = []
        for (number, text) in try VectorFile.lines("typing/\(file).txt") {
            if text.hasPrefix("== ") {
                all.append(TypingConversation(name: String(text.dropFirst(3))))
            } else {
                guard let last = all.indices.last else { throw Unreadable(line: number, reason: "before the first ==") }
                try all[last].read(text, number)
            }
        }
        return all
    }

    private mutating func read(_ text: String, _ number: Int) throws {
        let words = text.split(separator: " ", maxSplits: 1).map { String($0) }
        let rest = words.count > 1 ? words[1] : ""
        guard let first = text.utf8.first, first == UInt8(ascii: "+") || (48...57).contains(first) else {
            guard steps.isEmpty else { throw Unreadable(line: number, reason: "a setting behind the first time") }
            settings.append(Setting(number: number, name: words[0], value: rest))
            return
        }
        let last = steps.last?.time ?? 0
        guard let given = Self.nanoseconds(ofMilliseconds: words[0].drop { $0 == "+" }) else {
            throw Unreadable(line: number, reason: "time \(words[0])")
        }
        let isRelative = first == UInt8(ascii: "+")
        var time = isRelative ? last + given : given
        guard time >= last else { throw Unreadable(line: number, reason: "goes back in time") }
        var line = Substring(rest)
        var count = 1
        if line.hasPrefix("x"), let end = line.firstIndex(of: " ") {
            guard isRelative, let number = Int(line[..<end].dropFirst()), number > 0 else {
                throw Unreadable(line: number, reason: "number of times")
            }
            count = number
            line = line[end...].drop { $0 == " " }
        }
        guard let event = try Self.event(line, number) else { throw Unreadable(line: number, reason: "\(line)") }
        for _ in 0..<count {
            steps.append(Step(number: number, time: time, event: event))
            time += given
        }
    }

    private static func event(_ text: Substring, _ number: Int) throws -> Event? {
        switch text.first {
        case "<": return bytes(text.dropFirst()).map { .received($0) }
        case ">": return KeyNotation.events(text.dropFirst()).map { .written($0) }
        case "=": return try .account(account(text.dropFirst(), number))
        default: break
        }
        switch text {
        case "gate closes": return .gateOpens(false)
        case "gate opens": return .gateOpens(true)
        case "capslock on": return .capsLock(true)
        case "capslock off": return .capsLock(false)
        case "link ends": return .linkEnds
        case "user disconnects": return .dropped(.disconnected)
        case "user switches": return .dropped(.switched)
        case "machine sleeps": return .sleeps(true)
        case "machine wakes": return .sleeps(false)
        default:
            guard text.hasPrefix("device takes ") else { return nil }
            return Int(text.dropFirst(13)).map { .deviceTakes($0) }
        }
    }

    /// Parses bytes: `"text"`, pairs of hexadecimal digits, and `xN` to repeat the previous item N times; returns nil
    /// if they are invalid.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var result: [UInt8] = []
        var last: [UInt8] = []
        var rest = text.drop { $0 == " " }
        while let first = rest.first {
            if first == "\"" {
                guard let end = rest.dropFirst().firstIndex(of: "\"") else { return nil }
                last = Array(rest[..<end].utf8.dropFirst())
                result += last
                rest = rest[rest.index(after: end)...]
            } else {
                let word = rest.prefix { $0 != " " }
                rest = rest.dropFirst(word.count)
                if first == "x", let count = Int(word.dropFirst()), count > 1, !last.isEmpty {
                    for _ in 1..<count { result += last }
                } else {
                    guard word.utf8.count == 2, let bytes = VectorFile.bytes(word) else { return nil }
                    last = bytes
                    result += last
                }
            }
            rest = rest.drop { $0 == " " }
        }
        return result
    }

    /// Parses an account such as `15 received: 14 typed, 1 discarded`, whose sum must be correct.
    private static func account(_ text: Substring, _ number: Int) throws -> Ledger.Snapshot {
        let unreadable = Unreadable(line: number, reason: "account \(text)")
        let halves = text.split(separator: ":").map { $0.split(separator: ",") }
        guard let first = halves.first, first.count == 1, halves.count <= 2 else { throw unreadable }
        let total = first[0].split(separator: " ")
        guard total.count == 2, total[1] == "received", let received = UInt64(total[0]) else { throw unreadable }
        var account = Ledger.Snapshot()
        account.received = received
        for part in halves.dropFirst().joined() {
            let words = part.split(separator: " ")
            guard words.count == 2, let count = UInt64(words[0]), account.add(count, to: String(words[1])) else {
                throw unreadable
            }
        }
        let sum =
            account.typed + account.discarded + account.rejected + account.gated + account.lost + account.waiting
        guard sum == received else { throw Unreadable(line: number, reason: "the sum is \(sum)") }
        return account
    }

    /// Parses milliseconds with up to six decimals; returns nil if they are invalid.
    private static func nanoseconds(ofMilliseconds text: some StringProtocol) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int64($0) }), parts.count <= 2 else { return nil }
        guard parts.count == 2 else { return whole * 1_000_000 }
        let decimals = String(parts[1])
        guard decimals.utf8.count <= 6,
            let fraction = Int64(decimals + String(repeating: "0", count: 6 - decimals.count))
        else { return nil }
        return whole * 1_000_000 + fraction
    }
}

extension Ledger.Snapshot {
    /// Names of the reasons in the file.
    private static let rejectionNames: [String: Ledger.Rejection] = [
        "untypable": .untypable, "too-short": .tooShort, "too-long": .tooLong, "duplicate": .duplicate, "cut": .cut,
    ]
    private static let lossNames: [String: Ledger.Loss] = [
        "ring-full": .ringFull, "write-failed": .writeFailed, "too-old": .tooOld, "disconnected": .disconnected,
        "switched": .switched,
    ]

    /// Adds bytes to the category with that name; returns false if there is none.
    fileprivate mutating func add(_ count: UInt64, to name: String) -> Bool {
        switch name {
        case "typed": typed += count
        case "discarded": discarded += count
        case "withheld":
            discarded += count
            withheld += count
        case "gated": gated += count
        case "waiting": waiting += count
        default:
            if let rejection = Self.rejectionNames[name] {
                rejections[rejection.rawValue] += count
            } else if let loss = Self.lossNames[name] {
                losses[loss.rawValue] += count
            } else {
                return false
            }
        }
        return true
    }

    /// The account in the notation of the file.
    var words: String {
        var parts = [
            ("typed", typed), ("discarded", discarded - withheld), ("withheld", withheld), ("gated", gated),
            ("waiting", waiting),
        ]
        parts += Self.rejectionNames.map { ($0.key, rejected($0.value)) }.sorted { $0.0 < $1.0 }
        parts += Self.lossNames.map { ($0.key, lost($0.value)) }.sorted { $0.0 < $1.0 }
        return "\(received) received: "
            + parts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }
}
