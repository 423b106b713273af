// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import FirmwareSupport
import Glibc
import TestSupport
import Testing

/// `blewedge simulate` with a central that a scripted controller connects.
@Suite("Simulated devices with a central", .timeLimit(.minutes(10)))
struct SimulateCommandTests {
    private static let central = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    /// Returns ATT PDUs (channel 4) or Security Manager PDUs (channel 6) as L2CAP frames.
    private static func frames(_ pdus: [[UInt8]], channel: UInt8 = 4) -> [[UInt8]] {
        pdus.map { [UInt8($0.count), 0, channel, 0] + $0 }
    }

    /// Runs the command until it has printed `text`; returns its output without times, and its messages.
    private func simulate(
        _ options: [String],
        _ frames: [[UInt8]],
        leaves: Bool,
        until text: String
    ) throws -> (lines: [String], messages: [String], status: Int32) {
        let directory = try TestDirectory()
        var firmware = ScriptedFirmware()
        // The first command disables advertising, the second one enables it.
        firmware.script[.leSetAdvertisingEnable] = [
            .late(.zero), .connects(central: Self.central, frames: frames, leaves: leaves),
        ]
        let line = try FirmwareLine(at: directory("line"), firmware)
        defer { line.end() }
        try directory.write("one\nZw\u{F6}", to: "lines")
        let program = try RunningProgram(
            ["simulate", "--adapter", line.adapter] + options.map { $0.replacing("HOME", with: directory.path) },
            environment: directory.environment
        )
        #expect(program.prints(text), "\(options)")
        kill(program.child, SIGTERM)
        let outcome = try program.end()
        func lines(_ text: String) -> [String] {
            text.replacing(line.adapter, with: "ADAPTER").split(separator: "\n").map(String.init)
        }
        return (lines(outcome.output), lines(outcome.error), outcome.status)
    }

    // The service has the handles 7 to 12: value 9 with its configuration 10, and 12, to which the central writes.
    private static let subscribe: [UInt8] = [0x12, 0x0A, 0x00, 0x01, 0x00]
    private static let unsubscribe: [UInt8] = [0x12, 0x0A, 0x00, 0x00, 0x00]
    private static let write: [UInt8] = [0x52, 0x0C, 0x00, 0x68, 0x69, 0x1B]
    private static let address = #""address":"F0:F1:F2:F3:F4:F5","addressType":"random""#
    private static let advertising =
        #"{"event":"advertising","name":"NAME","adapter":"ADAPTER","adapterAddress":"06:05:04:03:02:01"}"#

    @Test("The events of a serial device, from the connection to the counts, as JSON")
    func serial() throws {
        let found = try simulate(
            ["--json", "--name", "A", "--file", "HOME/lines", "--line-end", "crlf"],
            Self.frames([Self.subscribe, Self.write, Self.unsubscribe]),
            leaves: true,
            until: "\"disconnected\""
        )
        #expect(
            found.lines == [
                Self.advertising.replacing("NAME", with: "A"), #"{"event":"connected",\#(Self.address)}"#,
                #"{"event":"subscribed"}"#, #"{"event":"end","lines":2}"#,
                #"{"event":"received","length":3,"hex":"68691B","text":"hi\u001b"}"#, #"{"event":"unsubscribed"}"#,
                #"{"event":"disconnected",\#(Self.address)}"#,
                #"{"event":"counts","lines":2,"notifications":2,"bytes":11,"writes":1,"written":3}"#,
            ]
        )
        #expect(found.status == 143 && found.messages.isEmpty, "\(found)")
    }

    @Test("The events of a serial device as text, and received bytes in hexadecimal")
    func text() throws {
        for (option, received) in [([], "hi\u{FFFD}"), (["--hex"], "68691B")] as [([String], String)] {
            let found = try simulate(
                ["--barcodes", "1"] + option,
                Self.frames([Self.subscribe, Self.write]),
                leaves: false,
                until: "\n"
            )
            #expect(found.lines == [received] && found.status == 143)
            #expect(
                found.messages == [
                    "blewedge: advertising as LINBLE-TEST on ADAPTER",
                    "blewedge: connected to F0:F1:F2:F3:F4:F5 (random)", "blewedge: notifications enabled",
                    "blewedge: notifications disabled",
                    "blewedge: F0:F1:F2:F3:F4:F5 (random) disconnected: ended by this side",
                    "blewedge: sent 1 lines, 14 bytes in 1 notifications; received 3 bytes in 1 writes",
                ]
            )
        }
    }

    // The HID service begins at 7: the input report 11 with its configuration 12, and the output report 15.
    @Test("The events of a keyboard without encryption: its lights, and the characters that have no key")
    func keyboard() throws {
        let frames = Self.frames([[0x52, 0x0F, 0x00, 0x02], [0x12, 0x0C, 0x00, 0x01, 0x00]])
        let options = ["--hid", "--fault", "no-encryption", "--file", "HOME/lines", "--line-end", "none"]
        let found = try simulate(options + ["--json"], frames, leaves: false, until: "\"end\"")
        #expect(
            found.lines == [
                Self.advertising.replacing("NAME", with: "HID Scanner"), #"{"event":"connected",\#(Self.address)}"#,
                #"{"event":"lights","hex":"02"}"#, #"{"event":"subscribed"}"#, #"{"event":"end","lines":2}"#,
                #"{"event":"unsubscribed"}"#, #"{"event":"disconnected",\#(Self.address)}"#,
                #"{"event":"counts","lines":2,"notifications":10,"bytes":80,"writes":1,"written":1,"omitted":1}"#,
            ]
        )
        #expect(found.status == 143 && found.messages.isEmpty)
    }

    @Test("A pairing that fails is reported, and does not end the run")
    func failedPairing() throws {
        // Pairing Request with a maximum key size of 7 bytes, although 16 are required.
        let request = Self.frames([[0x01, 0x03, 0x00, 0x09, 0x07, 0x00, 0x00]], channel: 6)
        let options = ["--pairable", "60", "--file", "/dev/null", "--json"]
        let found = try simulate(options, request, leaves: true, until: "\"disconnected\"")
        #expect(
            found.lines == [
                #"{"event":"pairable"}"#, Self.advertising.replacing("NAME", with: "LINBLE-TEST"),
                #"{"event":"connected",\#(Self.address)}"#, #"{"event":"pairingFailed",\#(Self.address)}"#,
                #"{"event":"disconnected",\#(Self.address)}"#,
                #"{"event":"counts","lines":0,"notifications":0,"bytes":0,"writes":0,"written":0}"#,
            ]
        )
        #expect(found.status == 143 && found.messages.isEmpty)
    }

    @Test("Pairable mode ends after its time, and the run goes on")
    func pairableTime() throws {
        let options = ["--pairable", "1", "--file", "/dev/null", "--json"]
        let found = try simulate(options, [], leaves: true, until: "pairingClosed")
        #expect(found.lines.last?.hasPrefix(#"{"event":"counts","#) == true && found.status == 143)
    }
}
