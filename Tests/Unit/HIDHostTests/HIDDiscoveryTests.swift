// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDHost
import HIDReports
import Testing

@Suite("Discovery of HID services")
struct HIDDiscoveryTests {
    private static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(number) }

    private static func report(
        _ value: UInt16,
        _ configuration: UInt16?,
        _ id: UInt8,
        _ kind: ReportKind = .input
    ) -> HIDDevice.Report {
        HIDDevice.Report(value: handle(value), configuration: configuration.map(handle), id: id, kind: kind)
    }

    @Test(
        "A keyboard is found with all its handles, whatever the length of its map",
        arguments: [23, 24, 517],
        [63, 700, 4096]
    )
    func keyboard(mtu: UInt16, length: Int) throws {
        let map = HIDMaps.keyboard(length: length)
        var peer = try HIDPeer(
            [
                (
                    0x1812,
                    [
                        .protocolMode, .map(map, external: true), .unknown, .input(0),
                        .report(.output, reference: [0, 2]), .report(.feature, reference: [3, 3]), .bootInput,
                        .information,
                    ]
                ),
                (0x180F, [HIDCharacteristic(0x2A19, [.read, .notify], [90])]),
                (0x180A, [HIDCharacteristic(0x2A50, .read, [2, 0x34, 0x12, 0x78, 0x56, 0x00, 0x01])]),
            ],
            mtu: mtu
        )
        let mapHandle = try #require(peer.handles(0x2A4B).first)
        peer.values[mapHandle] = map
        var service = HIDDevice.Service(
            range: AttributeHandleRange(start: Self.handle(0x0007), end: Self.handle(0x001E)),
            map: map
        )
        service.reports = [
            Self.report(0x0011, 0x0012, 0), Self.report(0x0015, nil, 0, .output), Self.report(0x0018, nil, 3, .feature),
        ]
        service.protocolMode = Self.handle(0x0009)
        (service.version, service.country, service.flags) = (0x0111, 0x21, 3)
        var expected = HIDDevice(services: [service])
        expected.battery = HIDDevice.Value(value: Self.handle(0x0021), configuration: Self.handle(0x0022))
        expected.pnp = HIDDevice.PnPID(vendorSource: 2, vendor: 0x1234, product: 0x5678, version: 0x0100)
        let (progress, ignored) = peer.discover()
        #expect(progress == .found(expected))
        #expect(ignored == 0)
        #expect(expected.hasKeyboard && service.hasKeyboard && service.inputs == [service.reports[0]])
        // The external reference is read, and the unknown characteristic is not.
        #expect(peer.sent.contains([0x0A, 0x0C, 0x00]) && !peer.sent.contains([0x0A, 0x0F, 0x00]))
    }

    @Test("Service Changed and the Database Hash are found; the hash is read by its type, before the HID services")
    func genericAttribute() throws {
        let hash = [UInt8](1...16)
        let changed = HIDCharacteristic(0x2A05, .indicate, [])
        for (value, expected) in [(hash, hash), (Array(hash.dropLast()), nil), (hash + [17], nil)] {
            var peer = try HIDPeer([
                (0x1812, [.map(HIDMaps.keyboard), .input(0)]),
                (0x1801, [changed, HIDCharacteristic(0x2B2A, .read, value)]),
            ])
            // The builder's own service has the same UUID and is empty.
            let services = peer.services.filter { $0.uuid != 0x1801 } + peer.services.suffix(1)
            let device = try #require(peer.discover(services).progress.device)
            #expect(device.databaseHash == expected)
            #expect(
                device.serviceChanged
                    == HIDDevice.Value(value: Self.handle(0x0010), configuration: Self.handle(0x0011))
            )
            let read = peer.sent.firstIndex(of: [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x2A, 0x2B])
            let hid = peer.sent.firstIndex(of: [0x08, 0x07, 0x00, 0x0D, 0x00, 0x03, 0x28])
            #expect(try #require(read) < #require(hid))
        }
    }

    @Test("Two services with the same report id stay apart, each with its own map")
    func twoServices() throws {
        var peer = try HIDPeer([
            (0x1812, [.map(HIDMaps.keyboard(id: 1)), .input(1)]), (0x1812, [.map(HIDMaps.bitmap), .input(0)]),
            (0x1812, [.map(HIDMaps.other(0x01, 0x02, id: 1)), .input(1)]),
        ])
        let device = try #require(peer.discover().progress.device)
        #expect(device.services.map(\.map) == [HIDMaps.keyboard(id: 1), HIDMaps.bitmap, HIDMaps.other(1, 2, id: 1)])
        #expect(device.services.map(\.hasKeyboard) == [true, true, false])
        #expect(device.services.flatMap(\.reports).map(\.value) == peer.handles(0x2A4D))
        #expect(device.services.flatMap(\.reports).map(\.id) == [1, 0, 1])
    }

    @Test("A keyboard with id 2 behind a mouse is found")
    func behindMouse() throws {
        let map = HIDMaps.other(0x01, 0x02, id: 1) + HIDMaps.keyboard(id: 2)
        var peer = try HIDPeer(map: map, [.input(1), .input(2)])
        let device = try #require(peer.discover().progress.device)
        #expect(device.hasKeyboard && device.services[0].reports.map(\.id) == [1, 2])
        var onlyMouse = try HIDPeer(map: map, [.input(1)])
        #expect(onlyMouse.discover().progress == .unusable(.noInputReport))
    }

    @Test("A device without a keyboard is named by the usages of its collections, each once")
    func others() throws {
        for (page, usage, kind): (UInt8, UInt8, HIDDeviceKind) in [
            (0x01, 0x02, .mouse), (0x01, 0x04, .joystick), (0x01, 0x05, .gamepad), (0x01, 0x06, .other),
            (0x0C, 0x01, .consumerControl), (0x0C, 0x02, .other), (0x0D, 0x01, .digitizer), (0x0D, 0x05, .digitizer),
            (0x8C, 0x02, .other),
        ] {
            var peer = try HIDPeer(map: HIDMaps.other(page, usage), [.input(0)])
            #expect(peer.discover().progress == .unusable(.noKeyboard([kind])))
        }
        // Keys of an output report, such as those of a text display.
        let display: [UInt8] = [0x05, 0x07, 0x19, 0x04, 0x29, 0x05, 0x75, 0x08, 0x95, 0x01, 0x91, 0x00]
        var output = try HIDPeer(map: HIDMaps.mouse + display, [.input(0), .report(.output, reference: [0, 2])])
        #expect(output.discover().progress == .unusable(.noKeyboard([.mouse])))
        // A collection inside another, or of another type, says nothing of the device.
        let nested = [0x05, 0x0C, 0x09, 0x01, 0xA1, 0x01] + HIDMaps.mouse + [0xC0]
        let physical = [0x05, 0x01, 0x09, 0x05, 0xA1, 0x00, 0xC0] + HIDMaps.mouse
        var inner = try HIDPeer(map: nested, [.input(0)])
        #expect(inner.discover().progress == .unusable(.noKeyboard([.consumerControl])))
        var peer = try HIDPeer([
            (0x1812, [.map(nested)]), (0x1812, [.map(physical)]), (0x1812, [.map(HIDMaps.mouse + HIDMaps.mouse)]),
        ])
        #expect(peer.discover().progress == .unusable(.noKeyboard([.consumerControl, .mouse])))
    }

    @Test("Without a HID service nothing is requested, and a service without a map has no keyboard")
    func noService() throws {
        var peer = try HIDPeer([(0x180F, [])])
        #expect(peer.discover().progress == .unusable(.noService))
        #expect(peer.sent.isEmpty)
        var noMap = try HIDPeer([(0x1812, [.input(0)])])
        #expect(noMap.discover().progress == .unusable(.noMap(service: 0)))
    }

    @Test("A bad map is refused with the item; the reason of another service prevails if it says more")
    func badMaps() throws {
        let bad: [UInt8] = [0x85, 0x00] + HIDMaps.keyboard
        let error = ReportMapError(offset: 0, reason: .reportID(0))
        var peer = try HIDPeer([(0x1812, [.map(HIDMaps.mouse)]), (0x1812, [.map(bad)])])
        #expect(peer.discover().progress == .unusable(.badMap(error, service: 1)))
        var keyboard = try HIDPeer([(0x1812, [.map(bad)]), (0x1812, [.map(HIDMaps.keyboard), .input(0)])])
        #expect(keyboard.discover().progress.device?.services.map(\.map) == [HIDMaps.keyboard])
        var noInput = try HIDPeer([
            (0x1812, [.map(bad)]), (0x1812, [.map(HIDMaps.keyboard)]), (0x1812, []), (0x1812, [.map(bad)]),
        ])
        #expect(noInput.discover().progress == .unusable(.noInputReport))
        var empty = try HIDPeer([(0x1812, [.map([])])])
        let emptyError = ReportMapError(offset: 0, reason: .empty)
        #expect(empty.discover().progress == .unusable(.badMap(emptyError, service: 0)))
        // The map does not fill its last response, so the device has sent all of it.
        var cut = try HIDPeer([(0x1812, [.map(Array(HIDMaps.keyboard.dropLast()))])])
        let cutError = ReportMapError(offset: 62, reason: .openCollection)
        #expect(cut.discover().progress == .unusable(.badMap(cutError, service: 0)))
    }

    @Test("An unreadable map does not hide the keyboard of another service")
    func unreadableService() throws {
        var peer = try HIDPeer([
            (0x1812, [.map(HIDMaps.mouse, read: .never)]), (0x1812, [.map(HIDMaps.keyboard), .input(0)]),
        ])
        #expect(peer.discover().progress.device?.services.map(\.map) == [HIDMaps.keyboard])
    }

    @Test("The optional services may refuse everything, even for lack of security")
    func optionalServices() throws {
        for error: UInt8 in [0x02, 0x05, 0x0E, 0x0F] {
            var peer = try HIDPeer([
                (0x1812, [.map(HIDMaps.keyboard, external: true), .input(0)]),
                (0x180F, [HIDCharacteristic(0x2A19, [.read, .notify], [90])]),
                (0x180A, [HIDCharacteristic(0x2A50, .read, [2, 0, 0, 0, 0, 0, 0])]),
                (0x1801, [HIDCharacteristic(0x2A05, .indicate, []), HIDCharacteristic(0x2B2A, .read, [])]),
            ])
            let services = peer.services.filter { $0.uuid != 0x1801 } + peer.services.suffix(1)
            let hid = try #require(services.first { $0.uuid == 0x1812 }).handles
            let external = AttributeHandle(0x000A)
            let plain = peer.discover(services).progress.device
            #expect(plain?.battery != nil && plain?.pnp != nil && plain?.serviceChanged != nil)
            peer.change = { request, response in
                switch request {
                case .readByTypeRequest(let range, _) where !hid.contains(range.start): break
                case .findInformationRequest(let range) where !hid.contains(range.start): break
                case .readRequest(let handle) where !hid.contains(handle) || handle == external: break
                default: return response
                }
                return [0x01, request.opcode.rawValue, 0, 0, error]
            }
            let device = try #require(peer.discover(services).progress.device)
            #expect(device == HIDDevice(services: plain?.services ?? []))
        }
    }

    @Test("Of repeated optional characteristics the first counts, and a PnP ID of another length is ignored")
    func repeated() throws {
        let level = HIDCharacteristic(0x2A19, [.read, .notify], [90])
        let changed = HIDCharacteristic(0x2A05, .indicate, [])
        for length in [6, 8] {
            var peer = try HIDPeer([
                (0x1812, [.map(HIDMaps.keyboard), .input(0)]), (0x180F, [level, level]),
                (0x180A, [HIDCharacteristic(0x2A50, .read, [UInt8](repeating: 1, count: length))]),
                (0x1801, [changed, changed]),
            ])
            let services = peer.services.filter { $0.uuid != 0x1801 } + peer.services.suffix(1)
            let device = try #require(peer.discover(services).progress.device)
            #expect(device.battery?.value == peer.handles(0x2A19).first && device.pnp == nil)
            #expect(device.serviceChanged?.value == peer.handles(0x2A05).first)
        }
    }

    @Test("The end of another procedure is no step of the discovery")
    func otherProcedures() throws {
        var peer = try HIDPeer(map: HIDMaps.keyboard, [.input(0)])
        _ = try peer.client.read(AttributeHandle(0xFFFF), now: .zero)
        _ = try peer.client.discoverPrimaryServices(now: .zero)
        #expect(peer.discover().progress.device?.hasKeyboard == true)
    }
}
