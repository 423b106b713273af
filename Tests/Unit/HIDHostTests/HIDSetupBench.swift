// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDHost

/// Keyboard with a mouse, Service Changed and, on request, a Database Hash, and the setup of one connection to it.
///
/// The handles are: keyboard 0x0007 to 0x000D, with map 0x0009, input 0x000B and its configuration 0x000C; mouse 0x000E
/// to 0x0014, with map 0x0010; Generic Attribute from 0x0015, with the configuration 0x0018 and the hash 0x001A.
struct HIDSetupBench {
    /// Description of the keyboard at the time of a request.
    private final class Snapshot {
        var device: HIDDevice?
    }

    static let hash = [UInt8](0xA0..<0xB0)
    /// Requests that compare the hash; the second one finds no further hash.
    static let hashRequests: [[UInt8]] = [
        [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x2A, 0x2B], [0x08, 0x1B, 0x00, 0xFF, 0xFF, 0x2A, 0x2B],
    ]
    /// Requests that compare both maps.
    static let mapRequests: [[UInt8]] = [
        [0x08, 0x07, 0x00, 0x0D, 0x00, 0x4B, 0x2A], [0x08, 0x0A, 0x00, 0x0D, 0x00, 0x4B, 0x2A],
        [0x0A, 0x09, 0x00], [0x0C, 0x09, 0x00, 0x16, 0x00], [0x0C, 0x09, 0x00, 0x2C, 0x00],
        [0x08, 0x0E, 0x00, 0x14, 0x00, 0x4B, 0x2A], [0x08, 0x11, 0x00, 0x14, 0x00, 0x4B, 0x2A],
        [0x0A, 0x10, 0x00], [0x0C, 0x10, 0x00, 0x16, 0x00],
    ]
    /// Writes of the subscriptions: input report and Service Changed.
    static let writes: [[UInt8]] = [[0x12, 0x0C, 0x00, 0x01, 0x00], [0x12, 0x18, 0x00, 0x02, 0x00]]
    /// First request of a discovery of services.
    static let services: [UInt8] = [0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28]

    var peer: HIDPeer
    private(set) var setup: HIDSetup
    /// Description that a discovery finds.
    let device: HIDDevice
    /// Replaces the response to a request, as in `HIDPeer`.
    var change: (_ request: ATTPDU, _ response: [UInt8]) -> [UInt8]? = { $1 }
    /// Number of the procedure, from 0, before whose end the device reports changed services; nil for none.
    var changedAt: Int?
    /// Descriptions at the time of each write.
    private(set) var devicesAtWrites: [HIDDevice?] = []

    /// Creates a setup of a new keyboard.
    init(hasHash: Bool = true, map: [UInt8] = HIDMaps.keyboard) throws {
        let hash = HIDCharacteristic(0x2B2A, .read, Self.hash)
        peer = try HIDPeer([
            (0x1812, [.map(map), .input(0)]), (0x1812, [.map(HIDMaps.mouse), .input(0)]),
            (0x1801, [HIDCharacteristic(0x2A05, .indicate, [])] + (hasHash ? [hash] : [])),
        ])
        // The first Generic Attribute service, which is empty, is not discovered.
        let services = peer.services.filter { $0.handles.start != AttributeHandle(6) }
        var other = peer
        device = other.discover(services).progress.device ?? HIDDevice(services: [])
        setup = HIDSetup(services, numLock: true)
    }

    /// Creates a setup of a kept keyboard, whose description is changed by `edit`.
    init(hasHash: Bool = true, kept edit: (inout HIDDevice) -> Void) throws {
        try self.init(hasHash: hasHash)
        var kept = device
        edit(&kept)
        setup = HIDSetup(kept: kept, numLock: true)
    }

    /// Requests since the last call of `begin` or `discoverAgain`.
    var sent: [[UInt8]] { peer.sent }

    /// Runs the setup until it ends.
    mutating func begin() -> HIDSetup.Progress {
        run { setup, client, now in setup.begin(&client, now: now) }
    }

    /// Reports changed services after the setup, and runs it until it ends.
    mutating func discoverAgain() -> HIDSetup.Progress {
        run { setup, client, now in setup.discoverAgain(&client, now: now) }
    }

    private mutating func run(
        _ body: (inout HIDSetup, inout GATTClient, Duration) -> HIDSetup.Progress
    ) -> HIDSetup.Progress {
        let (change, snapshot) = (change, Snapshot())
        var devices: [HIDDevice?] = []
        peer.sent = []
        peer.change = { request, response in
            if request.opcode == .writeRequest { devices.append(snapshot.device) }
            return change(request, Self.withoutFirst(response))
        }
        var (setup, changedAt) = (setup, changedAt)
        var progress = body(&setup, &peer.client, peer.now)
        snapshot.device = setup.device
        peer.run { event, client, now in
            guard progress == .underWay else { return }
            if changedAt == 0 { progress = setup.discoverAgain(&client, now: now) }
            changedAt = changedAt.map { $0 - 1 }
            guard progress == .underWay else { return }
            progress = setup.handle(event, &client, now: now)
            snapshot.device = setup.device
        }
        self.setup = setup
        devicesAtWrites = devices
        return progress
    }

    /// Removes the first Generic Attribute service from a list of services.
    private static func withoutFirst(_ response: [UInt8]) -> [UInt8] {
        let entry: [UInt8] = [0x06, 0x00, 0x06, 0x00, 0x01, 0x18]
        guard response.count >= 14, response[0] == 0x11, Array(response[8..<14]) == entry else { return response }
        return Array(response[..<8] + response[14...])
    }
}
