// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import TestSupport
import Testing

@Suite("config check")
struct ConfigCheckTests {
    @Test(
        "D-17: config check names the line of what a file names wrongly, and of a key without effect",
        arguments: [
            ("\nhook = \"/nowhere/hook\"\n", 2, "hook /nowhere/hook is not an executable program"),
            ("hook = \"/proc/version\"\n", 1, "hook /proc/version is not an executable program"),
            ("layout = \"nosuch\"\n", 1, "layout nosuch"),
            ("# x\ntable = \"/nowhere/table\"\n", 2, "cannot read the table /nowhere/table"),
            ("profile = \"nowhere.toml\"\n", 1, "/nowhere.toml: "),
            ("table = \"nowhere\"\n", 1, "/nowhere: "),
            ("[scanmode]\non = true\n", 1, "is \"scan-mode\" meant?"),
            (
                "[profiles.x]\nservice = \"1234\"\nfrom-device = \"1235\"\ntable = \"gs1\"\n", 1,
                "profiles.x.table has no effect without profile"
            ),
            ("[scan-mode]\non = true\nsuffix = \"{return}\"\n", 3, "is \"enter\" meant?"),
            ("[scan-mode]\non = true\nprefix = \"{entr}\"\n", 3, "is \"enter\" meant?"),
            ("[scan-mode]\nsuffix = \"{tab}\"\n", 2, "scan-mode.suffix has no effect without scan-mode.on"),
            ("[scan-mode]\nduplicates = \"2s\"\n", 2, "scan-mode.duplicates has no effect without scan-mode.on"),
            ("[advertised-address]\nreversed = true\n", 2, "without advertised-address.offset"),
            ("slow-reader = \"wait\"\n", 1, "slow-reader has no effect without to"),
            ("[beacons]\nregions = \"/nowhere/regions\"\n", 2, "/nowhere/regions"),
            ("device = \"LINBLE-TEST\"\n", 1, "`blewedge use DEVICE` chooses the device"),
            ("suffix = \"x\"\n", 1, "it is a key of [scan-mode]"),
            ("[gate]\nlayout = \"jp\"\n", 2, "it belongs above the first table"),
        ]
    )
    func faults(text: String, line: Int, words: String) throws {
        let directory = try TestDirectory()
        try directory.write(text, to: "x.toml")
        let outcome = try run(["config", "check", directory("x.toml")], environment: directory.environment)
        #expect(outcome.status == 78)
        #expect(outcome.error.contains("x.toml: line \(line): ") && outcome.error.contains(words), "\(outcome.error)")
    }

    @Test("D-17: config check names every fault, and passes what is right and what `config show` prints")
    func right() throws {
        let directory = try TestDirectory()
        try directory.write("layout = \"nosuch\"\n[scan-mode]\nsuffix = \"{return}\"\n", to: "x.toml")
        let both = try run(["config", "check", directory("x.toml")], environment: directory.environment)
        #expect(
            both.status == 78 && both.error.contains("line 1: ") && both.error.contains("line 3: "),
            "\(both.error)"
        )
        try directory.write(
            "hook = \"/bin/true\"\nlayout = \"de\"\n[scan-mode]\non = false\nsuffix = \"{tab}\"\n",
            to: "y.toml"
        )
        for file in ["y.toml", "z.toml"] {
            let outcome = try run(["config", "check", directory(file)], environment: directory.environment)
            #expect(outcome.status == 0, "\(outcome.error)")
            let shown = try run(["config", "show", directory("y.toml")], environment: directory.environment)
            try directory.write(shown.output, to: "z.toml")
        }
    }

    @Test("Relative names of files in a configuration or a profile are relative to its directory")
    func relativeFiles() throws {
        let directory = try TestDirectory()
        try #require(mkdir(directory("set"), 0o700) == 0)
        try directory.write("base = strict\n", to: "set/my.table")
        try directory.write("service = \"1234\"\nfrom-device = \"1235\"\ntable = \"my.table\"\n", to: "set/my.profile")
        for text in [
            "table = \"my.table\"\n", "profile = \"my.profile\"\n",
            "profile = \"x\"\n[profiles.x]\nservice = \"1234\"\nfrom-device = \"1235\"\ntable = \"my.table\"\n",
        ] {
            try directory.write(text, to: "set/x.toml")
            let right = try run(["config", "check", directory("set/x.toml")], environment: directory.environment)
            #expect(right.status == 0, "\(right.error)")
            try directory.write(text, to: "x.toml")
            let wrong = try run(
                ["config", "check", directory("x.toml")],
                environment: directory.environment,
                prelude: "cd \(directory("set"))"
            )
            #expect(wrong.status == 78 && wrong.error.contains(directory("my.")), "\(wrong.error)")
        }
    }

    @Test(
        "--profile takes the name of a file as --table does",
        arguments: [("--profile", "x.toml"), ("--table", "x.toml")]
    )
    func files(option: String, file: String) throws {
        let directory = try TestDirectory()
        try directory.write("what is this\n", to: "x.toml")
        let outcome = try run(
            ["run", "--device", "A", "--security", "none", "--to", "stdout", option, file],
            environment: directory.environment,
            prelude: "cd \(directory.path)"
        )
        #expect(outcome.status == 78)
        #expect(outcome.error.contains("x.toml: line 1"), "\(outcome.error)")
    }

    @Test("What a server is told is in the configuration that is shown once there are beacons, and not before")
    func edition() throws {
        let directory = try TestDirectory()
        for words in [["config", "show"], ["config", "show", "--commented"]] {
            try directory.write("", to: "blewedge.toml")
            #expect(!(try run(words, environment: directory.environment).output.contains("edition")))
            try directory.write("[beacons]\nregions = \"/etc/blewedge/regions\"\n", to: "blewedge.toml")
            #expect(try run(words, environment: directory.environment).output.contains("edition = \"SWAMP\""))
        }
    }
}
