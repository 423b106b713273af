// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Where each barcode is: sent, arrived at the adapter, typed; and what is wrong with what is typed.
struct BarcodeTrail {
    /// What was seen.
    struct Counts: Equatable {
        var sent = 0
        /// Sent, and never at the adapter, because the link ended.
        var lostOnAir = 0
        var arrived = 0
        var typed = 0
        /// Arrived and not typed; the product has to say why.
        var missing = 0
        /// Sent, never at the adapter, though a later one of the same link was.
        var vanished = 0
        var doubled = 0
        var reordered = 0
        var joined = 0
        var altered = 0
        /// Begun when the user disconnected, and left so (D-1): the next is typed behind.
        var halves = 0
        /// Bytes that came between the user's disconnect and the link's end, when the product had let go of the link: as
        /// those in a kernel's socket that was closed, nobody has received them.
        var afterDisconnect = 0
        /// Bytes whose fate the product's account does not know, or knows wrongly.
        var uncounted = 0
    }

    private(set) var counts = Counts()
    private var onAir: [(link: Int, text: String)] = []
    private var inHost: [String] = []
    /// What was in the host when the user disconnected.
    private var dropped: [String] = []
    /// Whether the user has disconnected, and the link has not ended yet.
    private var hasUserLeft = false
    private var partial: [UInt8] = []
    private var arrivedBytes = 0
    private var typedBytes = 0
    private var missingBytes = 0
    private var recent: [String] = []
    private var lastTyped = 0

    /// Whether all that has arrived was typed or given up.
    var isQuiet: Bool { inHost.isEmpty && partial.isEmpty }

    /// The barcode of a number.
    static func text(_ number: Int, padding: Int) -> String {
        let digits = String(number)
        let fill = (0..<padding).map {
            String("ABCDEFGHIJKLMNOPQRSTUVWXYZ-xyz".dropFirst(($0 + number) % 30).first ?? "A")
        }
        return "#" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits + fill.joined()
    }

    private static func number(_ text: String) -> Int? { Int(text.dropFirst().prefix(8)) }

    mutating func noteSent(_ text: String, link: Int) {
        counts.sent += 1
        onAir.append((link, text))
    }

    mutating func noteArrived(_ value: [UInt8]) {
        guard !hasUserLeft else { return counts.afterDisconnect += value.count }
        arrivedBytes += value.count
        partial += value
        while let end = partial.firstIndex(of: 0x0D) {
            let line = String(decoding: partial[..<end], as: UTF8.self)
            partial.removeFirst(end + 1)
            guard let place = onAir.firstIndex(where: { $0.text == line }) else {
                // The second half of one that has lost its first, or something never sent.
                counts.altered += 1
                continue
            }
            for entry in onAir[..<place] {
                if entry.link == onAir[place].link { counts.vanished += 1 } else { counts.lostOnAir += 1 }
            }
            onAir.removeFirst(place + 1)
            counts.arrived += 1
            inHost.append(line)
        }
    }

    /// The user disconnects: nothing of what waits is typed, and no more of what was begun (D-1).
    mutating func noteUserDrop() {
        dropped = inHost
        hasUserLeft = true
        endPart()
    }

    mutating func noteLinkEnd() {
        hasUserLeft = false
        endPart()
    }

    private mutating func endPart() {
        missingBytes += partial.count
        partial = []
    }

    /// Returns false for what should not have been typed.
    mutating func noteTyped(_ line: String) -> Bool {
        counts.typed += 1
        typedBytes += line.utf8.count + 1
        if let place = inHost.firstIndex(of: line) {
            giveUp(place)
        } else if let place = placeBehindHalf(line) {
            counts.halves += 1
            giveUp(place)
            missingBytes -= line.utf8.count - (inHost.first?.utf8.count ?? 0)
        } else {
            classify(line)
            return false
        }
        dropped = []
        let line = inHost[0]
        inHost.removeFirst()
        lastTyped = Self.number(line) ?? lastTyped
        recent.append(line)
        if recent.count > 256 { recent.removeFirst(128) }
        return true
    }

    /// The place of a barcode that is typed behind the first keys of one that the user's disconnect has stopped.
    private func placeBehindHalf(_ line: String) -> Int? {
        inHost.firstIndex { whole in
            guard line.hasSuffix(whole), line != whole else { return false }
            let half = line.dropLast(whole.count)
            return dropped.contains { $0 != whole && $0.hasPrefix(half) }
        }
    }

    private mutating func classify(_ line: String) {
        if line.count(where: { $0 == "#" }) > 1 {
            counts.joined += 1
        } else if recent.contains(line) {
            counts.doubled += 1
        } else if let number = Self.number(line), number < lastTyped {
            counts.reordered += 1
        } else {
            counts.altered += 1
        }
    }

    private mutating func giveUp(_ count: Int) {
        counts.missing += count
        missingBytes += inHost[..<count].reduce(0) { $0 + $1.utf8.count + 1 }
        inHost.removeFirst(count)
    }

    /// Compares with the product's account; to be called when nothing is under way.
    mutating func settle(_ account: Ledger.Snapshot) {
        counts.lostOnAir += onAir.count
        onAir = []
        giveUp(inHost.count)
        noteLinkEnd()
        let told = Int(account.rejected + account.lost + account.gated)
        let wrong = [
            Int(account.received) - arrivedBytes, Int(account.typed) - typedBytes, told - missingBytes,
            Int(account.waiting), Int(account.discarded),
        ]
        counts.uncounted = wrong.reduce(0) { $0 + abs($1) }
    }
}
