// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDHost
import HIDReports
import TestSupport
import Testing

@Suite("Discovery of faulty HID devices")
struct HIDDeviceFaultTests {
    private static func refusal(_ request: ATTPDU, _ error: UInt8) -> [UInt8] {
        [0x01, request.opcode.rawValue, 0, 0, error]
    }

    private static func error(_ request: ATTOpcode, _ error: UInt8) -> GATTError {
        .errorResponse(request: request, handle: .invalid, error: ATTError(rawValue: error))
    }

    @Test("A map whose reading fails half way is incomplete, not short", arguments: [1, 2, 3, 7], [23, 517])
    func brokenMap(parts: Int, mtu: UInt16) throws {
        let map = HIDMaps.keyboard(length: 4096)
        for code: UInt8 in [0x01, 0x02, 0x06, 0x07, 0x0B, 0x0E, 0x80, 0xFF, 0x05, 0x08, 0x0C, 0x0F, 0x12] {
            // The specification's maximum length, after which Invalid Offset means the end.
            if code == 0x07, parts * Int(mtu - 1) >= 512 { continue }
            var peer = try HIDPeer(map: map, [.input(0)], mtu: mtu)
            peer.change = { request, response in
                guard case .readBlobRequest(_, let offset) = request, Int(offset) == parts * Int(mtu - 1) else {
                    return response
                }
                return Self.refusal(request, code)
            }
            let progress = peer.discover().progress
            let error = Self.error(.readBlobRequest, code)
            switch code {
            case 0x05, 0x08, 0x0C, 0x0F, 0x12: #expect(progress == .failed(error))
            // The client takes these as the end of the value.
            case 0x06, 0x0B: #expect(progress == .unusable(.incompleteMap(nil, service: 0)))
            default: #expect(progress == .unusable(.incompleteMap(error, service: 0)))
            }
        }
    }

    @Test("A map that is longer than 4,096 bytes is incomplete")
    func endlessMap() throws {
        var peer = try HIDPeer(map: HIDMaps.keyboard(length: 4097), [.input(0)])
        let expected = HIDDiscovery.Lack.incompleteMap(.valueTooLong(limit: 4096), service: 0)
        #expect(peer.discover().progress == .unusable(expected))
    }

    @Test("A bad map that fills its last response is incomplete only if more bytes could help")
    func fullResponse() throws {
        // 44 bytes are two full responses at an MTU of 23.
        var cut = try HIDPeer([(0x1812, [.map(Array(HIDMaps.keyboard.prefix(44)))])])
        #expect(cut.discover().progress == .unusable(.incompleteMap(nil, service: 0)))
        let bad = [0x05, 0x01, 0x85, 0x00] + HIDMaps.keyboard.prefix(40)
        var refused = try HIDPeer([(0x1812, [.map(bad)])])
        let error = ReportMapError(offset: 2, reason: .reportID(0))
        #expect(refused.discover().progress == .unusable(.badMap(error, service: 0)))
    }

    @Test("A device that demands a pairing fails with its error, wherever it does", arguments: [false, true])
    func security(isBonded: Bool) throws {
        let error: ATTError = isBonded ? .insufficientEncryption : .insufficientAuthentication
        let link = GATTLinkSecurity(isBonded: isBonded)
        let services: [[HIDCharacteristic]] = [
            [.map(HIDMaps.keyboard, read: .encrypted), .input(0)],
            [.map(HIDMaps.keyboard), .report(reference: [0, 1], read: .encrypted)],
            [
                HIDCharacteristic(0x2A4A, .read, [0x11, 0x01, 0, 3], read: .encrypted), .map(HIDMaps.keyboard),
                .input(0),
            ],
        ]
        for characteristics in services {
            var peer = try HIDPeer([(0x1812, characteristics)], security: link)
            guard case .failed(.errorResponse(.readRequest, _, error)) = peer.discover().progress else {
                Issue.record("no failure")
                continue
            }
            let encrypted = GATTLinkSecurity(level: .encrypted)
            var paired = try HIDPeer([(0x1812, characteristics)], security: encrypted)
            #expect(paired.discover().progress.device?.hasKeyboard == true)
        }
        for opcode: ATTOpcode in [.readByTypeRequest, .findInformationRequest] {
            var peer = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
            peer.change = { request, response in
                request.opcode == opcode ? Self.refusal(request, error.rawValue) : response
            }
            #expect(peer.discover().progress == .failed(Self.error(opcode, error.rawValue)))
        }
    }

