// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Link
import Testing

@Suite("Setting up a link")
struct LinkSetupTests {
    /// Expected request, and the device's response.
    private typealias Exchange = (sent: [UInt8], answer: [UInt8])

    /// Returns the LINBLE service's UUID as in a PDU; its last four bytes depend on the characteristic.
    private static func uuid(_ low: UInt8) -> [UInt8] {
        [0xE8, 0xF3, 0x76, 0x90, 0xFF, 0xB8, 0x54, 0x91, 0x5A, 0x46, 0xEB, 0x35, low, 0xC9, 0xAD, 0x27]
    }

    private static let service: Exchange = (
        [0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28] + uuid(0xCA), [0x07, 0x10, 0x00, 0x14, 0x00]
    )
    private static let serviceEnd: Exchange = (
        [0x06, 0x15, 0x00, 0xFF, 0xFF, 0x00, 0x28] + uuid(0xCA), [0x01, 0x06, 0x15, 0x00, 0x0A]
    )
    private static let characteristic: Exchange = (
        [0x08, 0x10, 0x00, 0x14, 0x00, 0x03, 0x28], [0x09, 0x15, 0x11, 0x00, 0x10, 0x12, 0x00] + uuid(0xCB)
    )
    private static let characteristicEnd: Exchange = (
        [0x08, 0x12, 0x00, 0x14, 0x00, 0x03, 0x28], [0x01, 0x08, 0x12, 0x00, 0x0A]
    )

    /// Performs the exchanges, comparing the requests byte for byte, and returns the result.
    private func play(_ exchanges: [Exchange]) throws -> (LinkSetup.Progress, LinkSetup) {
        var client = GATTClient()
        var setup = LinkSetup(profile: .linble)
        var progress = setup.begin(&client, now: .zero)
        for exchange in exchanges {
            #expect(progress == .underWay)
            let next = client.nextOutgoing()
            let sent = try #require(next)
            #expect(Hexadecimal.text(sent) == Hexadecimal.text(exchange.sent))
            _ = client.receive(exchange.answer.span, now: .zero)
            while let event = client.nextEvent() { progress = setup.handle(event, &client, now: .zero) }
        }
        return (progress, setup)
    }

    @Test(
        "LK-15, CB-31: discovery requests only the service by UUID, its characteristics and the subscription"
    )
    func wholeWay() throws {
        let (progress, setup) = try play([
            Self.service, Self.serviceEnd, Self.characteristic, Self.characteristicEnd,
            // Discovers the descriptors after the value: 0x13 is the client characteristic configuration.
            ([0x04, 0x13, 0x00, 0x14, 0x00], [0x05, 0x01, 0x13, 0x00, 0x02, 0x29, 0x14, 0x00, 0x01, 0x29]),
            ([0x12, 0x13, 0x00, 0x01, 0x00], [0x13]),
        ])
        #expect(progress == .ready(AttributeHandle(0x0012)))
        #expect(setup.wanted == AttributeHandle(0x0012))
        #expect(setup.replies == nil)
    }

    @Test("LK-15: a device without the service is unsupported")
    func noService() throws {
        // The service is found neither by its UUID nor among all services.
        let (progress, _) = try play([
            (Self.service.sent, [0x01, 0x06, 0x01, 0x00, 0x0A]),
            ([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28], [0x01, 0x10, 0x01, 0x00, 0x0A]),
            // The offered services are discovered for the error message.
            ([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28], [0x01, 0x10, 0x01, 0x00, 0x0A]),
        ])
        guard case .unsupported = progress else {
            Issue.record("\(progress)")
            return
        }
    }

    @Test("LK-15: a service without the characteristic, or with one that cannot notify, is unsupported")
    func noCharacteristic() throws {
        let (missing, _) = try play([
            Self.service, Self.serviceEnd,
            (Self.characteristic.sent, [0x01, 0x08, 0x10, 0x00, 0x0A]),
        ])
        guard case .unsupported = missing else {
            Issue.record("\(missing)")
            return
        }
        let readOnly: [UInt8] = [0x09, 0x15, 0x11, 0x00, 0x02, 0x12, 0x00] + Self.uuid(0xCB)
        let (unable, _) = try play([
            Self.service, Self.serviceEnd, (Self.characteristic.sent, readOnly), Self.characteristicEnd,
        ])
        guard case .unsupported = unable else {
            Issue.record("\(unable)")
            return
        }
    }

