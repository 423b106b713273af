// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import TestSupport
import Testing

/// One conversation of Tests/Vectors/typing, where format.txt tells how it is written.
struct TypingConversation: Sendable, CustomTestStringConvertible {
    /// A line that nobody can read, and why.
    struct Unreadable: Error {
        var line: Int
        var reason: String
    }

    /// A setting, by the name of the option of `blewedge run`, or of the file's own.
    struct Setting: Sendable {
        var number: Int
        var name: String
        var value: String
    }

    /// What happens at a time, or has to.
    enum Event: Sendable {
        /// A notification comes.
        case received([UInt8])
        /// The keyboard has to get these events in one write.
        case written([InputEvent])
        case gateOpens(Bool)
        case capsLock(Bool)
        /// The link is lost; what comes later comes on another.
        case linkEnds
        /// The user leaves the link for that cause.
        case dropped(Gate.Drop)
        /// The keyboard takes only so many events of the next write, and never anything more.
        case deviceTakes(Int)
        /// Nobody calls the typist: process or machine sleep. False ends it.
        case sleeps(Bool)
        /// The account has to be this.
        case account(Ledger.Snapshot)
    }

    /// A line with its time, in nanoseconds from the beginning.
    struct Step: Sendable {
        var number: Int
        var time: Int64
        var event: Event
    }

    var name: String
    var settings: [Setting] = []
    var steps: [Step] = []

    var testDescription: String { name }

    /// The files of the folder.
    static let files = ["bytes", "layouts", "line-ends", "notifications", "open-devices", "pace", "refusals", "scans"]

    /// The conversations of a file as a test's arguments: none where the file cannot be read, which `all` tells.
    static func listed(_ file: String) -> [TypingConversation] { (try? all(file)) ?? [] }

    /// The conversations of a file.
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

    /// Bytes: `"text"`, pairs of hexadecimal digits, and `xN` for N times the one before; nil for anything else.
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

    /// An account: `15 received: 14 typed, 1 discarded`; its sum must be right.
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

    /// A time in milliseconds, with six decimals at most; nil for anything else.
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
    /// The causes by their names in the file.
    private static let rejectionNames: [String: Ledger.Rejection] = [
        "untypable": .untypable, "too-short": .tooShort, "too-long": .tooLong, "duplicate": .duplicate, "cut": .cut,
    ]
    private static let lossNames: [String: Ledger.Loss] = [
        "ring-full": .ringFull, "write-failed": .writeFailed, "too-old": .tooOld, "disconnected": .disconnected,
        "switched": .switched,
    ]

    /// Adds bytes to what has that name; false where there is none.
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

    /// The account in the words of the file.
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
