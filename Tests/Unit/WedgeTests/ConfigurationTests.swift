// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Daemon
import Devices
import Keystrokes
import TestSupport
import Testing
import Texts
import Typing

@Suite("Configuration")
struct ConfigurationTests {
    private func faults(_ text: String) -> [String] {
        do throws(ConfigurationFaults) {
            _ = try Configuration(text: text)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    /// Test vector of Tests/Vectors/configuration-faults.txt.
    private struct Vector {
        var text = ""
        var faults: [String] = []
        var line = 0
    }

    private static func vectors() throws -> [Vector] {
        var all: [Vector] = []
        for line in try VectorFile.lines("configuration-faults.txt") {
            if line.text.hasPrefix("==") {
                all.append(Vector(line: line.number))
            } else if line.text.hasPrefix("! "), !all.isEmpty {
                all[all.count - 1].faults.append(String(line.text.dropFirst(2)))
            } else if !all.isEmpty {
                all[all.count - 1].text += line.text + "\n"
            }
        }
        return all
    }

    @Test("D-17: every fault of Tests/Vectors/configuration-faults.txt is named with its line, and none besides")
    func wrongTexts() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count > 40)
        for vector in vectors {
            let found = faults(vector.text)
            #expect(found.count == vector.faults.count, "vector of line \(vector.line): \(found)")
            for (fault, expected) in zip(found, vector.faults) {
                // A vector may contain only the beginning of the message.
                #expect(fault.hasPrefix(expected), "vector of line \(vector.line): \(fault)")
            }
        }
    }

    @Test("An empty file, and none, are the defaults")
    func empty() throws {
        #expect(try Configuration(text: "") == Configuration())
        #expect(Configuration().showsStatus)
        #expect(Configuration().allowsKeys)
        #expect(Configuration().refreshPeriod == .seconds(2))
        #expect(Configuration().maximumAge == .seconds(5))
        #expect(!Configuration().barcodeMode.isOn)
        #expect(Configuration().queue == .large)
    }

    @Test("D-17: every key is read as what it means")
    func everyKey() throws {
        let text = """
            adapter = "hci1"
            profile = "scale"
            security = "authenticated"
            table = "strict"
            layout = "jp"
            pace = "kms"
            stall = "50ms"
            queue = 64
            max-age = 0
            caps-lock = "ignore"
            verify = true
            to = "unix:/run/blewedge/wire"
            raw = "on"
            gated = "off"
            keys = "off"
            clear = "select-all"
            udev-keyboard = "off"
            status-line = false
            hook = "/usr/local/bin/event"
            gate.vt = 2
            scan = { refresh = "500ms" }

            [scan-mode]
            on = true
            terminator = "etx,0x1e"
            idle-gap = "20ms"
            min-length = 4
            max-length = 14
            prefix = "{f9}"
            suffix = "{tab}"
            duplicates = "1s"

            [advertised-address]
            offset = 4
            reversed = true

            [outputs.log]
            to = "pty:/run/blewedge/log"
            slow-reader = "drop-oldest"
            gated = true
            raw = false

            [profiles.scale]
            title = "Counter scale"
            service = "FFE0"
            from-device = "FFE1"
            table = "gs1-text"
            security = "encrypted"
            handshake = [{ send = "A5 $1", expect = "?2 *", within = "1s" }]
            """
        // A reference without a preceding capture is an error; with the correct number, there is none.
        #expect(faults(text).count == 1)
        let read = try Configuration(text: text.replacing("A5 $1", with: "A5 01"))
        var expected = Configuration()
        expected.adapter = .kernel(.index(ControllerIndex(rawValue: 1)))
        expected.profile = "scale"
        expected.security = .authenticated
        expected.table = "strict"
        expected.layout = "jp"
        expected.pace = .kms
        expected.stall = .milliseconds(50)
        expected.queue = .small
        expected.maximumAge = .zero
        expected.capsLock = .ignore
        expected.verifies = true
        expected.destinations = [.socket("/run/blewedge/wire")]
        expected.isGated = false
        var log = OutputTable(name: "log", destination: .terminal("/run/blewedge/log"))
        (log.slowReader, log.isGated, log.isRaw) = (.dropOldest, true, false)
        expected.ownOutputs = [log]
        expected.isRaw = true
        expected.allowsKeys = false
        expected.clearMethod = .selectAll
        expected.isUdevKeyboard = false
        expected.showsStatus = false
        expected.hook = "/usr/local/bin/event"
        expected.gateTerminal = 2
        expected.refreshPeriod = .milliseconds(500)
        expected.barcodeMode.isOn = true
        expected.barcodeMode.terminators = [0x03, 0x1E]
        expected.barcodeMode.idleGap = .milliseconds(20)
        expected.barcodeMode.minimumLength = 4
        expected.barcodeMode.maximumLength = 14
        expected.barcodeMode.prefix = "{f9}"
        expected.barcodeMode.suffix = "{tab}"
        expected.barcodeMode.duplicates = .seconds(1)
        expected.addressOffset = 4
        expected.isAddressReversed = true
        expected.ownProfiles = [
            Profile(
                name: "scale",
                title: "Counter scale",
                service: BluetoothUUID(0xFFE0 as UInt16),
                fromPeripheral: BluetoothUUID(0xFFE1 as UInt16),
                toPeripheral: BluetoothUUID(0xFFE1 as UInt16),
                handshake: [
                    ChatScript.Command(
                        send: try HexTemplate("A5 01", for: .command),
                        expect: try HexTemplate("?2 *", for: .reply),
                        timeout: .seconds(1)
                    )
                ],
                table: "gs1-text",
                security: .encrypted
            )
        ]
        #expect(read == expected)
        // The printed configuration is parsed to the same values, with and without comments.
        #expect(try Configuration(text: read.text(isCommented: false)) == read)
        #expect(try Configuration(text: read.text(isCommented: true)) == read)
    }

