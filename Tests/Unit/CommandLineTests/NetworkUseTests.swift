// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("The use of a network", .timeLimit(.minutes(10)))
struct NetworkUseTests {
    private static let server = """
        [beacons]
        server = "https://beacons.example.com/v1"
        app-code-file = "/etc/blewedge/app-code"

        """

    private static func guide(_ configuration: String, language: String) throws -> String {
        let directory = try TestDirectory()
        try directory.write(configuration, to: "blewedge.toml")
        let words = ["guide", "--language", language, "--socket", directory("none")]
        let outcome = try RunningProgram(words, environment: directory.environment).end()
        // Joins the lines of each paragraph.
        return outcome.output.split(separator: "\n").joined(separator: language == "en" ? " " : "")
    }

    @Test(
        "LK-12, HK-7: the guide names the network connections of the configuration: none, a beacon server, a controller",
        arguments: [
            ("", ["No network connection is used.", "ネットワークは使用しません。"]),
            (server, ["Network: https://beacons.example.com/v1 receives", "https://beacons.example.com/v1 へ送信します"]),
            (
                "adapter = \"h4:tcp:127.0.0.1:9\"\n",
                ["at the TCP address h4:tcp:127.0.0.1:9.", "TCPで接続します: h4:tcp:127.0.0.1:9"]
            ), ("layuot = 1\n", ["Network: unknown", "読み取れないため不明です"]),
        ]
    )
    func guide(configuration: String, expected: [String]) throws {
        for (language, text) in zip(["en", "ja"], expected) {
            let guide = try Self.guide(configuration, language: language)
            #expect(guide.contains(text), "\(guide)")
            let isNone = guide.contains("No network") || guide.contains("ネットワークは使用しません")
            #expect(isNone == configuration.isEmpty)
        }
    }
}
