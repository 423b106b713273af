// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The times at which a receiver is open: a window at the beginning of every interval.
struct ScanWindow: Hashable {
    /// In units of 0.625 ms: 0x0004 … 0x4000 for the legacy commands, to 0xFFFF for the extended ones.
    var interval: UInt16 = 0x0010
    /// In the same units, no longer than the interval.
    var window: UInt16 = 0x0010
    /// The beginning of the first interval.
    var start = Duration.zero

    /// The window that LE Set Scan Parameters and the extended commands describe.
    init() {}

    /// Reads Scan_Interval and Scan_Window.
    init(_ parameters: inout CommandParameters, in range: ClosedRange<UInt16>) throws(Refusal) {
        interval = try parameters.readUInt16(in: range)
        window = try parameters.readUInt16(in: range)
        guard window <= interval else { throw .invalid }
    }

    /// True when a packet at `time` is heard.
    func isOpen(at time: Duration) -> Bool {
        let unit = Duration.microseconds(625).attoseconds
        let passed = max(0, (time - start).attoseconds) % (Int128(interval) * unit)
        return passed < Int128(window) * unit
    }
}

/// A scan: its parameters and its memory.
struct ScanState {
    /// An advertisement as the duplicate filter remembers it.
    struct Heard: Hashable {
        var sender: DeviceAddress?
        var eventType: UInt16
        var sid: UInt8
    }

    var isActive = false
    var window = ScanWindow()
    var ownAddressType = AddressType.public
    var usesAcceptList = false
    /// True when the extended commands have set it up: it hears extended PDUs, and makes extended reports.
    var isExtended = false

    var isEnabled = false
    var address = DeviceAddress(BluetoothAddress(rawValue: 0), .public)
    var filtersDuplicates = false
    /// The advertisements that were reported, the oldest first.
    var heard: [Heard] = []
    /// The time at which the scan ends, or pauses until `nextPeriod`; nil for never.
    var end: Duration?
    /// The beginning of the next period.
    var nextPeriod: Duration?
    var duration = Duration.zero
    var period = Duration.zero
    var forgetsEachPeriod = false
    /// True between the end of a period's scan and the next period.
    var isPausing = false

    /// True for an advertisement that was reported before; it is remembered from then on.
    mutating func isDuplicate(_ event: Heard) -> Bool {
        guard filtersDuplicates else { return false }
        guard !heard.contains(event) else { return true }
        if heard.count >= VirtualController.Limit.duplicates { heard.removeFirst() }
        heard.append(event)
        return false
    }
}
