// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Devices
import Testing
import Typing

/// The least and the greatest value of each key, and its neighbours, which are refused.
@Suite("Limits of the configuration")
struct ConfigurationLimitTests {
    private static func isRead(_ text: String) throws -> Bool {
        do throws(ConfigurationFaults) {
            let read = try Configuration(text: text)
            #expect(try Configuration(text: read.text(isCommented: false)) == read)
            return true
        } catch {
            #expect(error.faults.count == 1, "\(text): \(error.faults)")
            return false
        }
    }

    /// Keys with ranges that the manual page blewedge.toml(5) gives.
    private static let ranges: [(key: String, right: [String], wrong: [String])] = [
        ("max-age", ["0", "3600", "\"3600s\"", "\"1ms\""], ["-1", "3601", "\"3600001ms\""]),
        ("early-reports", ["\"0s\"", "\"1000ms\""], ["\"1001ms\""]),
        ("gate.vt", ["1", "63"], ["0", "64"]),
        ("scan.refresh", ["\"100ms\"", "\"3600s\""], ["\"99ms\"", "\"3601s\""]),
        ("scan-mode.min-length", ["0", "1"], ["-1", "65537"]),
        ("scan-mode.max-length", ["65536"], ["65537"]),
        ("scan-mode.duplicates", ["\"0s\"", "\"3600s\""], ["\"3601s\""]),
        ("scan-mode.idle-gap", ["\"1ms\"", "\"3600s\""], ["\"0s\"", "\"3601s\""]),
        ("advertised-address.offset", ["0", "1644"], ["-1", "1645"]),
        ("beacons.enter-within", ["\"100ms\"", "\"60s\""], ["\"99ms\"", "\"61s\""]),
        ("beacons.exit-after", ["\"1s\"", "\"3600s\""], ["\"999ms\"", "\"3601s\""]),
        ("beacons.path-loss", ["\"1.0\"", "\"6.0\""], ["\"0.9\"", "\"6.1\"", "2"]),
        ("beacons.max-designated", ["1", "1000"], ["0", "1001"]),
        ("beacons.update-interval", ["1", "8760"], ["0", "8761"]),
        ("beacons.advertise-power", ["-100", "-10"], ["-101", "-9"]),
        (
            "beacons.auid", ["\"a\"", "\"\(String(repeating: "a", count: 128))\""],
            [
                "\"\"", "\"\(String(repeating: "a", count: 129))\"",
            ]
        ),
        ("hook", ["\"/a b\"", "\"/~\""], ["\"/a\\u001F\"", "\"/\\u007F\"", "\"\\u0000\""]),
        (
            "to",
            [
                "\"unix:/\(String(repeating: "a", count: 106))\"", "\"pty:/a\"", "\"stdout\"",
                "[\(outputs(8))]",
            ], ["\"unix:/\(String(repeating: "a", count: 107))\"", "\"pty:a\"", "\"unix:\"", "[\(outputs(9))]"]
        ),
    ]

    private static func outputs(_ count: Int) -> String {
        (0..<count).map { "\"unix:/\($0)\"" }.joined(separator: ", ")
    }