    @Test("D-36: a serial service without a client configuration descriptor is used, although there is a HID service")
    func serialBeforeKeyboard() {
        var silent = ScriptedDevice.Service(.hm10)
        silent.isConfigurable = false
        var keyboard = ScriptedDevice.Service(.nordic)
        keyboard.uuid = .humanInterfaceDevice
        for services in [[silent, keyboard], [keyboard, silent]] {
            let device = ScriptedDevice(services, LinkSetup(profiles: Profile.automatic))
            device.run()
            guard case .ready? = device.progress.first, device.progress.count == 1 else {
                Issue.record("\(device.progress)")
                continue
            }
            #expect(device.setup.profile == .hm10)
            #expect(device.setup.keyboard == nil)
        }
    }

    @Test("D-36: a characteristic without a client configuration descriptor is listened to, notified or indicated")
    func noConfiguration() {
        for opcode: UInt8 in [0x1B, 0x1D] {
            var service = ScriptedDevice.Service(.linble)
            service.isConfigurable = false
            let device = ScriptedDevice([service], LinkSetup(profile: .linble))
            device.run()
            #expect(device.progress == [.ready(AttributeHandle(0x0014))])
            device.notify([0x41], opcode: opcode)
            #expect(device.typed == [0x41])
        }
    }

    @Test(
        "D-36: of two services the one that can be told to send is taken, whichever comes first; of two without, the first"
    )
    func oneWithConfiguration() {
        for isConfigurable in [[false, true], [true, false], [false, false]] {
            var services = [ScriptedDevice.Service(.nordic), .init(.hm10, write: 0x08)]
            for index in services.indices { services[index].isConfigurable = isConfigurable[index] }
            let device = ScriptedDevice(services, LinkSetup(profiles: [.nordic, .hm10]))
            device.run()
            #expect(device.setup.profile == (isConfigurable == [false, true] ? .hm10 : .nordic))
            #expect(
                device.setup.output?.properties
                    == (isConfigurable == [false, true] ? [.notify, .write] : .writeWithoutResponse)
            )
            #expect(device.progress.count == 1)
        }
    }

    @Test(
        "D-36: a value is delivered by its handle, notified or indicated, whichever was asked for",
        arguments: [0x10, 0x20, 0x30]
    )
    func byHandle(_ properties: UInt8) {
        var service = ScriptedDevice.Service(.linble)
        service.output?.properties = properties
        let device = ScriptedDevice([service], LinkSetup(profile: .linble))
        device.run()
        for opcode: UInt8 in [0x1B, 0x1D] { device.notify([opcode], opcode: opcode) }
        #expect(device.typed == [0x1B, 0x1D])
    }

    @Test(
        "One UUID twice in a service: the one that sends is subscribed to, the one that takes bytes is written, in either order"
    )
    func sameUUIDTwice() throws {
        // FFE1 at 0x0012 and 0x0014: one is writable (0x0C), and the other readable with notifications (0x12).
        for (first, second): (UInt8, UInt8) in [(0x0C, 0x12), (0x12, 0x0C)] {
            let notifying: UInt8 = first == 0x12 ? 0x12 : 0x14
            let writing: UInt8 = first == 0x12 ? 0x14 : 0x12
            var client = GATTClient()
            var setup = LinkSetup(profile: .hm10)
            var progress = setup.begin(&client, now: .zero)
            let answers: [[UInt8]] = [
                [0x07, 0x10, 0x00, 0xFF, 0xFF],
                [0x09, 0x07, 0x11, 0x00, first, 0x12, 0x00, 0xE1, 0xFF, 0x13, 0x00, second, 0x14, 0x00, 0xE1, 0xFF],
                [0x01, 0x08, 0x14, 0x00, 0x0A],
            ]
            for answer in answers {
                #expect(client.nextOutgoing() != nil)
                _ = client.receive(answer.span, now: .zero)
                while let event = client.nextEvent() { progress = setup.handle(event, &client, now: .zero) }
            }
            #expect(progress == (notifying == 0x12 ? .ready(AttributeHandle(0x12)) : .underWay))
            #expect(setup.wanted == AttributeHandle(UInt16(notifying)))
            #expect(setup.output?.valueHandle == AttributeHandle(UInt16(writing)))
        }
    }
}