    @Test("X-14: a table of a device overrides keys of the file for this device alone, and is printed as it was read")
    func devices() throws {
        let text = """
            profile = "nordic"
            table = "strict"
            to = ["keyboard", "unix:/run/all"]

            [[device]]
            name = "counter"
            device = "LINBLE-Z1"
            profile = "linble"
            security = "encrypted"
            layout = "de"
            device-layout = "de"
            to = "keyboard"

            [[device]]
            name = "scale"
            keyboard = "own"
            table = "linble"
            """
        let read = try Configuration(text: text)
        #expect(read.parts.map(\.table?.name) == ["counter", "scale"])
        let (counter, scale) = (read.parts[0].configuration, read.parts[1].configuration)
        #expect(read.devices.map(\.device) == [.name("LINBLE-Z1"), nil])
        #expect(read.devices.map(\.hasOwnKeyboard) == [false, true])
        #expect([counter.profile, scale.profile, read.profile] == ["linble", "nordic", "nordic"])
        #expect([counter.table, scale.table, read.table] == ["strict", "linble", "strict"])
        #expect([counter.layout, scale.layout] == ["de", "us"])
        #expect([counter.deviceLayout, scale.deviceLayout] == [.de, .us])
        #expect([counter.security, scale.security] == [.encrypted, .none])
        #expect(counter.destinations == [.keyboard] && scale.destinations == read.destinations)
        #expect(read.devices[0].sets("security") && !read.devices[1].sets("security"))
        #expect(try Configuration(text: read.text(isCommented: false)) == read)
        #expect(try Configuration(text: read.text(isCommented: true)) == read)
        // A file without tables has one device, which has no name.
        let plain = try Configuration(text: "profile = \"nordic\"")
        #expect(plain.parts.count == 1 && plain.parts[0].table == nil && plain.parts[0].configuration == plain)
    }