    @Test("Each key is read at the limits of its range, and refused beyond them", arguments: ranges.indices)
    func keys(index: Int) throws {
        let range = Self.ranges[index]
        for value in range.right { #expect(try Self.isRead("\(range.key) = \(value)\n"), "\(range.key) = \(value)") }
        for value in range.wrong { #expect(try !Self.isRead("\(range.key) = \(value)\n"), "\(range.key) = \(value)") }
    }

    private static func profile(_ more: String, name: String = "scale") -> String {
        "[profiles.\(name)]\nservice = \"FFE0\"\nfrom-device = \"FFE1\"\n" + more + "\n"
    }

    private static func handshake(_ members: String...) -> String {
        profile("handshake = [\(members.map { "{ \($0) }" }.joined(separator: ", "))]")
    }

    private static func framing(_ text: String) -> String { profile("[profiles.scale.framing]\n" + text) }

    private static func hex(_ count: Int) -> String { String(repeating: "02 ", count: count) }

    @Test("A handshake is read at the limits of its commands, bytes, times and keys, and refused beyond them")
    func handshakes() throws {
        let long = { (count: Int) in "send = '\"\(String(repeating: "a", count: count))\"'" }
        let texts: [(text: String, isRight: Bool)] = [
            (Self.handshake("send = '01', attempts = 1"), true), (Self.handshake("send = '01', attempts = 10"), true),
            (Self.handshake("send = '01', attempts = 0"), false), (Self.handshake("send = '01', attempts = 11"), false),
            (Self.handshake("send = '01', within = '10ms'"), true),
            (Self.handshake("send = '1', within = '1s'"), false),
            (Self.handshake("send = '01', within = '60s'"), true),
            (Self.handshake("send = '01', within = '9ms'"), false),
            (Self.handshake("send = '01', xor = '\(Self.hex(1))'"), true),
            (Self.handshake("send = '01', xor = ''"), false),
            (Self.handshake("send = '01', xor = '\(Self.hex(64))'"), true),
            (Self.handshake("send = '01', xor = '\(Self.hex(65))'"), false),
            (Self.handshake(long(256)), true), (Self.handshake(long(257)), false),
            (Self.handshake("expect = '01'"), true), (Self.handshake("within = '1s'"), false),
            (Self.handshake("expect = '?1'", "send = '$1'"), true), (Self.handshake("send = '$1'"), false),
            (Self.handshake("expect = '?1 $1'"), true), (Self.handshake("expect = '?9'", "send = '$9'"), true),
            (Self.handshake("expect = '?1'", "send = '$2'"), false), (Self.handshake("expect = '?0'"), false),
            (
                Self.profile("handshake = [\(Array(repeating: "{ send = '01' }", count: 32).joined(separator: ","))]"),
                true
            ),
            (
                Self.profile("handshake = [\(Array(repeating: "{ send = '01' }", count: 33).joined(separator: ","))]"),
                false
            ),
            (Self.profile("handshake = [1]"), false), (Self.profile("handshake = []"), true),
        ]
        for (text, isRight) in texts { #expect(try Self.isRead(text) == isRight, "\(text)") }
    }

    @Test("A framing is read at the limits of its parts, and refused beyond them")
    func framings() throws {
        let texts: [(text: String, isRight: Bool)] = [
            ("end = '03'", true), ("end = ''", false), ("end = '\(Self.hex(16))'", true),
            ("end = '\(Self.hex(17))'", false), ("end = '03'\nstart = '\(Self.hex(16))'", true),
            ("end = '03'\nstart = '\(Self.hex(17))'", false), ("end = '03'\nheader = 16", true),
            ("end = '03'\nheader = 17", false), ("end = '03'\nheader = -1", false), ("length-bytes = 1", true),
            ("length-bytes = 2", true), ("length-bytes = 0", false), ("length-bytes = 3", false),
            ("length-bytes = 1\nlength-surplus = 64", true), ("length-bytes = 1\nlength-surplus = 65", false),
            ("end = '03'\nmax-payload = 1", true), ("end = '03'\nmax-payload = 1024", true),
            ("end = '03'\nmax-payload = 0", false), ("end = '03'\nmax-payload = 1025", false),
            ("length-bytes = 1\nchecksum = 'xor'\nheader = 1\nchecksum-from = 1", true),
            ("length-bytes = 1\nchecksum = 'xor'\nheader = 1\nchecksum-from = 2", false),
            ("length-bytes = 1\nchecksum = 'xor'\nheader = 16\nstart = '\(Self.hex(16))'\nchecksum-from = 32", true),
            ("length-bytes = 1\nchecksum = 'xor'\nheader = 16\nstart = '\(Self.hex(16))'\nchecksum-from = 33", false),
            ("length-bytes = 1\nkeep-end = true", false), ("end = '03'\nkeep-end = true", true),
        ]
        for (text, isRight) in texts { #expect(try Self.isRead(Self.framing(text)) == isRight, "\(text)") }
    }

    @Test("There are at most 32 profiles, 8 outputs and 64 KiB, and names have at most 32 letters")
    func sizes() throws {
        func profiles(_ count: Int) -> String { (0..<count).map { Self.profile("", name: "p\($0)") }.joined() }
        func outputs(_ count: Int) -> String {
            (0..<count).map { "[outputs.o\($0)]\nto = \"unix:/\($0)\"\n" }.joined()
        }
        func name(_ count: Int) -> String { String(repeating: "z", count: count) }
        let texts: [(text: String, isRight: Bool)] = [
            (profiles(32), true), (profiles(33), false), ("to = 'stdout'\n" + outputs(7), true),
            ("to = 'stdout'\n" + outputs(8), false), (outputs(9), false),
            (Self.profile("", name: name(32)), true), (Self.profile("", name: name(33)), false),
            (Self.profile("", name: "a-z-0-9"), true), (Self.profile("", name: "\"a_\""), false),
            (Self.profile("", name: "\"\""), false), (Self.profile("", name: "keyboard"), false),
            (Self.profile("", name: "auto"), false), ("[outputs.\(name(32))]\nto = 'stdout'\n", true),
            ("[outputs.\(name(33))]\nto = 'stdout'\n", false),
            (String(repeating: "#", count: 65_536), true), (String(repeating: "#", count: 65_537), false),
        ]
        for (text, isRight) in texts { #expect(try Self.isRead(text) == isRight, "\(text.prefix(60))") }
        let plain = "service = \"FFE0\"\nfrom-device = \"FFE1\"\n#"
        let whole = plain + String(repeating: "#", count: 65_536 - plain.utf8.count)
        #expect(try Profile(text: whole, name: "a").title == "a")
        #expect(throws: ConfigurationFaults.self) { try Profile(text: whole + "#", name: "a") }
    }

    @Test("A profile is written with all of its keys that are not the defaults")
    func profileTexts() throws {
        let plain = """
            title = "a"
            service = "FFE0"
            from-device = "FFE1"
            to-device = "FFE1"

            """
        let least = try Profile(text: "service = \"FFE0\"\nfrom-device = \"FFE1\"\n", name: "a")
        #expect(least.text() == plain && least.text(at: "x") == "[x]\n" + plain)
        let whole = """
            title = "Scale"
            service = "FFE0"
            from-device = "FFE1"
            to-device = "FFE2"
            security = "authenticated"
            table = "strict"

            [[handshake]]
            send = "01"
            within = "10ms"
            attempts = 3
            xor = "5A"

            [[handshake]]
            expect = "?1 *"
            within = "2s"
            attempts = 1

            [framing]
            start = "02"
            header = 1
            length-bytes = 2
            length-high-first = true
            length-surplus = 3
            end = "0D0A"
            checksum = "xor"
            checksum-from = 1
            checksum-behind-end = true
            keep-end = true
            max-payload = 100

            """
        #expect(try Profile(text: whole, name: "a").text() == whole)
        let other = whole.replacing("high-first = true", with: "high-first = false")
            .replacing("behind-end = true", with: "behind-end = false").replacing("keep-end = true\n", with: "")
        #expect(try Profile(text: other, name: "a").text() == other)
        let framing = "[framing]\nend = \"03\"\n"
        #expect(try Profile(text: plain + framing, name: "a").text() == plain + "\n" + framing + "max-payload = 1024\n")
    }

    @Test("A profile of values is written as it is parsed, with each key and without keys that have their default")
    func values() throws {
        let whole = """
            title = "t"
            advertised = "manufacturer 0499"
            table = "strict"

            [value]
            format = "number"
            text = "{{{quantity}}}: {value:.3} {unit}"
            type = "request"
            quantity = "load"
            offset = 255
            form = "signed"
            length = 7
            high-first = true
            exponent = -18
            unit = "kg"
            stable = "0:20"
            removed = "255:!80"
            overload = "1:FF"

            """
        #expect(try Profile(text: whole, name: "a").text() == whole)
        let least = "service = \"FFE0\"\nfrom-device = \"FFE1\"\n[value]\nformat = \"number\"\n"
        let written = "[value]\nformat = \"number\"\noffset = 0\nform = \"unsigned\"\nlength = 2\n"
        #expect(try Profile(text: least, name: "a").text().hasSuffix("\n\n" + written))
        for form in ["sfloat 2", "float 4", "digits 8"].map({ $0.split(separator: " ") }) {
            let own = least + "form = \"\(form[0])\"\n"
            #expect(try Profile(text: own, name: "a").text().hasSuffix("form = \"\(form[0])\"\nlength = \(form[1])\n"))
        }
        for profile in Profile.builtIn where profile.values != nil {
            #expect(try Profile(text: profile.text(), name: profile.name) == profile)
        }
    }

    @Test("`auto` includes the own profiles of devices to connect to, and no profile of a device that only advertises")
    func automatic() throws {
        let text = """
            [profiles.connected]
            service = "FFE0"
            from-device = "FFE1"
            [profiles.advertised]
            advertised = "service-data FCD2"
            [profiles.advertised.value]
            format = "bthome"
            """
        let names = try Configuration(text: text).profiles().map(\.name)
        #expect(names == ["connected"] + Profile.serial.map(\.name) + ["keyboard", "weight-scale"])
        let own = try Configuration(text: "profile = \"advertised\"\n" + text).profiles()
        #expect(own.map(\.name) == ["advertised"] && own.first?.advertised == .serviceData(0xFCD2))
    }

    @Test("The built-in profiles have the UUIDs of their manufacturers' documents")
    func builtIn() {
        let uuids = Profile.automatic.map { "\($0.name) \($0.service) \($0.fromPeripheral) \($0.toPeripheral)" }
        let nordic = "B5A3-F393-E0A9-E50E24DCCA9E"
        #expect(
            uuids == [
                "linble 27ADC9CA-35EB-465A-9154-B8FF9076F3E8 27ADC9CB-35EB-465A-9154-B8FF9076F3E8 "
                    + "27ADC9CC-35EB-465A-9154-B8FF9076F3E8",
                "nordic 6E400001-\(nordic) 6E400003-\(nordic) 6E400002-\(nordic)",
                "microbit 6E400001-\(nordic) 6E400002-\(nordic) 6E400003-\(nordic)",
                "microchip 49535343-FE7D-4AE5-8FA9-9FAFD205E455 49535343-1E4D-4BD9-BA61-23C647249616 "
                    + "49535343-8841-43F4-A8D4-ECBE34729BB3",
                "hm10 FFE0 FFE1 FFE1",
                "ublox 2456E1B9-26E2-8F83-E744-F34F01E9D701 2456E1B9-26E2-8F83-E744-F34F01E9D703 "
                    + "2456E1B9-26E2-8F83-E744-F34F01E9D703",
                "ti F000C0E0-0451-4000-B000-000000000000 F000C0E1-0451-4000-B000-000000000000 "
                    + "F000C0E1-0451-4000-B000-000000000000",
                "ti-stream F000C0C0-0451-4000-B000-000000000000 F000C0C2-0451-4000-B000-000000000000 "
                    + "F000C0C1-0451-4000-B000-000000000000",
                "csr 00005500-D102-11E1-9B23-00025B00A5A5 00005501-D102-11E1-9B23-00025B00A5A5 "
                    + "00005501-D102-11E1-9B23-00025B00A5A5",
                "keyboard 1812 2A4D 2A4D",
                "weight-scale 181D 2A9D 2A9D",
            ]
        )
    }
}
