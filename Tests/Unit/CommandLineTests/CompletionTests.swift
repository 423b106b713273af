// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Devices
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import blewedge

@Suite("Completions of the shells", .timeLimit(.minutes(10)))
struct CompletionTests {
    /// Returns the completions that the program offers a shell for an argument.
    private static func offered(
        _ command: [String],
        _ argument: String,
        prefix: String = "",
        shell: String = "bash",
        in directory: TestDirectory
    ) throws -> [String] {
        let words = ["blewedge"] + command + [prefix]
        let outcome = try run(
            ["---completion"] + command + ["--", argument, "\(words.count - 1)", "\(prefix.count)"] + words,
            environment: directory.environment + ["SAP_SHELL=\(shell)"]
        )
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    /// Creates a directory with a selected device and three recently connected ones.
    private static func directory() throws -> TestDirectory {
        let directory = try TestDirectory()
        let address = try #require(BluetoothAddress("F0:F1:F2:F3:F4:F5"))
        try ChoiceStore(FilePath(directory("selection"))).write(
            SelectedDevice(DeviceAddress(address, .random), name: "LINBLE-TEST")
        )
        let store = KnownDeviceStore(FilePath(directory("devices")))
        for (text, name) in [
            ("00:1D:12:00:01:20", "LT01 BC000120"), ("00:1D:12:00:01:21", "$(touch evil)"),
            ("00:1D:12:00:01:22", nil),
        ] {
            try store.note(DeviceAddress(try #require(BluetoothAddress(text)), .public), name: name)
        }
        return directory
    }

    @Test(
        "Known devices are offered by name and address, a name that a shell would expand by its address only",
        arguments: [
            (["use"], "positional@0"), (["pair"], "positional@0"), (["gatt"], "positional@0"), (["run"], "--device"),
        ]
    )
    func devices(command: [String], argument: String) throws {
        let words = try Self.offered(command, argument, in: try Self.directory())
        #expect(words.prefix(2) == ["LINBLE-TEST", "F0:F1:F2:F3:F4:F5"])
        #expect(Set(words).isSuperset(of: ["LT01 BC000120", "00:1D:12:00:01:20", "00:1D:12:00:01:21"]))
        #expect(words.count == 6, "\(words)")
    }

    @Test("zsh gets addresses with escaped colons")
    func zsh() throws {
        let words = try Self.offered(["forget"], "positional@0", shell: "zsh", in: try Self.directory())
        #expect(words.first == "F0\\:F1\\:F2\\:F3\\:F4\\:F5", "\(words)")
    }

    @Test("A running daemon names its selected device")
    func daemon() throws {
        let directory = try TestDirectory()
        _ = try FakeDaemon.run(at: directory("control")) { script in
            script.status.withLock {
                $0 = [("name", "SCALE-15K"), ("address", "F0:F1:F2:F3:F4:F7"), ("addressType", "random")]
            }
            let words = try Self.offered(["use"], "positional@0", in: directory)
            #expect(words == ["SCALE-15K", "F0:F1:F2:F3:F4:F7"])
        }
    }

    @Test("Profiles, tables and layouts are offered by their names, the first two also as files")
    func names() throws {
        let directory = try TestDirectory()
        try directory.write("", to: "mine.table")
        let profiles = try Self.offered(["run"], "--profile", in: directory)
        #expect(Set(profiles).isSuperset(of: ["linble", "nordic", "hm10", "auto"]))
        #expect(try Self.offered(["profiles"], "positional@0", in: directory).contains("ti-stream"))
        let tables = try Self.offered(["table", "show"], "positional@0", prefix: directory("mi"), in: directory)
        #expect(tables.contains("gs1-text") && tables.contains(directory("mine.table")), "\(tables)")
        #expect(try Self.offered(["run"], "--table", in: directory).contains("strict"))
        for command in [["run"], ["table", "check"], ["doctor"]] {
            let layouts = try Self.offered(command, "--layout", in: directory)
            #expect(Set(layouts).isSuperset(of: ["us", "jp(OADG109A)", "de", "console"]), "\(layouts)")
        }
    }

    @Test("bash completes a device's name through the script, and expands nothing in it")
    func bash() throws {
        let directory = try Self.directory()
        let outcome = try run(
            [],
            environment: directory.environment + ["PATH=/usr/bin:/bin"],
            prelude: #"""
                cd "$HOME"; command -v bash >/dev/null || exit 69
                bash -c '. <("$0" completions bash)
                    COMP_WORDS=("$0" use L) COMP_CWORD=2 COMP_LINE="$0 use L" COMP_POINT=${#COMP_LINE}
                    _blewedge "$0" L use; printf "%s\n" "${COMPREPLY[@]}"
                    COMP_WORDS=("$0" use "") COMP_LINE="$0 use " COMP_POINT=${#COMP_LINE}
                    _blewedge "$0" "" use; ls' "$0"; exit
                """#
        )
        guard outcome.status != 69 else { return }
        let words = outcome.output.split(separator: "\n")
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        #expect(words == ["LINBLE-TEST", "LT01 BC000120", "devices", "selection"], "\(words)")
    }
}
