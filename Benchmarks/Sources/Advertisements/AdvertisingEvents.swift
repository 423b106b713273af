// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Measuring

/// What a controller says where many devices advertise: HCI events, legacy and extended.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
public struct AdvertisingEvents: Sendable {
    /// One packet after the other.
    public private(set) var bytes: [UInt8] = []
    /// The length of each.
    public private(set) var lengths: [UInt16] = []
    /// How many reports they hold, one each.
    public var reports: Int { lengths.count }
    /// How many devices sent them.
    public let devices: Int

    /// Events of so many devices, each heard `rounds` times with the same data, its scan response after it.
    public init(devices: Int = 64, rounds: Int = 4) {
        self.devices = devices
        var random = SplitMix(seed: 12)
        for _ in 0..<rounds {
            for device in (0..<devices).shuffled(using: &random) {
                let rssi = UInt8(bitPattern: Int8.random(in: -99 ... -30, using: &random))
                let name = Array("LINBLE-\(1000 + device)".utf8)
                let data: [UInt8] =
                    [2, 1, 6, UInt8(name.count + 1), 9] + name + [5, 0xFF, 0xFF, 0xFF, UInt8(device), 1]
                let address = [UInt8(device), 2, 3, 4, 5, 0xC6]
                if device.isMultiple(of: 2) {
                    add([0x02, 1, 0, 1] + address + [UInt8(data.count)] + data + [rssi])
                    let service: [UInt8] = [3, 3, 0x0A, 0x18]
                    add([0x02, 1, 4, 1] + address + [UInt8(service.count)] + service + [rssi])
                } else {
                    let more = [UInt8](repeating: UInt8(device), count: 40)
                    let long = data + [UInt8(more.count + 1), 0xFF] + more
                    add(
                        [0x0D, 1, 1, 0, 1] + address + [
                            1, 2, 0, 127, rssi, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(long.count),
                        ]
                            + long
                    )
                }
            }
        }
    }

    private mutating func add(_ parameters: [UInt8]) {
        bytes += [0x04, 0x3E, UInt8(parameters.count)] + parameters
        lengths.append(UInt16(parameters.count + 3))
    }

    /// Gives every event to the table, as `Scanner` does; answers how many reports there were.
    public func handle(with table: inout DeviceTable, now: Duration) -> Int {
        let span = bytes.span
        var at = 0
        var reports = 0
        for length in lengths {
            let packet = span.extracting(at..<(at + Int(length)))
            at += Int(length)
            do throws(DecodingError) {
                guard case .leMeta(let subevent, let parameters) = try HCIEvent(packet) else { continue }
                var reader = try AdvertisingReportReader(subevent, parameters)
                while let report = reader.next() {
                    _ = table.handle(report, now: now)
                    reports += 1
                }
            } catch {
                table.noteBadEvent()
            }
        }
        return reports
    }
}
