// SPDX-License-Identifier: GPL-2.0-or-later

extension DesignatedBeacons {
    /// The first line of the file.
    private static let heading = "blewedge designated beacons 1"
    private static let switcherWord = "switcher"
    private static let plainWord = "beacon"

    /// A file that is not one of these: the line, counted from 1.
    package struct UnreadableLine: Error, Equatable, Sendable {
        /// The line.
        package var line: Int

        /// A fault of that line.
        package init(line: Int) {
            self.line = line
        }
    }

    /// The text of the file: a heading, then a line for each, `beacon` or `switcher`, its identity and its code.
    package var text: String {
        let lines = beacons.map { beacon in
            "\(beacon.isSwitcher ? Self.switcherWord : Self.plainWord) \(beacon.identity) \(beacon.keyCode)"
        }
        return ([Self.heading] + lines).joined(separator: "\n") + "\n"
    }

    /// Reads such a text, whole or not at all.
    package init(text: String) throws(UnreadableLine) {
        self.init()
        var lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        guard lines.first.map(String.init) == Self.heading else { throw UnreadableLine(line: 1) }
        // The end of the last line is the proof that the text is whole.
        guard lines.removeLast().isEmpty else { throw UnreadableLine(line: lines.count + 1) }
        for (index, line) in lines.enumerated().dropFirst() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 3, [Self.switcherWord, Self.plainWord].contains(words[0]),
                let identity = BeaconIdentity(words[1]), KeyCodeText.isSound(words[2]), self[identity] == nil,
                beacons.count < Self.limits.upperBound
            else { throw UnreadableLine(line: index + 1) }
            beacons.append(Beacon(identity, keyCode: words[2], isSwitcher: words[0] == Self.switcherWord))
        }
    }
}
