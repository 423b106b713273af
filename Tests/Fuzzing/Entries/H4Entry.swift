// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The input is the direction and maximum length of a stream, the block size, and the stream.
///
/// The packets must not depend on the block boundaries.
enum H4Entry {
    private struct Read: Equatable {
        var packets: [[UInt8]] = []
        var failure: H4Reader.Failure?
        var isInside = false
    }

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let source: H4Reader.Source = input.byte() & 1 == 0 ? .controller : .host
        let limit = [8, 64, 300, H4Reader.standardLimit][input.below(4)]
        let size = 1 + input.below(40)
        let stream = input.remaining()
        let whole = read(stream, source, limit, size: max(1, stream.count))
        let cut = read(stream, source, limit, size: size)
        guard whole == cut else { return "cut into \(size): \(cut) instead of \(whole)" }
        let joined = whole.packets.flatMap { $0 }
        guard stream.starts(with: joined) else { return "packets that are not in the stream" }
        let isWhole = joined.count == stream.count
        if whole.failure == nil, isWhole == whole.isInside { return "bytes that nobody accounts for" }
        return whole.packets.allSatisfy { $0.count <= limit + 5 } ? nil : "a packet beyond the limit"
    }

    private static func read(_ stream: [UInt8], _ source: H4Reader.Source, _ limit: Int, size: Int) -> Read {
        var reader = H4Reader(from: source, limit: limit)
        var result = Read()
        do throws(H4Reader.Failure) {
            for start in stride(from: 0, to: stream.count, by: size) {
                let piece = stream.span.extracting(start..<min(start + size, stream.count))
                try reader.read(piece) { packet in result.packets.append([UInt8](copying: packet)) }
            }
        } catch {
            result.failure = error
        }
        result.isInside = reader.isInsidePacket
        return result
    }
}
