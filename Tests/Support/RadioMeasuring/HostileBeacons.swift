// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothPackets
import Measuring

/// Advertising reports of hostile beacons, for tests and the Benchmarks package.
///
/// Each report has a random address, and usually a different identity: copies of monitored UUIDs with random major and
/// minor numbers, unknown regions, AltBeacons, Eddystones, truncated or overlong structures, arbitrary measured powers,
/// arbitrary RSSI values (often 127), and one malformed event in 64.
public struct HostileBeacons: Sendable {
    /// Numbers of reports, malformed events and beacons generated until now.
    public private(set) var made = (reports: 0, badEvents: 0, beacons: 0)

    private var random: SplitMix
    private let copied: [BluetoothUUID]

    /// Generates random reports, half of them with these UUIDs.
    public init(seed: UInt64, copying uuids: [String]) {
        random = SplitMix(seed: seed)
        copied = uuids.compactMap { BluetoothUUID($0) }
    }

    /// Generates random reports, half of them with `count` UUIDs of `BeaconReading`.
    public init(seed: UInt64, copying count: Int) {
        random = SplitMix(seed: seed)
        copied = (0..<count).map { BeaconReading.uuid(UInt64($0)) }
    }

    /// Returns `count` events with H4 indicators and one report each, and their lengths.
    public mutating func block(_ count: Int) -> (bytes: [UInt8], lengths: [UInt16]) {
        var bytes: [UInt8] = []
        var lengths: [UInt16] = []
        bytes.reserveCapacity(count * 48)
        lengths.reserveCapacity(count)
        for _ in 0..<count {
            let start = bytes.count
            add(to: &bytes)
            lengths.append(UInt16(bytes.count - start))
        }
        return (bytes, lengths)
    }

    private mutating func add(to bytes: inout [UInt8]) {
        let word = random.next()
        let (data, isBeacon) = data(word)
        let isBad = word >> 8 & 63 == 0
        let said = UInt8(data.count) + (isBad ? 40 : 0)
        let rssi = word >> 16 & 3 == 0 ? 127 : UInt8(truncatingIfNeeded: word >> 24)
        let address = random.next()
        bytes += [0x04, 0x3E, UInt8(12 + data.count), 0x02, 1, 3, 1]
        for byte in 0..<6 { bytes.append(UInt8(truncatingIfNeeded: address >> (byte * 8))) }
        bytes.append(said)
        bytes += data
        bytes.append(rssi)
        if isBad {
            made.badEvents += 1
        } else {
            made.reports += 1
            made.beacons += isBeacon ? 1 : 0
        }
    }

    private mutating func data(_ word: UInt64) -> (data: [UInt8], isBeacon: Bool) {
        let numbers = random.next()
        let power = UInt8(truncatingIfNeeded: numbers >> 32)
        var number = (0..<4).map { UInt8(truncatingIfNeeded: numbers >> ($0 * 8)) }
        // Few different major numbers, so that regions with a major number are received too.
        if word >> 20 & 1 == 0 { number[0...1] = [0, number[1] & 3] }
        switch word & 7 {
        case 0...3:
            let uuid = copied[Int(word >> 32) % copied.count]
            return (Self.iBeacon + Self.bytes(uuid.high, uuid.low) + number + [power], true)
        case 4, 5: return (Self.iBeacon + Self.bytes(random.next(), numbers) + number + [power], true)
        case 6:
            let altBeacon: [UInt8] = [0x1B, 0xFF, number[0], number[1], 0xBE, 0xAC]
            if power & 1 == 0 { return (altBeacon + Self.bytes(random.next(), numbers) + number + [power, 0], true) }
            let eddystone: [UInt8] = [0x03, 0x03, 0xAA, 0xFE, 0x17, 0x16, 0xAA, 0xFE, 0x00, power]
            return (eddystone + Self.bytes(random.next(), numbers) + [0, 0], true)
        default:
            let whole = Self.iBeacon + Self.bytes(random.next(), numbers) + number + [power]
            guard power & 1 == 0 else { return (Array(whole.prefix(Int(power) % (whole.count - 1))), false) }
            return ([0x02, 0x01, 0x06, 0x1F] + whole.dropFirst(4), false)
        }
    }

    private static let iBeacon: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]

    private static func bytes(_ high: UInt64, _ low: UInt64) -> [UInt8] {
        [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }
}
