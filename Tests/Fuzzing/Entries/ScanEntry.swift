// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// A running scan: arbitrary events, reports of a few senders, and delays.
struct ScanEntry {
    /// Identifies fragments that belong together.
    private struct Key: Hashable {
        var sender: UInt8
        var sid: UInt8
        var isResponse: Bool
    }

    private var scanner: Scanner
    private var now = Duration.zero
    /// All reported data per key, in order.
    private var streams: [Key: [UInt8]] = [:]
    /// Last stored advertisement or scan response per key.
    private var kept: [Key: [UInt8]] = [:]
    /// True while all received events were generated here, so that their contents are known.
    private var isKnown = true
    private var sent: UInt64 = 0
    private var broken: String?

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var entry = ScanEntry(input.byte())
        while !input.isAtEnd, entry.broken == nil { entry.turn(&input) }
        return entry.broken ?? entry.check()
    }

    private init(_ kind: UInt8) {
        var table = DeviceTable(reportsDuplicates: true)
        if kind & 2 != 0 { table = DeviceTable(filter: ScanFilter(name: .prefix("A")), reportsDuplicates: true) }
        scanner = Scanner(kind & 1 == 0 ? .extended : .legacy, devices: table)
        scanner.start(.background)
        answer()
    }

    private mutating func answer() {
        while let command = scanner.nextCommand(now: now) {
            let opcode = command.opcode.rawValue
            let event: [UInt8] = [4, 0x0E, 4, 1, UInt8(opcode & 0xFF), UInt8(opcode >> 8), 0]
            scanner.handle(event.span, now: now)
        }
    }

    private mutating func turn(_ input: inout FuzzInput) {
        switch input.below(16) {
        case 0:
            isKnown = false
            let event = input.bytes(255)
            scanner.handle(event.span, now: now)
        case 1: now += .milliseconds(Int(input.byte()) * 30)
        case 2: _ = scanner.devices.expire(now: now)
        case 3:
            scanner.stop()
            answer()
            scanner.start(.discovery)
            answer()
        case 4, 5: report(&input, isLegacy: true)
        default: report(&input, isLegacy: false)
        }
        if scanner.devices.count > DeviceTable.capacity { broken = "\(scanner.devices.count) devices" }
    }

    private mutating func report(_ input: inout FuzzInput, isLegacy: Bool) {
        let kind = input.byte()
        let key = Key(sender: kind & 15, sid: kind >> 4 & 1, isResponse: kind & 0x20 != 0)
        let status = kind >> 6 % 3
        let data = input.bytes(isLegacy ? 31 : 229)
        let address: [UInt8] = [key.sender, 0, 0, 0, 0, 0xC0]
        var report: [UInt8]
        if isLegacy {
            report = [0x02, 1, key.isResponse ? 4 : 0, 1] + address + [UInt8(data.count)] + data + [0xC0]
        } else {
            let type: UInt8 = (key.isResponse ? 0x08 : 0x01) | status << 5
            report = [0x0D, 1, type, 0, 1] + address + [1, 1, key.sid, 0x7F, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            report += [UInt8(data.count)] + data
        }
        report = [4, 0x3E, UInt8(report.count)] + report
        sent += 1
        if !isLegacy { streams[key, default: []] += data }
        var told: [DiscoveredDevice] = []
        scanner.handle(report.span, now: now) { told.append($0.device) }
        guard isKnown else { return }
        for device in told { check(device, key, isLegacy ? data : streams[key, default: []]) }
    }

    /// Checks the stored data of a device: they are either unchanged or the end of the data just sent; an abandoned
    /// fragment must be a part of what was sent.
    private mutating func check(_ device: DiscoveredDevice, _ key: Key, _ sent: [UInt8]) {
        let sender = UInt8(truncatingIfNeeded: device.address.address.rawValue)
        for isResponse in [false, true] {
            let now = isResponse ? device.scanResponse : device.advertisement
            let place = Key(sender: sender, sid: 0, isResponse: isResponse)
            guard now.count <= 1650 else { return broken = "an advertisement of \(now.count) bytes" }
            if now.count < 1650, now != kept[place, default: []] {
                let isLast = sender == key.sender && isResponse == key.isResponse && !device.isTruncated
                let isRight = isLast ? sent.suffix(now.count).elementsEqual(now) : wasSent(now, sender, isResponse)
                if !isRight { broken = "an advertisement that nobody has sent" }
            }
            kept[place] = now
        }
    }

    private func wasSent(_ piece: [UInt8], _ sender: UInt8, _ isResponse: Bool) -> Bool {
        if piece.isEmpty { return true }
        return streams.contains { key, sent in
            guard key.sender == sender, key.isResponse == isResponse, sent.count >= piece.count else { return false }
            return (0...(sent.count - piece.count)).contains { sent[$0...].starts(with: piece) }
        }
    }

    private func check() -> String? {
        let counters = scanner.devices.counters
        if isKnown, scanner.generation == .extended, counters.reports != sent {
            return "\(counters.reports) reports of \(sent)"
        }
        if isKnown, counters.badEvents > 0 { return "\(counters.badEvents) bad events" }
        for device in scanner.devices.devices {
            if let name = device.name, let reason = NameCheck.fault(name) { return reason }
        }
        return nil
    }
}
