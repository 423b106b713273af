// SPDX-License-Identifier: GPL-2.0-or-later

/// State machine that decodes frames, and extracts their payload from a device's byte stream.
///
/// It performs no I/O. Every input byte is part of a payload or is counted: as wrapping if it is in a good frame, or as
/// bad if it is outside of frames or in a frame with a wrong length or checksum. After a bad frame, the search resumes
/// at its second byte, so that a lost notification does not cost a complete frame. The same applies to a frame that is
/// never completed: after a pause (`expire` at `deadline`), after a known loss, and at the end of the link (`end`).
package struct Deframer: Sendable {
    package struct Result: Equatable, Sendable {
        package var payload: [UInt8] = []
        /// Number of bytes of good frames that are not payload.
        package var wrapping = 0
        /// Number of bytes that are not part of a good frame.
        package var bad = 0

        package init() {}
    }

    private enum Frame {
        case incomplete
        /// The frame is incomplete, as is every later frame, because the end bytes are not in the buffer.
        case endless
        case bad
        case good(payload: Range<Int>, length: Int)
    }

    private let framing: Framing
    private var bytes: [UInt8] = []
    private var lastReceived = Duration.zero

    package init(_ framing: Framing) {
        self.framing = framing
    }

    /// Number of buffered bytes of an incomplete frame.
    package var waiting: Int { bytes.count }

    /// Time at which `expire` abandons an incomplete frame; nil while no bytes are buffered.
    package var deadline: Duration? { bytes.isEmpty ? nil : lastReceived + Framing.longestPause }

    /// Decodes the bytes of a notification received at the time `now`.
    ///
    /// An incomplete frame is abandoned if the previous bytes were received at least `Framing.longestPause` earlier.
    package mutating func receive(_ received: Span<UInt8>, now: Duration) -> Result {
        var result = expire(now: now)
        lastReceived = now
        bytes.reserveCapacity(bytes.count + received.count)
        for index in received.indices { bytes.append(received[index]) }
        scan(into: &result, isOver: false)
        return result
    }

    /// Abandons an incomplete frame that has timed out; complete frames after its first byte are still decoded.
    package mutating func expire(now: Duration) -> Result {
        guard let deadline, now >= deadline else { return Result() }
        return end()
    }

    /// Abandons an incomplete frame, at the end of the link or after a loss.
    ///
    /// Complete frames after its first byte are still decoded. The buffer is empty afterwards.
    package mutating func end() -> Result {
        var result = Result()
        scan(into: &result, isOver: true)
        return result
    }

    /// Decodes all complete frames; with `isOver`, an incomplete frame counts as bad.
    private mutating func scan(into result: inout Result, isOver: Bool) {
        var first = 0
        scan: while first < bytes.count {
            switch frame(at: first) {
            case .incomplete where !isOver, .endless where !isOver: break scan
            case .endless:
                result.bad += bytes.count - first
                first = bytes.count
            case .bad, .incomplete:
                result.bad += 1
                first += 1
            case .good(let payload, let length):
                result.payload += bytes[payload]
                result.wrapping += length - payload.count
                first += length
            }
        }
        bytes.removeFirst(first)
    }

    private func frame(at first: Int) -> Frame {
        let start = framing.start
        for (offset, byte) in start.enumerated() {
            guard first + offset < bytes.count else { return .incomplete }
            guard bytes[first + offset] == byte else { return .bad }
        }
        let afterHeader = first + start.count + framing.header
        let check = framing.check
        let before = check.map { $0.isBehindEnd ? 0 : $0.checksum.length } ?? 0
        let behind = check.map { $0.isBehindEnd ? $0.checksum.length : 0 } ?? 0
        let payload: Range<Int>
        if let length = framing.length {
            let begin = afterHeader + length.size
            guard begin <= bytes.count else { return .incomplete }
            guard let count = payloadLength(length, at: afterHeader) else { return .bad }
            payload = begin..<begin + count
        } else {
            guard let found = endOfPayload(from: afterHeader) else {
                return bytes.count - afterHeader > framing.maximum + framing.end.count ? .bad : .endless
            }
            payload = afterHeader..<found
        }
        guard payload.count <= framing.maximum else { return .bad }
        let beginOfEnd = payload.upperBound + before
        let whole = beginOfEnd + framing.end.count + behind
        guard whole <= bytes.count else { return .incomplete }
        let endBytes = beginOfEnd..<beginOfEnd + framing.end.count
        guard bytes[endBytes].elementsEqual(framing.end) else { return .bad }
        if let check {
            let place = check.isBehindEnd ? endBytes.upperBound : payload.upperBound
            let value = check.checksum.value(of: bytes[first + check.from..<place])
            guard bytes[place..<place + value.count].elementsEqual(value) else { return .bad }
        }
        let typed = framing.keepsEnd && before == 0 ? payload.lowerBound..<endBytes.upperBound : payload
        return .good(payload: typed, length: whole - first)
    }

    /// Returns the number of payload bytes, calculated from the length field at `place`; nil if the field's value is
    /// smaller than its surplus.
    private func payloadLength(_ length: Framing.Length, at place: Int) -> Int? {
        let number = bytes[place..<place + length.size]
        let value = length.isLittleEndian ? number.reversed().reduce(0, Self.append) : number.reduce(0, Self.append)
        let count = value - length.surplus
        return count >= 0 ? count : nil
    }

    private static func append(_ value: Int, _ byte: UInt8) -> Int { value << 8 | Int(byte) }

    /// Returns the index of the end bytes at or after `place`; nil if they have not been received.
    private func endOfPayload(from place: Int) -> Int? {
        let end = framing.end
        var index = place
        while index + end.count <= bytes.count {
            if bytes[index..<index + end.count].elementsEqual(end) { return index }
            index += 1
        }
        return nil
    }
}
