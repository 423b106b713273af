// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Daemon
import HIDHost
import HIDReports
import Link
import TestSupport
import Testing
import Texts
import TextsSupport

@Suite("Profiles and their handshakes over a link")
struct LinkHandshakeTests {
    /// Returns the profile of a device that expects 01 and its name, and answers 81 and the name.
    private static func greeted(_ name: UInt8) throws -> Profile {
        var profile = Profile.linble
        profile.handshake = [
            ChatScript.Command(
                send: try HexTemplate("01 " + Hexadecimal.text([name]), for: .command),
                expect: try HexTemplate("81 " + Hexadecimal.text([name]), for: .reply)
            ),
            ChatScript.Command(
                send: try HexTemplate("02 " + Hexadecimal.text([name]), for: .command),
                expect: try HexTemplate("82", for: .reply)
            ),
        ]
        return profile
    }

    private static func answer(_ written: [UInt8]) -> [[UInt8]] {
        switch written.first {
        case 0x01: [[0x81], Array(written.dropFirst())]
        case 0x02: [[0x82, 0x34], [0x39]]
        default: []
        }
    }

    @Test(
        "LK-15: each built-in profile works on a device that offers it, both when configured and when detected automatically"
    )
    func builtIn() {
        #expect(Set(Profile.serial.map(\.name)).count == Profile.serial.count)
        for profile in Profile.serial {
            for setup in [LinkSetup(profile: profile), LinkSetup(profiles: Profile.serial)] {
                let device = ScriptedDevice([.init(profile)], setup)
                device.run()
                #expect(device.progress.count == 1)
                guard case .ready = device.progress.first else {
                    Issue.record("\(profile.name): \(device.progress)")
                    continue
                }
                #expect(device.setup.profile == profile)
                #expect(device.setup.output?.uuid == profile.toPeripheral)
                device.notify([0x41])
                #expect(device.typed == [0x41])
                #expect(device.written.isEmpty)
            }
        }
    }

    @Test("LK-15: of several services the first in the list is used; one that cannot notify is skipped")
    func severalServices() {
        let both = ScriptedDevice([.init(.hm10), .init(.nordic)], LinkSetup(profiles: [.nordic, .hm10]))
        both.run()
        #expect(both.setup.profile == .nordic)
        var silent = ScriptedDevice.Service(.nordic)
        silent.output?.properties = 0x02
        let second = ScriptedDevice([silent, .init(.hm10)], LinkSetup(profiles: [.nordic, .hm10]))
        second.run()
        #expect(second.setup.profile == .hm10)
    }

    @Test("LK-15: a device without a service of any profile is unsupported, whatever its other services")
    func none() {
        let device = ScriptedDevice([.init(.hm10)], LinkSetup(profiles: [.nordic, .linble]))
        device.run()
        #expect(device.progress.map(\.reason) == ["it has no serial service; it offers HM-10 serial port"])
    }

    /// Returns services with these UUIDs, which belong to no known profile.
    private static func services(_ uuids: [UInt16]) -> [ScriptedDevice.Service] {
        uuids.map { uuid in
            var service = ScriptedDevice.Service(.hm10)
            service.uuid = BluetoothUUID(uuid)
            return service
        }
    }

    @Test("LK-15: for an unsupported device, the reason lists its services, and the remedy is given")
    func whatItOffers() throws {
        let own = "if one of these carries the data, write a profile; example: `blewedge profiles nordic`"
        let serial = "set `profile = \"auto\"` in the configuration, or use `--profile auto`"
        let lacks = "it has no serial service; it offers "
        let known = Profile.serial
        let cases: [(profiles: [Profile], services: [UInt16], cause: String, remedy: String)] = [
            (known, [0x1800, 0x1801, 0xFFF0], lacks + "FFF0", own),
            (known, [0x180A, 0x180F, 0xFFF0, 0xFFF0], lacks + "Device Information, Battery, FFF0", own),
            (known, [0xFFF0, 0xFFF1, 0xFFF2, 0xFFF3, 0xFFF4], lacks + "FFF0, FFF1, FFF2, FFF3, ...", own),
            (known, [0x1800], lacks + "nothing else", own),
            (known, [0x180A, 0x1812], "it is a Bluetooth keyboard (HID)", serial),
            ([.linble], [0x1812], "it is a Bluetooth keyboard (HID)", serial),
            ([.linble], [0xFFF0], "it has no LINBLE UART Service; it offers FFF0", own),
            (
                [.linble], [0x1812, 0xFFE0],
                "it has no LINBLE UART Service; it offers Human Interface Device, HM-10 serial port",
                "set `profile = \"auto\"` in the configuration, or use `--profile auto`"
            ),
        ]
        for (profiles, services, cause, remedy) in cases {
            let device = ScriptedDevice(Self.services(services), LinkSetup(profiles: profiles))
            device.run()
            guard case .unsupported(let lack)? = device.progress.first, device.progress.count == 1 else {
                Issue.record("\(services): \(device.progress)")
                continue
            }
            let reason = Reason(lack)
            #expect(reason.cause.english == cause)
            #expect(reason.remedy?.english == remedy)
            #expect(reason.cause.text(.japanese) != cause && reason.remedy?.text(.japanese) != remedy)
        }
    }

