// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// The input is a flag that selects whether a valid file header is prepended, the block size, and a capture file.
enum CaptureEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let size = 1 + input.below(64)
        let file = (input.byte() & 1 == 0 ? Btsnoop.header : []) + input.remaining()
        var reader = BtsnoopReader()
        var trace = ATTTrace()
        var records = 0
        do throws(DecodingError) {
            for start in stride(from: 0, to: file.count, by: size) {
                reader.append(file[start..<min(start + size, file.count)])
                while let record = try reader.next() {
                    records += 1
                    let written = record.encoded
                    guard written.count == Btsnoop.recordHeaderByteCount + record.payload.count else {
                        return "a record of \(written.count) bytes"
                    }
                    if let packet = trace.handle(record), packet.pdu.count > 65_535 { return "a PDU that nobody sent" }
                }
            }
            try reader.finish()
        } catch {
            guard !error.description.isEmpty else { return "no reason" }
        }
        guard records * Btsnoop.recordHeaderByteCount <= file.count else { return "\(records) records" }
        return trace.malformed <= 65 * records ? nil : "\(trace.malformed) malformed"
    }
}
