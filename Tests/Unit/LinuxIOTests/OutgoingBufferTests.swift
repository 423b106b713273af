// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
import Testing

@Suite("Bytes that wait to be written")
struct OutgoingBufferTests {
    /// Descriptor that accepts a number of bytes per write, and then none.
    private struct Sink {
        var takes: [Int]
        var got: [UInt8] = []

        mutating func write(_ bytes: borrowing RawSpan) -> NonBlocking<Int> {
            guard !takes.isEmpty else { return .wouldBlock }
            let count = min(takes.removeFirst(), bytes.byteCount)
            for index in 0..<count { got.append(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
            return .done(count)
        }
    }

    @Test("Bytes written in pieces arrive in order, with appends in between", arguments: 1...9)
    func order(piece: Int) throws {
        var buffer = OutgoingBuffer(capacity: 64)
        var sink = Sink(takes: [])
        var sent: [UInt8] = []
        for number in UInt8(0)..<200 {
            let more = [number, number ^ 0xFF, number &* 7]
            if buffer.append(more) { sent += more }
            sink.takes = [piece]
            let isDone = try buffer.drain { bytes throws(Errno) in sink.write(bytes) }
            #expect(isDone == buffer.isEmpty)
            #expect(buffer.count == sent.count - sink.got.count)
        }
        sink.takes = [64]
        let isDone = try buffer.drain { bytes throws(Errno) in sink.write(bytes) }
        #expect(isDone && sink.got == sent)
        #expect(sent.count == 600 || piece < 3)
    }

    @Test("Bytes that do not fit are rejected as a whole, until there is room")
    func refusal() throws {
        var buffer = OutgoingBuffer(capacity: 4)
        let first = ["abc", "de", "d", "", "e"].map { buffer.append($0) }
        #expect(first == [true, false, true, true, false])
        #expect(buffer.count == 4)
        var sink = Sink(takes: [1])
        let isDone = try buffer.drain { bytes throws(Errno) in sink.write(bytes) }
        #expect(!isDone)
        let second = ["e", "f"].map { buffer.append($0) }
        #expect(second == [true, false])
        sink.takes = [9]
        let isDoneThen = try buffer.drain { bytes throws(Errno) in sink.write(bytes) }
        #expect(isDoneThen && sink.got == Array("abcde".utf8))
        var none = OutgoingBuffer(capacity: -1)
        let isTaken = none.append("a")
        #expect(!isTaken)
    }

    @Test("An error of the descriptor is passed on, and what waits is still there")
    func failure() throws {
        var buffer = OutgoingBuffer(capacity: 4)
        _ = buffer.append("abc")
        var found: Errno?
        do throws(Errno) {
            _ = try buffer.drain { _ throws(Errno) in throw .brokenPipe }
        } catch {
            found = error
        }
        #expect(found == .brokenPipe)
        #expect(buffer.count == 3)
        buffer.removeAll()
        let isDone = try buffer.drain { _ throws(Errno) in throw .brokenPipe }
        #expect(isDone && buffer.isEmpty)
    }
}