    @Test("Without a reference, a report is what its properties say, and has the only id of its kind")
    func missingReference() throws {
        let bare = HIDCharacteristic.report(reference: nil)
        for (map, id) in [(HIDMaps.keyboard, UInt8(0)), (HIDMaps.keyboard(id: 7), 7)] {
            var peer = try HIDPeer(
                map: map,
                [bare, .report(.output, reference: nil), .report(.feature, reference: nil)]
            )
            let (progress, ignored) = peer.discover()
            let reports = try #require(progress.device).services[0].reports
            // The map has no feature report.
            #expect(reports.map(\.kind) == [.input, .output] && reports.map(\.id) == [id, id] && ignored == 1)
            #expect(reports[0].configuration != nil && reports[1].configuration == nil)
        }
        // The id is ambiguous if the map has two input reports.
        let map = HIDMaps.other(0x01, 0x02, id: 1) + HIDMaps.keyboard(id: 2)
        var peer = try HIDPeer(map: map, [bare, .input(1)])
        let (progress, ignored) = peer.discover()
        #expect(progress == .unusable(.noInputReport) && ignored == 1)
        var indicated = try HIDPeer(map: HIDMaps.keyboard, [HIDCharacteristic(0x2A4D, .indicate, [])])
        #expect(indicated.discover().progress.device?.services[0].reports.map(\.kind) == [.input])
    }

    @Test("A reference that is refused, or has another length or kind, is like a missing one")
    func badReference() throws {
        for reference: [UInt8] in [[], [9], [9, 0], [9, 4], [9, 1, 0]] {
            var peer = try HIDPeer(map: HIDMaps.keyboard, [.report(reference: reference)])
            #expect(peer.discover().progress.device?.services[0].reports.map(\.id) == [0])
        }
        var peer = try HIDPeer(map: HIDMaps.keyboard, [.report(reference: [9, 1], read: .never)])
        #expect(peer.discover().progress.device?.services[0].reports.map(\.id) == [0])
        // A reference is taken literally, even if the map has no such report.
        var wrong = try HIDPeer(map: HIDMaps.keyboard, [.input(9)])
        #expect(wrong.discover().progress == .unusable(.noInputReport))
    }

    @Test("A report without a configuration descriptor is kept without one")
    func missingConfiguration() throws {
        var peer = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
        peer.change = { request, response in
            guard request.opcode == .findInformationRequest, response[0] == 0x05 else { return response }
            // 0x2902 becomes 0x2909.
            return response.indices.map { $0 % 4 == 0 && response[$0] == 0x02 ? 0x09 : response[$0] }
        }
        let device = try #require(peer.discover().progress.device)
        let report = device.services[0].reports[0]
        #expect(report.configuration == nil && report.id == 0 && peer.handles(0x2A4D) == [report.value])
    }

    @Test("Only an input report has a configuration descriptor, whatever the device has")
    func misplacedConfiguration() throws {
        var output = HIDCharacteristic.report(.output, reference: [0, 2])
        output.definition.properties.insert(.notify)
        var peer = try HIDPeer(map: HIDMaps.keyboard, [.input(0), output])
        let reports = try #require(peer.discover().progress.device).services[0].reports
        #expect(reports.map(\.kind) == [.input, .output] && reports[1].configuration == nil)
        #expect(reports[0].configuration == reports[0].value.next)
    }

    @Test("HID Information is optional, and one that is short or refused is ignored")
    func information() throws {
        for information in [
            HIDCharacteristic(0x2A4A, .read, [0x11, 0x01, 0x21]),
            HIDCharacteristic(0x2A4A, .read, [0x11, 0x01, 0x21, 3], read: .never),
        ] {
            var peer = try HIDPeer(map: HIDMaps.keyboard, [information, .input(0)])
            let service = try #require(peer.discover().progress.device).services[0]
            #expect(service.version == 0 && service.country == 0 && service.flags == 0)
        }
    }

