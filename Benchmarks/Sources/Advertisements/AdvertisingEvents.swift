// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Glibc
import Measuring

/// Legacy and extended advertising events of a controller that receives many devices.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
public struct AdvertisingEvents: Sendable {
    /// Concatenated packets.
    public private(set) var bytes: [UInt8] = []
    /// Length of each packet.
    public private(set) var lengths: [UInt16] = []
    /// Number of reports; each packet contains one.
    public var reports: Int { lengths.count }
    /// Number of devices that sent the reports.
    public let devices: Int

    /// Creates events of `devices` devices.
    ///
    /// Each is received `rounds` times, with the same data and followed by its scan response.
    public init(devices: Int = 64, rounds: Int = 4) {
        self.devices = devices
        var random = SplitMix(seed: 12)
        for _ in 0..<rounds {
            for device in (0..<devices).shuffled(using: &random) {
                let rssi = UInt8(bitPattern: Int8.random(in: -99 ... -30, using: &random))
                hear(device, at: [UInt8(device), 2, 3, 4, 5, 0xC6], rssi)
            }
        }
    }

    /// Creates events of passers-by with different addresses.
    ///
    /// If `chosen` is set, every 1,024th event comes from that device.
    public init(passersBy: Int, chosen: [UInt8]?) {
        devices = passersBy
        var random = SplitMix(seed: 20)
        for passerBy in 0..<passersBy {
            let rssi = UInt8(bitPattern: Int8.random(in: -99 ... -30, using: &random))
            let address = (0..<5).map { _ in UInt8.random(in: 0...255, using: &random) } + [0x55]
            hear(passerBy % 250, at: passerBy % 1024 == 1023 ? chosen ?? address : address, rssi)
        }
    }

    /// Adds an advertisement of a device: a legacy one with its scan response, or an extended one.
    private mutating func hear(_ device: Int, at address: [UInt8], _ rssi: UInt8) {
        let name = Array("LINBLE-\(1000 + device)".utf8)
        let data: [UInt8] = [2, 1, 6, UInt8(name.count + 1), 9] + name + [5, 0xFF, 0xFF, 0xFF, UInt8(device), 1]
        if device.isMultiple(of: 2) {
            add([0x02, 1, 0, 1] + address + [UInt8(data.count)] + data + [rssi])
            let service: [UInt8] = [3, 3, 0x0A, 0x18]
            add([0x02, 1, 4, 1] + address + [UInt8(service.count)] + service + [rssi])
        } else {
            let more = [UInt8](repeating: UInt8(device), count: 40)
            let long = data + [UInt8(more.count + 1), 0xFF] + more
            let fixed: [UInt8] = [1, 2, 0, 127, rssi, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(long.count)]
            add([0x0D, 1, 1, 0, 1] + address + fixed + long)
        }
    }

    private mutating func add(_ parameters: [UInt8]) {
        bytes += [0x04, 0x3E, UInt8(parameters.count)] + parameters
        lengths.append(UInt16(parameters.count + 3))
    }

    /// Passes every event to the table, as `Scanner` does, and returns the number of reports.
    public func handle(with table: inout DeviceTable, now: Duration) -> Int {
        var reports = 0
        forEachPacket { packet in
            do throws(DecodingError) {
                guard case .leMeta(let subevent, let parameters) = try HCIEvent(packet) else { return }
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

    /// Passes every event to the scanner, as the kernel's adapter does on the radio thread, and returns the number of
    /// updates.
    ///
    /// The time is updated at every sixteenth event.
    public func handle(with scanner: inout Scanner) -> Int {
        var updates = 0
        var (count, now) = (0, Duration.zero)
        var found: [DeviceTable.Update] = []
        forEachPacket { packet in
            if count.isMultiple(of: 16) { now = Self.now }
            count += 1
            scanner.handle(packet, now: now) { update in found.append(update) }
            if !found.isEmpty {
                updates += found.count
                found.removeAll(keepingCapacity: true)
            }
        }
        return updates
    }

    private static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @inline(__always)
    private func forEachPacket(_ body: (Span<UInt8>) -> Void) {
        let span = bytes.span
        var at = 0
        for length in lengths {
            let end = at &+ Int(length)
            body(span.extracting(at..<end))
            at = end
        }
    }
}