    @Test("The outputs of a device's table replace all outputs of the file")
    func deviceOutputs() throws {
        let read = try Configuration(
            text: """
                [outputs.log]
                to = "unix:/run/log"
                [[device]]
                name = "a"
                [[device]]
                name = "b"
                to = ["keyboard", "unix:/run/b"]
                """
        )
        #expect(
            read.parts.map { $0.configuration.outputs.map { "\($0.destination)" } } == [
                ["keyboard", "unix:/run/log"], ["keyboard", "unix:/run/b"],
            ]
        )
    }

    @Test("D-17: config show --commented names every key, and reads as the defaults")
    func commented() throws {
        let text = Configuration().text(isCommented: true)
        #expect(try Configuration(text: text) == Configuration())
        // Uncommenting the lines sets each key to its default or to the example.
        let uncommented = text.split(separator: "\n").map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") && line != "#" ? line.dropFirst() : line
        }
        let filled = try Configuration(text: uncommented.joined(separator: "\n"))
        #expect(filled.adapter == .kernel(.index(ControllerIndex(rawValue: 0))))
        #expect(filled.ownProfiles.map(\.name) == ["scale", "thermometer"])
        // The keys for servers are omitted unless beacons are configured.
        var beacons = Configuration()
        beacons.beacons.regionsFile = "/etc/blewedge/regions"
        let whole = beacons.text(isCommented: true)
        for key in ConfigurationKey.all where key.path != "beacons.regions" {
            #expect(whole.contains("\n#\(key.name) = "), "\(key.path)")
        }
        let longest = text.split(separator: "\n").filter { $0.hasPrefix("# ") }.map(\.count).max()
        #expect(longest ?? 0 <= 130)
    }

    @Test(
        "LK-15, D-32: by default every serial service is tried, those of the file first; a configured profile is tried alone"
    )
    func defaultProfile() throws {
        func profiles(_ text: String) throws -> [String] {
            try Configuration(text: text).settings(device: nil).profiles.map(\.name)
        }
        let own = "[profiles.scale]\nservice = \"FFE0\"\nfrom-device = \"FFE1\"\n"
        let known = [
            "linble", "nordic", "microbit", "microchip", "hm10", "ublox", "ti", "ti-stream", "csr", "keyboard",
            "weight-scale",
        ]
        #expect(try profiles("") == known)
        #expect(try profiles("profile = \"auto\"\n") == known)
        #expect(try profiles(own) == ["scale"] + known)
        #expect(try profiles("profile = \"linble\"\n" + own) == ["linble"])
        #expect(try profiles("profile = \"scale\"\n" + own) == ["scale"])
        #expect(Configuration().tableName(try Configuration().profiles()) == "linble")
        #expect(Configuration().text(isCommented: true).contains("#profile = \"auto\""))
    }

    @Test("The least security is the configuration's, or that of all profiles, whatever the adapter is")
    func leastSecurity() throws {
        func least(_ text: String) throws -> GATTLinkSecurity.Level {
            try Configuration(text: text).settings(device: nil).security
        }
        let profile = "[profiles.scale]\nservice = \"FFE0\"\nfrom-device = \"FFE1\"\nsecurity = \"encrypted\"\n"
        #expect(try least("") == .none)
        #expect(try least("security = \"authenticated\"\nprofile = \"scale\"\n" + profile) == .authenticated)
        #expect(try least("profile = \"scale\"\n" + profile) == .encrypted)
        // The automatically chosen profile may have lower requirements.
        #expect(try least("profile = \"auto\"\n" + profile) == .none)
        for adapter in ["user:hci0", "h4:unix:/tmp/line"] {
            #expect(try least("adapter = \"\(adapter)\"\nsecurity = \"encrypted\"\n") == .encrypted)
            #expect(try least("adapter = \"\(adapter)\"\n") == .none)
        }
    }

    @Test("D-17: random choices of values survive writing and reading")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 17)
        func some<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &generator)] }
        for _ in 0..<300 {
            var configuration = Configuration()
            configuration.adapter = some([
                .any, .kernel(.index(ControllerIndex(rawValue: 3))),
                .kernel(.address(BluetoothAddress(rawValue: 0x1234_5678_9ABC))),
                .userChannel(ControllerIndex(rawValue: 1)),
            ])
            configuration.profile = some(["linble", "auto", "ublox", "/etc/blewedge/mine.toml"])
            configuration.table = some([nil, "strict", "/tmp/a \"b\" \\ ü"])
            configuration.pace = some(Pace.Profile.allCases)
            configuration.stall = some([nil, .milliseconds(7), .zero])
            configuration.maximumAge = .milliseconds(Int.random(in: 0...3_600_000, using: &generator))
            configuration.verifies = some([true, false])
            configuration.hook = some([nil, "/bin/true"])
            configuration.gateTerminal = some([nil, 1, 63])
            configuration.barcodeMode.isOn = some([true, false])
            configuration.barcodeMode.terminators = Set(
                (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
            )
            configuration.barcodeMode.suffix = some([nil, "", "{enter}", "\"#"])
            configuration.addressOffset = some([nil, 0, 1644])
            configuration.isAddressReversed = some([true, false])
            configuration.destinations = some([
                [.standardOutput], [.terminal("/tmp/x")], [.keyboard, .socket("/a")],
                [.socket("/a"), .keyboard, .standardOutput],
            ])
            configuration.isGated = some([true, false])
            if some([true, false]) {
                var output = OutputTable(name: some(["log", "a-1"]), destination: .socket("/b \"c\" ü"))
                output.slowReader = some([nil, .wait, .dropOldest])
                output.isGated = some([nil, true, false])
                output.isRaw = some([nil, true, false])
                configuration.ownOutputs = [output]
            }
            configuration.isRaw = some([true, false])
            #expect(try Configuration(text: configuration.text(isCommented: false)) == configuration)
            #expect(try Configuration(text: configuration.text(isCommented: true)) == configuration)
        }
    }

    @Test("D-17: neither random bytes nor a cut or garbled file traps; what is left of a file is read or refused")
    func hostile() {
        var generator = SeededGenerator(seed: 18)
        var whole = Configuration()
        whole.hook = "/bin/true"
        whole.barcodeMode.prefix = "{f9}"
        let text = whole.text(isCommented: true)
        let bytes = Array(text.utf8)
        for _ in 0..<300 {
            var wrong = bytes
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                wrong[Int.random(in: 0..<wrong.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = faults(String(decoding: wrong, as: UTF8.self))
            _ = faults(
                String(decoding: bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)), as: UTF8.self)
            )
        }
        _ = faults(String(repeating: "[", count: 60_000))
        _ = faults("a = " + String(repeating: "[", count: 60_000))
        #expect(faults(String(repeating: "#", count: 64 * 1024 + 1)) == ["longer than 65536 bytes"])
    }
}