    @Test("The boot protocol is used for a device without a usable map, and for no other")
    func bootProtocol() throws {
        let bad: [UInt8] = [0xC0]
        for map: [HIDCharacteristic] in [
            [], [.map(bad)], [.map(HIDMaps.keyboard, read: .never)], [.map(HIDMaps.keyboard)],
        ] {
            // The report refers to an id that the map does not have.
            let services: [(BluetoothUUID, [HIDCharacteristic])] = [
                (0x1812, [.map(HIDMaps.mouse), .input(0)]),
                (0x1812, map + [.input(5), .protocolMode, .bootInput, .bootInput, .bootOutput, .bootOutput]),
                (0x1812, [.bootInput]),
            ]
            var peer = try HIDPeer(services)
            let device = try #require(peer.discover().progress.device)
            #expect(device.services.map(\.map) == [HIDMaps.mouse, HIDDevice.bootMap])
            let service = device.services[1]
            let input = try #require(peer.handles(0x2A22).first)
            let expected = HIDDevice.Report(value: input, configuration: input.next, id: 0, kind: .input)
            #expect(service.bootInput == expected && service.inputs == [expected])
            let output = try #require(peer.handles(0x2A32).first)
            #expect(service.reports == [HIDDevice.Report(value: output, configuration: nil, id: 0, kind: .output)])
            #expect(service.protocolMode == peer.handles(0x2A4E).first)
            #expect(device.hasKeyboard && service.range == peer.services[3].handles)
        }
        var keyboard = try HIDPeer([(0x1812, [.bootInput]), (0x1812, [.map(HIDMaps.keyboard), .input(0), .bootInput])])
        #expect(keyboard.discover().progress.device?.services.map(\.bootInput) == [nil])
        var mouse = try HIDPeer(map: HIDMaps.mouse, [.input(0), .bootInput])
        #expect(mouse.discover().progress == .unusable(.noKeyboard([.mouse])))
    }

    @Test("The map of the boot protocol has an input report of 8 bytes with all keys, and the lights")
    func bootMap() throws {
        let map = try ReportMap(HIDDevice.bootMap)
        #expect(map.reports.map(\.kind) == [.input, .output] && map.reports.map(\.bytes) == [8, 1])
        #expect(map.hasKeyboardInput && !map.isNumbered && map.lights(numLock: true).map(\.payload) == [[1]])
        var reader = ReportReader(map)
        let report: [UInt8] = [0x02, 0, 0x87, 0xFF, 0, 0, 0, 0x04]
        let reading = reader.read(report.span, id: 0)
        #expect(reading.content == .keys(HeldKeys([0xE1, 0x87, 0xFF, 0x04])))
    }

    @Test("Handles that lie outside the service or do not ascend end the discovery")
    func lies() throws {
        for (index, value): (Int, UInt8) in [(2, 0x01), (2, 0xF0), (5, 0x08), (5, 0xF0)] {
            var peer = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
            peer.change = { request, response in
                guard response[0] == 0x09 else { return response }
                var lie = response
                lie[index] = value
                return lie
            }
            guard case .failed(.handleOutOfOrder) = peer.discover().progress else {
                Issue.record("accepted \(value) at \(index)")
                continue
            }
        }
        var peer = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
        let service = GATTService(
            handles: AttributeHandleRange(start: AttributeHandle(9), end: AttributeHandle(8)),
            uuid: 0x1812
        )
        #expect(peer.discover([service]) == (.unusable(.noService), 1))
        let real = peer.services[2]
        #expect(peer.discover([real, real]).ignored == 1)
    }

