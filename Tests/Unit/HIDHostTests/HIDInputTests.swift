// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import HIDHost
import HIDReports
import Keystrokes
import TestSupport
import Testing

@Suite("Input of HID devices")
struct HIDInputTests {
    /// Returns a device with a service for each map, and a report characteristic for each of its input reports.
    private static func device(_ maps: [[UInt8]]) throws -> HIDDevice {
        var next: UInt16 = 1
        var services: [HIDDevice.Service] = []
        for bytes in maps {
            let start = next
            var reports: [HIDDevice.Report] = []
            for report in try ReportMap(bytes).reports {
                next += 3
                let kind = report.kind
                let value = AttributeHandle(next)
                reports.append(HIDDevice.Report(value: value, configuration: nil, id: report.id, kind: kind))
            }
            next += 1
            let range = AttributeHandleRange(start: AttributeHandle(start), end: AttributeHandle(next))
            var service = HIDDevice.Service(range: range, map: bytes)
            service.reports = reports
            services.append(service)
            next += 1
        }
        return HIDDevice(services: services)
    }

    /// Returns the report of a key: modifiers, a padding byte and an array, or a bit for each usage.
    private static func report(_ usage: UInt8?, shift: Bool, isBitmap: Bool) -> [UInt8] {
        var report = [UInt8](repeating: 0, count: isBitmap ? 17 : 8)
        report[0] = shift ? 2 : 0
        guard let usage else { return report }
        if isBitmap { report[1 + Int(usage) / 8] = 1 << (usage % 8) } else { report[2] = usage }
        return report
    }

