// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Devices
import FirmwareSupport
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

/// `run --device` and `pair` with a firmware that receives a paired device, an impostor, or neither.
@Suite("Devices that are not paired", .timeLimit(.minutes(10)))
struct UnpairedDeviceTests {
    private static let name = "SCANNER-1"
    private static let data: [UInt8] = [2, 1, 6, UInt8(name.utf8.count + 1), 9] + Array(name.utf8)
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let stranger = DeviceAddress(BluetoothAddress(rawValue: 0xC1C2_C3C4_C5C6), .random)
    /// Address that the firmware reports.
    private static let adapter = BluetoothAddress(rawValue: 0x0605_0403_0201)
    /// Private address from the sample data of the Core Specification, Vol 3, Part H, D.7.
    private static let privateAddress = DeviceAddress(BluetoothAddress(rawValue: 0x7081_940D_FBAA), .random)
    private static let resolvingKey: [UInt8] = [
        0x9B, 0x7D, 0x39, 0x0A, 0xA6, 0x10, 0x10, 0x34, 0x05, 0xAD, 0xC8, 0x57, 0xA3, 0x34, 0x02, 0xEC,
    ]

    private func line(_ directory: TestDirectory, hearing device: DeviceAddress = device) throws -> FirmwareLine {
        let report = ScriptedFirmware.report(device, Self.data, rssi: -60)
        return try FirmwareLine(at: directory("line"), ScriptedFirmware(), chatter: (report, .milliseconds(50)))
    }

    /// Creates a state directory in which the device is paired.
    private func paired() throws -> TestDirectory {
        let directory = try TestDirectory()
        let key = LongTermKey(
            (1...16).map { UInt8($0) },
            isAuthenticated: false,
            isSecureConnections: true,
            role: .central
        )
        let bond = Bond(
            identityAddress: Self.device,
            localAddress: Self.adapter,
            longTermKeys: [key].compactMap(\.self),
            identityResolvingKey: Self.resolvingKey
        )
        try BondStore(FilePath(directory("bonds"))).add(try #require(bond), name: Self.name)
        return directory
    }

    /// Keyboard for a device, and the device that it receives.
    private struct Keyboard {
        var directory: TestDirectory
        var device: String
        var heard = UnpairedDeviceTests.device
        var options = ["--security", "none"]
    }

    /// Runs the keyboards concurrently, and returns for each whether it connects to the received device.
    ///
    /// Waits for each expected connection, and for any other one for a sufficient time.
    private func connects(_ keyboards: [Keyboard], expected: [Bool]) throws -> [Bool] {
        let lines = try keyboards.map { try line($0.directory, hearing: $0.heard) }
        defer { for line in lines { line.end() } }
        let programs = try zip(keyboards, lines).map { keyboard, line in
            let words = ["run", "--device", keyboard.device, "--to", "unix:\(keyboard.directory("wire"))"]
            return try RunningProgram(
                words + ["--adapter", line.adapter] + keyboard.options,
                environment: keyboard.directory.environment
            )
        }
        // A scan may have ended with a connection by now.
        for line in lines {
            #expect(line.waits { firmware, _ in firmware.isScanning || firmware.count(.leCreateConnection) > 0 })
        }
        let end = MonotonicClock.now + .seconds(4)
        let areConnected = zip(lines, expected).map { line, isExpected in
            line.waits(within: isExpected ? .seconds(120) : end - MonotonicClock.now) { firmware, _ in
                firmware.count(.leCreateConnection) > 0
            }
        }
        for program in programs {
            kill(program.child, SIGTERM)
            let outcome = try program.end()
            #expect(outcome.status == 143, "\(outcome)")
        }
        return areConnected
    }

    @Test(
        "`run --device` of an unpaired device is 78 with the remedy in a script, whatever the output; with `--security none` it runs",
        arguments: [[], ["--to", "stdout"], ["--to", "pty:/tmp/blewedge-test-pty"], ["--json"], ["--events"]]
    )
    func script(_ options: [String]) throws {
        let directory = try TestDirectory()
        let line = try line(directory)
        defer { line.end() }
        let arguments = ["run", "--device", Self.name, "--adapter", line.adapter] + options
        let outcome = try run(arguments, environment: directory.environment)
        #expect(outcome.status == 78 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.error.contains("SCANNER-1 is not paired: anyone who copies its name and address can type"))
        #expect(outcome.error.contains("`blewedge pair SCANNER-1`, or `--security none`"), "\(outcome)")
        #expect(!outcome.error.contains("[y/N]") && line.events.isEmpty)
        guard options.isEmpty else { return }
        // If the configuration requires encryption, the user is not asked.
        let demanding = try TestDirectory()
        try demanding.write("security = \"encrypted\"\n", to: "blewedge.toml")
        let keyboards = [
            Keyboard(directory: try TestDirectory(), device: Self.name),
            Keyboard(directory: try TestDirectory(), device: "\(Self.device.address)"),
            Keyboard(directory: demanding, device: Self.name, options: []),
        ]
        let expected = [true, true, false]
        #expect(try connects(keyboards, expected: expected) == expected)
    }

    @Test("After `pair`, `run --device` connects to the device alone, and needs no word for it")
    func afterPairing() throws {
        let other = DeviceAddress(Self.device.address, .public)
        var (keyboards, expected): ([Keyboard], [Bool]) = ([], [])
        for name in [Self.name.lowercased(), "\(Self.device.address)"] {
            for heard in [Self.device, Self.privateAddress] {
                keyboards.append(Keyboard(directory: try paired(), device: name, heard: heard, options: []))
                expected.append(true)
            }
            for heard in [other, Self.stranger] {
                keyboards.append(Keyboard(directory: try paired(), device: name, heard: heard, options: []))
                keyboards.append(Keyboard(directory: try paired(), device: name, heard: heard))
                expected += [false, false]
            }
        }
        // An unpaired device can be selected by its address.
        let address = "\(Self.stranger.address)"
        keyboards.append(Keyboard(directory: try paired(), device: address, heard: Self.stranger))
        expected.append(true)
        #expect(try connects(keyboards, expected: expected) == expected)
    }

    @Test("`pair` does not pair anew with a paired device behind a private address, nor with a stranger of its name")
    func pairAgain() throws {
        for (heard, cause) in [
            (Self.privateAddress, "is already paired"), (Self.device, "is already paired"),
            (DeviceAddress(Self.device.address, .public), "is already paired"),
            (Self.stranger, "SCANNER-1 is the name of the paired device F0:F1:F2:F3:F4:F5"),
        ] {
            let directory = try paired()
            let line = try line(directory, hearing: heard)
            defer { line.end() }
            let devices = heard == Self.stranger ? [Self.name] : [Self.name, "\(heard.address)"]
            for device in devices {
                let outcome = try run(["pair", device, "--adapter", line.adapter], environment: directory.environment)
                #expect(outcome.status == 64 && outcome.error.contains(cause), "\(heard): \(outcome)")
                #expect(outcome.error.contains("blewedge forget F0:F1:F2:F3:F4:F5"), "\(outcome)")
            }
            #expect(line.firmware.count(.leCreateConnection) == 0)
        }
    }
}