    @Test("The ninth service and the 65th report are ignored and counted, as are further maps")
    func limits() throws {
        let service: (BluetoothUUID, [HIDCharacteristic]) = (0x1812, [.map(HIDMaps.keyboard), .input(0)])
        var services = try HIDPeer(Array(repeating: service, count: 10))
        let (progress, ignored) = services.discover()
        #expect(progress.device?.services.count == 8 && ignored == 2)
        var reports = try HIDPeer(map: HIDMaps.keyboard, Array(repeating: .input(0), count: 66) + [.map(HIDMaps.mouse)])
        let (many, extra) = reports.discover()
        #expect(
            many.device?.services[0].reports.map(\.value) == Array(reports.handles(0x2A4D).prefix(64)) && extra == 3
        )
        #expect(many.device?.services[0].map == HIDMaps.keyboard)
    }

    @Test("A discovery ends after its time, after its attributes, and with the bearer")
    func bounds() throws {
        var slow = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
        slow.delay = .seconds(25)
        #expect(slow.discover().progress == .failed(.tookTooLong(limit: .seconds(120))))
        #expect(slow.sent.count == 6)
        var inTime = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
        inTime.now = .seconds(1000)
        inTime.delay = .seconds(9)
        #expect(inTime.discover().progress.device != nil)
        var silent = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
        silent.change = { request, response in request.opcode == .readRequest ? nil : response }
        guard case .failed(.bearer) = silent.discover().progress else {
            Issue.record("no end")
            return
        }
        // Descriptors without end: 4,096 attributes in all.
        let most = AttributeHandleRange(start: AttributeHandle(7), end: .last)
        var endless = try HIDPeer([(0x1812, [])])
        endless.change = { request, _ in
            switch request {
            case .readByTypeRequest(let range, _):
                guard range.start.rawValue < 0x2000 else { return Self.refusal(request, 0x0A) }
                // Reports that are 0x0200 handles apart.
                let high = UInt8(range.start.rawValue >> 8) + 2
                return [0x09, 7, 0x00, high, 0x10, 0x01, high, 0x4D, 0x2A]
            case .findInformationRequest(let range):
                let start = range.start.rawValue
                return [0x05, 1, UInt8(truncatingIfNeeded: start), UInt8(start >> 8), 0x00, 0x29]
            default: return Self.refusal(request, 0x0E)
            }
        }
        let service = GATTService(handles: most, uuid: 0x1812)
        #expect(endless.discover([service]).progress == .failed(.tooManyAttributes(limit: 4096)))
    }

    @Test("A device that answers at random ends each discovery, within its requests, and is kept only if it is valid")
    func hostileDevices() throws {
        let runs = RunCount.from("BLEWEDGE_HID_DEVICES", usual: 10_000)
        var random = SeededGenerator(seed: 38)
        var ends: [String: Int] = [:]
        let map = HIDMaps.other(0x01, 0x02, id: 1) + HIDMaps.keyboard(id: 2)
        let model = try HIDPeer([
            (0x1812, [.protocolMode, .map(map, external: true), .input(1), .input(2), .bootInput, .information]),
            (0x180F, [HIDCharacteristic(0x2A19, [.read, .notify], [90])]),
            (0x180A, [HIDCharacteristic(0x2A50, .read, [2, 0, 0, 0, 0, 0, 0])]),
            (0x1812, [.map(HIDMaps.keyboard), .report(reference: nil), .report(.output, reference: [0, 2])]),
        ])
        for _ in 0..<runs {
            var peer = model
            let percent = Int.random(in: 1...20, using: &random)
            var seed = random
            peer.change = { _, response in
                guard Int.random(in: 0..<100, using: &seed) < percent else { return response }
                return Self.mutated(response, &seed)
            }
            _ = random.next()
            let progress = peer.discover().progress
            #expect(peer.sent.count <= 4096)
            switch progress {
            case .underWay: Issue.record("no end")
            case .found(let device):
                ends["found", default: 0] += 1
                #expect(device.hasKeyboard)
                #expect(try HIDDevice(record: device.record) == device)
                var input = HIDInput(device, KeyDecoder.Settings())
                var text: [UInt8] = []
                for service in device.services {
                    for report in service.reports {
                        let value: [UInt8] = (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }
                        let outcome = input.receive(value.span, from: report.value, into: &text)
                        #expect((outcome != nil) == input.handles(report.value))
                    }
                }
            case .unusable: ends["unusable", default: 0] += 1
            case .failed: ends["failed", default: 0] += 1
            }
        }
        #expect(ends.count == 3, "\(ends)")
    }

    /// Returns a response with changed, missing or added bytes, another response, or nil for silence.
    static func mutated(_ response: [UInt8], _ random: inout SeededGenerator) -> [UInt8]? {
        var bytes = response
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return [0x01, 0x08, 0, 0, UInt8.random(in: 0...20, using: &random)]
        case 1: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        case 2: bytes.append(UInt8.random(in: 0...255, using: &random))
        case 3 where Int.random(in: 0..<4, using: &random) == 0: return nil
        default:
            guard let index = bytes.indices.dropFirst().randomElement(using: &random) else { break }
            bytes[index] = UInt8.random(in: 0...255, using: &random)
        }
        return bytes
    }
}