    /// Returns the usage of a character on a US keyboard.
    private static func key(_ character: UInt8) -> (usage: UInt8, shift: Bool)? {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): (character - 0x61 + 4, false)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): (character - 0x41 + 4, true)
        case UInt8(ascii: "1")...UInt8(ascii: "9"): (character - 0x31 + 0x1E, false)
        case UInt8(ascii: "0"): (0x27, false)
        case UInt8(ascii: "-"): (0x2D, false)
        case 0x0D: (0x28, false)
        default: nil
        }
    }

    @Test(
        "50 barcodes arrive byte for byte, from an array and from a bitmap of keys",
        arguments: [(HIDMaps.keyboard, false), (HIDMaps.bitmap, true), (HIDDevice.bootMap, false)]
    )
    func barcodes(map: [UInt8], isBitmap: Bool) throws {
        let device = try Self.device([HIDMaps.mouse, map])
        let handle = try #require(device.services[1].inputs.first).value
        var input = HIDInput(device, KeyDecoder.Settings())
        var random = SeededGenerator(seed: 50)
        let characters = Array("abcxyzABCXYZ0123456789-".utf8)
        var expected: [UInt8] = []
        var text: [UInt8] = []
        var reports: UInt64 = 0
        for _ in 0..<50 {
            let length = Int.random(in: 1...40, using: &random)
            let barcode = (0..<length).compactMap { _ in characters.randomElement(using: &random) } + [0x0D]
            expected += barcode
            for character in barcode {
                let key = try #require(Self.key(character))
                let press = Self.report(key.usage, shift: key.shift, isBitmap: isBitmap)
                #expect(input.receive(press.span, from: handle, into: &text) == .typed)
                let release = Self.report(nil, shift: false, isBitmap: isBitmap)
                #expect(input.receive(release.span, from: handle, into: &text) == .release)
                reports += 2
            }
        }
        #expect(text == expected)
        let account = input.account
        #expect(account.reports == reports && account.sum == reports && account.bytes == UInt64(expected.count))
    }

    @Test("Services with the same report id hold their own keys, and the account is their sum")
    func twoServices() throws {
        let maps = [HIDMaps.keyboard(id: 1), HIDMaps.keyboard(id: 1), HIDMaps.mouse]
        let device = try Self.device(maps)
        let inputs = device.services.compactMap(\.inputs.first).map(\.value)
        var input = HIDInput(device, KeyDecoder.Settings())
        var text: [UInt8] = []
        let key = Self.report(0x04, shift: false, isBitmap: false)
        let none = Self.report(nil, shift: false, isBitmap: false)
        #expect(input.receive(key.span, from: inputs[0], into: &text) == .typed)
        #expect(input.receive(key.span, from: inputs[1], into: &text) == .typed)
        #expect(input.receive(none.span, from: inputs[1], into: &text) == .release)
        #expect(input.receive(key.span, from: inputs[0], into: &text) == .unchanged)
        #expect(input.receive(key.span, from: inputs[1], into: &text) == .typed)
        let click: [UInt8] = [3, 9]
        #expect(input.receive(click.span, from: inputs[2], into: &text) == .noKeys)
        #expect(text == Array("aaa".utf8))
        let account = input.account
        #expect(account.reports == 6 && account[.typed] == 3 && account[.noKeys] == 1 && account[.release] == 1)
        #expect(account.sum == 6 && account.characters == 3 && account.bytes == 3 && account.longer == 1)
    }

    @Test("A value of another handle is no report: outputs, descriptors and unknown attributes")
    func otherHandles() throws {
        let device = try Self.device([HIDMaps.keyboard])
        var input = HIDInput(device, KeyDecoder.Settings())
        let known = Set(device.services[0].inputs.map(\.value))
        #expect(known.count == 1)
        var text: [UInt8] = []
        let key = Self.report(0x04, shift: false, isBitmap: false)
        for number in UInt16(0)...20 where !known.contains(AttributeHandle(number)) {
            #expect(!input.handles(AttributeHandle(number)))
            #expect(input.receive(key.span, from: AttributeHandle(number), into: &text) == nil)
        }
        #expect(known.allSatisfy(input.handles))
        #expect(text.isEmpty && input.account == KeyAccount())
        // A report whose id the map lacks is an input report all the same.
        var unknown = device
        unknown.services[0].reports[0].id = 9
        var other = HIDInput(unknown, KeyDecoder.Settings())
        #expect(other.receive(key.span, from: unknown.services[0].reports[0].value, into: &text) == .unknownReport)
    }

    @Test("After a lost link a key that was held is pressed anew, and nothing is typed for it before")
    func linkLost() throws {
        let device = try Self.device([HIDMaps.keyboard])
        let handle = try #require(device.services[0].inputs.first).value
        var input = HIDInput(device, KeyDecoder.Settings())
        var text: [UInt8] = []
        let key = Self.report(0x04, shift: true, isBitmap: false)
        #expect(input.receive(key.span, from: handle, into: &text) == .typed)
        input.linkLost()
        #expect(text == [0x41])
        #expect(input.receive(key.span, from: handle, into: &text) == .typed)
        #expect(text == [0x41, 0x41] && input.account.reports == 2)
        // Alt with a digit of the keypad begins a code, which the lost link drops.
        let code: [UInt8] = [0x04, 0, 0x59, 0, 0, 0, 0, 0]
        #expect(input.receive(code.span, from: handle, into: &text) == .pending)
        input.linkLost()
        #expect(text == [0x41, 0x41] && input.account.dropped == 1)
    }

    @Test("After a lost link, no key of another report is held")
    func linkLostBetweenReports() throws {
        let device = try Self.device([HIDMaps.keyboard(id: 1) + HIDMaps.keyboard(id: 2)])
        let inputs = device.services[0].inputs.map(\.value)
        var input = HIDInput(device, KeyDecoder.Settings())
        var text: [UInt8] = []
        let held = Self.report(0x04, shift: false, isBitmap: false)
        #expect(inputs.count == 2 && input.receive(held.span, from: inputs[0], into: &text) == .typed)
        input.linkLost()
        let key = Self.report(0x05, shift: false, isBitmap: false)
        #expect(input.receive(key.span, from: inputs[1], into: &text) == .typed)
        #expect(text == Array("ab".utf8))
    }

    @Test("The boot protocol's input is decoded, and a refused map has no reports")
    func otherMaps() throws {
        var device = try Self.device([HIDMaps.keyboard])
        let boot = HIDDevice.Report(value: AttributeHandle(2), configuration: nil, id: 0, kind: .input)
        device.services[0].bootInput = boot
        var input = HIDInput(device, KeyDecoder.Settings())
        var text: [UInt8] = []
        let key = Self.report(0x04, shift: false, isBitmap: false)
        #expect(input.receive(key.span, from: boot.value, into: &text) == .typed)
        #expect(!input.handles(device.services[0].reports[0].value))
        device.services[0].map = [0xC0]
        #expect(!HIDInput(device, KeyDecoder.Settings()).handles(boot.value) && !device.hasKeyboard)
    }

    @Test("The settings of the decoder apply to each service")
    func settings() throws {
        let device = try Self.device([HIDMaps.keyboard, HIDMaps.keyboard])
        var settings = KeyDecoder.Settings()
        settings.layout = .de
        var input = HIDInput(device, settings)
        var text: [UInt8] = []
        // Usage 1C is Y on a US keyboard.
        let key = Self.report(0x1C, shift: false, isBitmap: false)
        for service in device.services {
            #expect(input.receive(key.span, from: service.inputs[0].value, into: &text) == .typed)
        }
        #expect(text == Array("zz".utf8))
    }

    @Test("The reports of all vectors are decoded as by the reader and the decoder of each map")
    func vectors() throws {
        var maps: [[UInt8]] = []
        for line in try VectorFile.lines("hid-report-maps.txt") where line.text.hasPrefix("map ") {
            maps.append(try #require(VectorFile.bytes(line.text.dropFirst(4))))
        }
        for line in try VectorFile.lines("hid-real-maps.txt") {
            // The map of one device is empty.
            let words = line.text.split(separator: " ")
            if words.count == 3 { maps.append(try #require(VectorFile.bytes(words[2]))) }
        }
        maps = maps.filter { (try? ReportMap($0)) != nil }
        #expect(maps.count > 300)
        var random = SeededGenerator(seed: 37)
        var outcomes: Set<ReportOutcome> = []
        for start in stride(from: 0, to: maps.count, by: HIDDevice.mostServices) {
            let part = Array(maps[start..<min(start + HIDDevice.mostServices, maps.count)])
            let device = try Self.device(part)
            var input = HIDInput(device, KeyDecoder.Settings())
            var readers = try part.map { ReportReader(try ReportMap($0)) }
            var decoders = part.map { _ in KeyDecoder() }
            var text: [UInt8] = []
            var expected: [UInt8] = []
            var reports: UInt64 = 0
            for _ in 0..<200 {
                let index = Int.random(in: part.indices, using: &random)
                guard let report = device.services[index].inputs.randomElement(using: &random) else { continue }
                let count = Int.random(in: 0...12, using: &random)
                let value = (0..<count).map { _ in UInt8.random(in: 0...0x30, using: &random) }
                let outcome = decoders[index].decode(readers[index].read(value.span, id: report.id), into: &expected)
                outcomes.insert(outcome)
                #expect(input.receive(value.span, from: report.value, into: &text) == outcome)
                reports += 1
            }
            #expect(text == expected && input.account.reports == reports)
            let accounts = decoders.map(\.account)
            func sum(_ count: (KeyAccount) -> UInt64) -> UInt64 { accounts.map(count).reduce(0, +) }
            #expect(input.account.shorter == sum(\.shorter) && input.account.longer == sum(\.longer))
            #expect(input.account.characters == sum(\.characters) && input.account.bytes == sum(\.bytes))
            for outcome in ReportOutcome.allCases { #expect(input.account[outcome] == sum { $0[outcome] }) }
        }
        #expect(outcomes.isSuperset(of: [.typed, .noKeys]), "\(outcomes)")
    }
}
