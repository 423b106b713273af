// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothHost
import BluetoothPackets

/// Regions that are monitored during a flood of beacons, for the Benchmarks package (B-23).
public struct BeaconReading {
    /// Returns a UUID in big-endian order; the UUIDs differ only in their last bytes.
    static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: number)
    }

    /// Returns the bytes of `count` monitored UUIDs, 16 bytes each.
    public static func uuids(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { number in
            let uuid = uuid(UInt64(number))
            return [uuid.high, uuid.low].flatMap { half in
                (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
            }
        }
    }

    /// Returns concatenated events with one report each, and their lengths: iBeacons of unknown regions, and every 64th
    /// one in one of the first ten regions.
    public static func flood(_ count: Int) -> (bytes: [UInt8], lengths: [UInt16]) {
        var bytes: [UInt8] = []
        var lengths: [UInt16] = []
        for number in 0..<count {
            let isWatched = number % 64 == 63
            let uuid = uuid(isWatched ? UInt64(number / 64 % 10) : UInt64(number) &+ 1 << 32)
            let identity = BeaconIdentity(uuid, major: 1, minor: UInt16(truncatingIfNeeded: number))
            guard let frame = BeaconFrame(.iBeacon, identity, measuredPower: -59),
                let data = try? AdvertisementLayout(frame.content(), canBeAsked: false).data
            else { continue }
            let sender = (0..<6).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            let parameters = [0x02, 1, 3, 1] + sender + [UInt8(data.count)] + data + [0xC8]
            let packet = [0x04, 0x3E, UInt8(parameters.count)] + parameters
            bytes += packet
            lengths.append(UInt16(packet.count))
        }
        return (bytes, lengths)
    }

    private var monitor: BeaconMonitor
    private var now = Duration.zero

    /// Creates a monitor of this number of regions.
    public init?(regions: Int) {
        let lines = (0..<regions).map { "static \(BeaconRegion(Self.uuid(UInt64($0))))" }
        guard let file = try? RegionFile(lines.joined(separator: "\n")) else { return nil }
        monitor = BeaconMonitor(RegionCatalogue(file))
        guard monitor.watch(.initial) == regions else { return nil }
    }

    /// Also ranges as many regions as possible, starting with the first; returns their number.
    public mutating func range() -> Int {
        (0..<BeaconMonitor.mostRanged).count { monitor.range(BeaconRegion(Self.uuid(UInt64($0))), now: now) }
    }

    /// Textual description of the table sizes.
    public var tables: String { "\(monitor.tables)" }

    /// Number of regions that we are inside.
    public var inside: Int { monitor.inside.count }

    /// Passes all events to the monitor, as the daemon does; returns the number of entered regions.
    public mutating func handle(_ events: (bytes: [UInt8], lengths: [UInt16])) -> Int {
        var entered = 0
        let span = events.bytes.span
        var at = 0
        for length in events.lengths {
            let end = at + Int(length)
            monitor.handle(span.extracting(at..<end), now: now) { _ in entered += 1 }
            at = end
        }
        now += .milliseconds(100)
        return entered
    }
}
