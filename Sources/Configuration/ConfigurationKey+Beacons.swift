// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import Devices
import Texts

extension ConfigurationKey {
    /// The keys of `[beacons]`.
    static let beaconKeys: [ConfigurationKey] = [
        text(
            "beacons.regions",
            \.beacons.regionsFile,
            """
            The file of the regions: lines such as `static UUID name`, `dynamic UUID/MAJOR name` and \
            `key UUID/MAJOR/MINOR code`. Not set, there are none.
            """,
            example: "/etc/blewedge/regions"
        ),
        word(
            "beacons.watch",
            \.beacons.watched,
            "The regions that the daemon watches from its start, with commas between: \(names(BeaconMonitor.Group.self)).",
            wanted: "words of \(names(BeaconMonitor.Group.self)), with commas between",
            example: "initial, designated",
            read: { words($0) { BeaconMonitor.Group(rawValue: $0) } },
            write: { $0.isEmpty ? nil : $0.map(\.rawValue).joined(separator: ", ") }
        ),
        word(
            "beacons.tell",
            \.beacons.options,
            "What is told of them, with commas between: \(WatchOptions.named.map(\.word).joined(separator: ", ")).",
            wanted: "words of \(WatchOptions.named.map(\.word).joined(separator: ", ")), with commas between",
            read: {
                words($0) { word in WatchOptions.named.first { $0.word == word }?.option }.map { WatchOptions($0) }
            },
            write: { options in
                WatchOptions.named.filter { options.contains($0.option) }.map(\.word).joined(separator: ", ")
            }
        ),
        time(
            "beacons.enter-within",
            \.beacons.entryWindow,
            .milliseconds(100) ... .seconds(60),
            "The longest time between the two sightings that enter a region."
        ),
        time(
            "beacons.exit-after",
            \.beacons.exitSilence,
            .seconds(1) ... .seconds(3600),
            "The silence after which a region is left."
        ),
        word(
            "beacons.path-loss",
            \.beacons.pathLoss,
            "The exponent by which metres are estimated: 2 in the open, 1.5 in a corridor, 3 and more among people.",
            wanted: "a number from 1.0 to 6.0 in quotes",
            read: { Double($0).flatMap { BeaconConfiguration.pathLosses.contains($0) ? $0 : nil } },
            write: { "\($0)" }
        ),
        number(
            "beacons.max-designated",
            \.beacons.mostDesignated,
            DesignatedBeacons.limits,
            "The most beacons that can be designated."
        ),
        number(
            "beacons.update-interval",
            \.beacons.updateInterval,
            BeaconConfiguration.updateIntervals,
            "The hours between two fetches of the server's regions; sooner ones are refused (1500)."
        ),
        flag(
            "beacons.test-mode",
            \.beacons.isTest,
            "Whether the server is told that this is a test, and may be sent test logs."
        ),
        constant("beacons.edition", \.beacons.edition, "The edition that the server is told."),
        constant("beacons.version", \.beacons.version, "The version that the server is told."),
        text(
            "beacons.app-code-file",
            \.beacons.appCodeFile,
            "The file of the code that the server knows this board by, readable by its owner alone.",
            example: "/etc/blewedge/app-code"
        ),
        text(
            "beacons.server",
            \.beacons.server,
            "The server's address. Not set, nothing is ever sent to anybody.",
            example: "https://beacons.example.com/v1"
        ),
        word(
            "beacons.advertise",
            \.beacons.advertised,
            "The beacon that the daemon is itself: UUID/MAJOR/MINOR. Not set, none.",
            wanted: "a beacon such as \"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2\"",
            example: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2",
            read: { text in BeaconIdentity(text).map { .some($0) } },
            write: { $0.map { "\($0)" } }
        ),
        choice("beacons.advertise-format", \.beacons.advertisedFormat, "The frame in which it is that."),
        number(
            "beacons.advertise-power",
            \.beacons.advertisedPower,
            Int(BeaconFrame.measuredPowers.lowerBound)...Int(BeaconFrame.measuredPowers.upperBound),
            "The strength in dBm at one metre that it tells: to be measured with the board's own antenna."
        ),
    ]

    /// The keys that mean something to a server only.
    static let serversKeys: Set = [
        "beacons.update-interval", "beacons.test-mode", "beacons.edition", "beacons.version",
    ]

    /// A text that a server tells a genuine program by: no other than the default is allowed.
    private static func constant(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, String> & Sendable,
        _ summary: String
    ) -> ConfigurationKey {
        let only = Configuration()[keyPath: path]
        return word(name, path, summary, wanted: quoted(only), read: { $0 == only ? $0 : nil }, write: { $0 })
    }

    /// The values of words with commas between, each once; nil where one is none, or there is none at all.
    private static func words<Value>(_ text: String, _ read: (String) -> Value?) -> [Value]? {
        let words = text.split(separator: ",").map { $0.filter { $0 != " " } }
        let values = words.compactMap(read)
        return words.isEmpty || values.count < words.count || Set(words).count < words.count ? nil : values
    }
}
