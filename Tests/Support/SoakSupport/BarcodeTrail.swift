// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Tracks each barcode from sending to the adapter and the keyboard, and finds errors in the typed text.
struct BarcodeTrail {
    /// Counters of barcodes and bytes.
    struct Counts: Equatable {
        var sent = 0
        /// Sent, but not received by the adapter because of a disconnection.
        var lostOnAir = 0
        var arrived = 0
        var typed = 0
        /// Received but not typed; the product must report a reason.
        var missing = 0
        /// Sent but not received, although a later barcode over the same link was received.
        var vanished = 0
        var doubled = 0
        var reordered = 0
        var joined = 0
        var altered = 0
        /// Partly typed when the user disconnected, and not completed (D-1): the next barcode follows on the same line.
        var halves = 0
        /// Bytes that arrived between the user's disconnection and the end of the link.
        ///
        /// The product has already closed the link, so these bytes were never received, like bytes in a closed kernel
        /// socket.
        var afterDisconnect = 0
        /// Bytes that the product's account does not contain, or contains in a wrong category.
        var uncounted = 0
    }

    private(set) var counts = Counts()
    private var onAir: [(link: Int, text: String)] = []
    private var inHost: [String] = []
    /// Barcodes that the host had received when the user disconnected.
    private var dropped: [String] = []
    /// True after the user has disconnected, until the link ends.
    private var hasUserLeft = false
    private var partial: [UInt8] = []
    private var arrivedBytes = 0
    private var typedBytes = 0
    private var missingBytes = 0
    private var recent: [String] = []
    private var lastTyped = 0

    /// True if everything that was received has been typed or discarded.
    var isQuiet: Bool { inHost.isEmpty && partial.isEmpty }

    /// Returns the text of the barcode with this number.
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
                // Either the second half of a barcode whose first half is missing, or text that was never sent.
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

    /// Records that the user disconnects: nothing more is typed, not even the rest of a partly typed barcode (D-1).
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

    /// Records a typed line; returns false if it should not have been typed.
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

    /// Finds the barcode that follows the first characters of one that was interrupted by the user's disconnection.
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

    /// Compares the counters with the product's account; call this only while no data are in transit.
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
