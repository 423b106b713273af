// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Advertising reports of a crowd, in blocks that are built once; later only the addresses in them change.
struct CrowdReports {
    /// Number of reports in a block.
    private static let count = 300
    /// Offset of the address in a report.
    private static let offset = 7

    private var block: [UInt8] = []
    private let length: Int
    private let changes: Bool
    private var round: UInt8 = 0

    /// Creates a crowd with this number of addresses, at most 300; with nil, every report has a new address.
    init(_ addresses: Int?) {
        changes = addresses == nil
        let report: (Int) -> [UInt8] = { number in
            let address = BluetoothAddress(rawValue: 0xC000_0000_0000 | UInt64(number))
            let data: [UInt8] = [2, 1, 6, 4, 9, 0x41, 0x42, 0x43]
            return ScriptedFirmware.report(DeviceAddress(address, .random), data, rssi: -30)
        }
        length = report(0).count
        for number in 0..<min(addresses ?? Self.count, Self.count) { block += report(number) }
    }

    /// Returns the next block of whole reports, and their number.
    mutating func next() -> (bytes: [UInt8], count: Int) {
        if changes {
            round &+= 1
            for start in stride(from: 0, to: block.count, by: length) {
                block[start + Self.offset + 2] = round
                if round == 0 { block[start + Self.offset + 3] &+= 1 }
            }
        }
        return (block, block.count / length)
    }
}
