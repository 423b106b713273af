// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

/// The selected device in a crowd of stronger devices with changing addresses, with a simulated controller and virtual
/// time.
@Suite(.timeLimit(.minutes(10))) struct CrowdTests {
    private static let rate = 10_000
    private static let printed = BluetoothAddress(rawValue: 0xC0FF_EE01_0203)
    private static let name: [UInt8] = [10, 9] + Array("SCANNER-1".utf8)
    private static let carried: [UInt8] = [9, 0xFF, 0x4C, 0x00, 0xC0, 0xFF, 0xEE, 0x01, 0x02, 0x03]

    private static func report(_ sender: UInt64, _ data: [UInt8], _ rssi: Int8) -> [UInt8] {
        ScanEvents.legacy(sender, data, rssi: rssi)
    }

    @Test(
        "Among 10,000 stronger addresses a second, the chosen device is connected to at its first advertisement",
        arguments: ["address", "address and place", "address carried", "name"]
    )
    func minute(_ choice: String) throws {
        let (filter, data): (ScanFilter, [UInt8]) =
            switch choice {
            case "address": (ScanFilter(identity: .init(ScanEvents.device(1).address)), Self.name)
            case "address and place":
                (
                    ScanFilter(
                        identity: .init(ScanEvents.device(1).address, advertisedAt: ManufacturerAddressField(offset: 2))
                    ), Self.name
                )
            case "address carried":
                (
                    ScanFilter(identity: .init(Self.printed, advertisedAt: ManufacturerAddressField(offset: 2))),
                    Self.carried
                )
            default: (ScanFilter(name: .exactly("scanner-1")), Self.name)
            }
        var controller = ModelController.ready(isExtended: false)
        let isBegun = controller.host.startScanning(
            .discovery,
            devices: DeviceTable(filter: filter, reportsDuplicates: true)
        )
        #expect(isBegun)
        controller.pump()
        controller.events = []
        let seconds = RunCount.from("BLEWEDGE_CROWD_SECONDS", usual: RunCount.isOptimized ? 60 : 3)
        let start = ContinuousClock.now
        var sender: UInt64 = 100
        for second in 0..<seconds {
            controller.advance(to: .seconds(second))
            for _ in 0..<Self.rate {
                sender += 1
                controller.send(Self.report(sender, [2, 1, 6, 4, 9, 0x41, 0x42, 0x43], -30))
            }
        }
        let time = ContinuousClock.now - start
        #expect(controller.events.isEmpty && controller.host.counters.dropped == 0)
        #expect(controller.host.scannedDevices.map { $0.count <= DeviceTable.capacity } == true)
        // The device must be recognized by its first advertisement.
        controller.send(Self.report(1, data, -60))
        guard case .scanned(let update)? = controller.events.last else {
            Issue.record("not heard by its \(choice)")
            return
        }
        #expect(update.device.address == ScanEvents.device(1) && update.device.isConnectable)
        controller.host.stopScanning()
        controller.host.connect(to: update.device.address, timeout: .seconds(15), now: controller.now)
        controller.pump()
        controller.send(Self.report(sender + 1, [2, 1, 6], -30))
        controller.connect(0x40, role: .central, peer: update.device.address)
        #expect(controller.host.connections.map(\.peer) == [ScanEvents.device(1)])
        let count = seconds * Self.rate
        print("BT-2: chosen by \(choice): \(count) stronger addresses in \(time), then connected")
    }

    @Test("Unread reports beyond the 1,024th are dropped, and each is counted")
    func unread() {
        var controller = ModelController.ready(isExtended: false)
        let isBegun = controller.host.startScanning(.discovery, devices: DeviceTable(reportsDuplicates: true))
        #expect(isBegun)
        controller.pump()
        controller.events = []
        for sender in 1...1029 as ClosedRange<UInt64> {
            controller.host.receive(Self.report(sender, [2, 1, 6], -60).span, now: controller.now)
        }
        #expect(controller.host.counters.dropped == 5)
        controller.pump()
        #expect(controller.events.count == 1024)
    }
}
