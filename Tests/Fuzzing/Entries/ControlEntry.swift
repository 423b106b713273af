// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Devices

/// The input is received on a control socket: the lines must not depend on the block boundaries, and each line is
/// either rejected or unchanged by writing and parsing.
enum ControlEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let size = 1 + input.below(32)
        let longest = [16, 64, ControlLine.mostBytes][input.below(3)]
        let stream = input.remaining()
        let whole = pieces(stream, longest, size: max(1, stream.count))
        guard whole == pieces(stream, longest, size: size) else { return "other lines when cut into \(size)" }
        for piece in whole {
            guard piece.bytes.count <= longest else { return "a piece of \(piece.bytes.count) bytes" }
            if let fault = lineFault(piece.bytes) { return fault }
        }
        return nil
    }

    private static func pieces(_ stream: [UInt8], _ longest: Int, size: Int) -> [LineSplitter.Piece] {
        var splitter = LineSplitter(longestLine: longest, ends: .any)
        var pieces: [LineSplitter.Piece] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            splitter.append(stream[start..<min(start + size, stream.count)])
            while let piece = splitter.next() { pieces.append(piece) }
        }
        if let last = splitter.finish() { pieces.append(last) }
        return pieces
    }

    private static func lineFault(_ line: [UInt8]) -> String? {
        do throws(ControlFault) {
            let words = try ControlLine.words(line)
            let written = words.map { ControlLine.written($0) }.joined(separator: " ")
            let again = try? ControlLine.words(Array(written.utf8))
            // Escaped control characters make the line longer, possibly too long.
            guard again == words || written.utf8.count > ControlLine.mostBytes else {
                return "words become others: \(written)"
            }
            let request = try ControlRequest(line: line)
            guard let same = try? ControlRequest(line: Array(request.line.utf8)) else {
                return request.line.utf8.count > ControlLine.mostBytes ? nil : "cannot be read again: \(request.line)"
            }
            return same == request ? nil : "read as another: \(request.line)"
        } catch {
            return error.word >= 1 && !error.reason.isEmpty ? nil : "no place: \(error)"
        }
    }
}
