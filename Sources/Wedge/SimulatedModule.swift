// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import LinuxIO

/// A device of a profile that we play ourselves: it advertises, takes centrals, notifies what it is given, and says what is
/// written to it.
///
/// Like the module that it plays, it discards what it is given while nobody has subscribed. To be used on the loop's
/// thread.
package final class SimulatedModule {
    /// What happens, for who watches.
    package enum Event {
        /// A central has connected.
        case connected(DeviceAddress)
        /// A central wants the values, or wants them no more.
        case subscribed(Bool)
        /// A central has written.
        case received([UInt8])
        /// A central has gone.
        case disconnected(DeviceAddress, LinkFailure)
    }

    /// What was counted since the start.
    package struct Counts: Equatable, Sendable {
        /// Values that were queued for a subscriber, and their bytes.
        package var values = 0
        package var bytes = 0
        /// Values that nobody wanted.
        package var discarded = 0
    }

    private final class Peer {
        let channel: any ATTChannel
        let id: GATTServer.PeerID
        var client = GATTClient()
        var unsent: [UInt8]?
        var timer: EventLoop.Timer?

        init(_ channel: any ATTChannel, _ id: GATTServer.PeerID) {
            self.channel = channel
            self.id = id
        }
    }

    private let adapter: any LowEnergyAdapter
    private let loop: EventLoop
    private let name: String
    private let profile: Profile
    private var server: GATTServer
    private let output: AttributeHandle
    private let input: AttributeHandle
    private var peers: [Peer] = []

    /// What was counted so far.
    package private(set) var counts = Counts()
    /// Hears of everything.
    package var onEvent: ((Event) -> Void)?
    /// Called when there is room again for a value that `notify` did not take.
    package var onRoom: (() -> Void)?

    /// A module that does not advertise yet.
    ///
    /// Throws for a name of more than 248 bytes.
    package init(
        _ profile: Profile,
        name: String,
        on adapter: any LowEnergyAdapter,
        loop: EventLoop
    ) throws(GATTDatabaseError) {
        self.profile = profile
        self.name = name
        self.adapter = adapter
        self.loop = loop
        var builder = try GATTDatabaseBuilder(deviceName: name)
        let service = try builder.add(
            GATTServiceDefinition(
                uuid: profile.service,
                characteristics: [
                    GATTCharacteristicDefinition(uuid: profile.fromPeripheral, properties: .notify, value: .dynamic),
                    GATTCharacteristicDefinition(
                        uuid: profile.toPeripheral,
                        properties: .writeWithoutResponse,
                        value: .dynamic
                    ),
                ]
            )
        )
        output = service.value(of: profile.fromPeripheral) ?? .invalid
        input = service.value(of: profile.toPeripheral) ?? .invalid
        server = GATTServer(builder.database)
    }

    /// Advertises the service, and the name in the scan response, until `stop`.
    package func start(completion: @escaping (Result<Void, AdapterError>) -> Void) {
        adapter.advertise(
            Self.advertisement(of: profile.service, name: name),
            onConnection: { [unowned self] channel in accept(channel) },
            completion: completion
        )
    }

    /// Advertises no more and closes all links.
    package func stop(completion: @escaping () -> Void) {
        let devices = peers.map(\.channel.device)
        for peer in peers { close(peer) }
        var left = devices.count + 1
        let done = {
            left -= 1
            if left == 0 { completion() }
        }
        for device in devices { adapter.disconnect(device, completion: done) }
        adapter.stopAdvertising(completion: done)
    }

    /// Whether somebody wants the values.
    package var isSubscribed: Bool { !server.subscribers(of: output).isEmpty }

    /// Notifies a value to all who want it, in as many notifications as the shortest MTU needs; false when a queue has no
    /// room for all of it: then nothing was queued, and `onRoom` tells when to try again.
    package func notify(_ value: [UInt8]) -> Bool {
        let subscribers = server.subscribers(of: output)
        guard !subscribers.isEmpty else {
            counts.discarded += 1
            return true
        }
        let wanting = peers.filter { subscribers.contains($0.id) }
        let part = max(1, wanting.map { Int($0.client.mtu) - 3 }.min() ?? 20)
        var start = 0
        while start < value.count {
            let end = min(start + part, value.count)
            // Only values of one part are refused whole; longer ones go on when there is room, so callers keep to one.
            guard let full = try? server.update(Array(value[start..<end]), of: output), full.isEmpty else { return false }
            start = end
        }
        counts.values += 1
        counts.bytes += value.count
        for peer in wanting { pump(peer) }
        return true
    }

    /// Flags and the service in the advertisement, the name, shortened where it is too long, in the scan response.
    ///
    /// Core Specification Supplement, Part A, 1.1 to 1.3.
    private static func advertisement(of service: BluetoothUUID, name: String) -> Advertisement {
        let longest = 29
        let bytes = Array(name.utf8)
        let isWhole = bytes.count <= longest
        // General discoverable, no classic Bluetooth; one complete 128-bit service.
        let data: [UInt8] = [0x02, 0x01, 0x06, 0x11, 0x07] + service.littleEndianBytes
        let kept = isWhole ? bytes : Array(bytes.prefix(longest))
        return Advertisement(
            data: data,
            scanResponse: [UInt8(truncatingIfNeeded: kept.count + 1), isWhole ? 0x09 : 0x08] + kept
        )
    }
}