    @Test("Each reason why a HID device is no usable keyboard has its sentence, in two languages")
    func unusableKeyboards() {
        let broken = ReportMapError(offset: 7, reason: .popWithoutPush)
        let cases: [(lack: HIDDiscovery.Lack, cause: String)] = [
            (.noService, "its HID service has no report map"),
            (.noMap(service: 1), "its HID service has no report map"),
            (.noInputReport, "its HID service has no input reports"),
            (.noKeyboard([]), "its HID service has no input reports"),
            (.noKeyboard([.mouse, .consumerControl]), "it is a HID device without keys: mouse, remote control"),
            (.badMap(broken, service: 0), "report map refused at byte 7: Pop without Push"),
            (.incompleteMap(nil, service: 0), "its report map ends too early"),
            (
                .incompleteMap(.tooManyRequests(limit: 3), service: 0),
                "its report map could not be read completely: \(GATTError.tooManyRequests(limit: 3))"
            ),
        ]
        for (lack, cause) in cases {
            let reason = Reason(.keyboard(lack))
            #expect(reason.cause.english == cause)
            #expect(reason.cause.text(.japanese) != cause)
        }
    }

    @Test(
        "The link is ready only when the last reply has come; nothing before it is typed, all behind it is",
        arguments: [0x04, 0x08, 0x0C] as [UInt8]
    )
    func handshake(properties: UInt8) throws {
        let profile = try Self.greeted(0x77)
        let device = ScriptedDevice(
            [.init(profile, write: properties)],
            LinkSetup(profile: profile),
            reply: Self.answer
        )
        device.run()
        #expect(device.written == [[0x01, 0x77], [0x02, 0x77]])
        #expect(device.progress == [.ready(AttributeHandle(0x0014))])
        #expect(device.typed == [0x34, 0x39])
        #expect(device.setup.deadline == nil)
        device.notify([0x30])
        #expect(device.typed == [0x34, 0x39, 0x30])
    }

    @Test("A device that answers otherwise, or not at all, is refused and never typed from")
    func refused() throws {
        let profile = try Self.greeted(0x77)
        for reply: [[UInt8]] in [[], [[0x81, 0x78]], [[0x31, 0x32, 0x33, 0x0D]]] {
            let device = ScriptedDevice([.init(profile)], LinkSetup(profile: profile), reply: { _ in reply })
            device.run()
            #expect(device.progress.isEmpty)
            #expect(device.setup.deadline == .seconds(2))
            device.pass(.milliseconds(1999))
            #expect(device.progress.isEmpty)
            device.pass(.milliseconds(1))
            let others = reply.reduce(0) { $0 + $1.count }
            #expect(
                device.progress
                    == [.refused(ChatScript.Failure(command: 1, timeout: .seconds(2), otherBytes: others))]
            )
            device.notify([0x41])
            #expect(device.typed.isEmpty)
            #expect(device.written.count == 1)
        }
    }

    @Test(
        "What is sent to the device goes in parts that fit the MTU, with response or without",
        arguments: [0x04, 0x08] as [UInt8]
    )
    func sending(properties: UInt8) {
        let device = ScriptedDevice([.init(.nordic, write: properties)], LinkSetup(profile: .nordic))
        let bytes = [UInt8](0..<45)
        #expect(device.setup.send(bytes, &device.client, now: .zero) == 0)
        device.run()
        #expect(device.setup.send(bytes, &device.client, now: .zero) == bytes.count)
        while device.step() {}
        #expect(device.written.map(\.count) == [20, 20, 5])
        #expect(device.written.flatMap(\.self) == bytes)
    }

    @Test("A device with a handshake that takes no bytes is unsupported")
    func notWritable() throws {
        let profile = try Self.greeted(0x77)
        let device = ScriptedDevice([.init(profile, write: 0x00)], LinkSetup(profile: profile))
        device.run()
        #expect(device.progress == [.unsupported(.writing(profile.toPeripheral))])
    }

    @Test(
        "BT-9: after a switch at any moment and back, each of two devices receives all of its own commands and no other"
    )
    func switching() throws {
        var generator = SeededGenerator(seed: 9)
        let names: [UInt8] = [0xA1, 0xB2]
        var readyCount = 0
        for _ in 0..<300 {
            var links: [ScriptedDevice] = []
            var index = 0
            // The link is abandoned after some PDUs, as when another device is selected; its later data are ignored.
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let profile = try Self.greeted(names[index])
                let link = ScriptedDevice([.init(profile)], LinkSetup(profile: profile), reply: Self.answer)
                links.append(link)
                _ = link.setup.begin(&link.client, now: .zero)
                for _ in 0..<Int.random(in: 0...12, using: &generator) where !link.step() { break }
                let written = link.written
                #expect(written.allSatisfy { $0.last == names[index] })
                #expect(written.map(\.first) == Array([0x01, 0x02].prefix(written.count)))
                index = 1 - index
            }
            readyCount += links.count { !$0.progress.isEmpty }
            // Text was typed only from links that were ready.
            for link in links where link.progress.isEmpty { #expect(link.typed.isEmpty) }
        }
        #expect(readyCount > 0)
    }
}

extension LinkSetup.Progress {
    /// Reason why a device is unsupported; nil for other results.
    fileprivate var reason: Message? {
        if case .unsupported(let lack) = self { Reason(lack).cause } else { nil }
    }
}
