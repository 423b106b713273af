// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Two threads and ten million bytes through a small ring, in odd pieces; compiled with the ring's source by `run`.
@main
enum Race {
    // One line, because a thread's entry written in `main` would belong to the main actor.
    static func main() { race() }
}

private let total = 10_000_000

private func race() {
    guard let ring = try? ByteRing(capacity: 1024, startingAt: UInt.max - 100_000),
        var consumer = ring.takeConsumer()
    else { exit(70) }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(ring).toOpaque()
    guard pthread_create(&thread, nil, { produce($0) }, context) == 0 else { exit(70) }
    var seen = 0
    var faults = 0
    var piece = [UInt8](repeating: 0, count: 53)
    while seen < total {
        let count = piece.withUnsafeMutableBytes { buffer in
            var span = MutableRawSpan(_unsafeBytes: buffer)
            return consumer.pop(into: &span)
        }
        if count == 0, consumer.mayFallAsleep(at: consumer.position) {
            sched_yield()
            consumer.stayAwake()
        }
        for index in 0..<count {
            if piece[index] != UInt8(truncatingIfNeeded: (seen + index) % 251) { faults += 1 }
        }
        seen += count
    }
    pthread_join(thread, nil)
    guard faults == 0 else {
        print("\(faults) bytes were not what was sent")
        exit(1)
    }
}

private func produce(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context, var producer = Unmanaged<ByteRing>.fromOpaque(context).takeRetainedValue().takeProducer()
    else { return nil }
    var sent = 0
    var size = 1
    var piece: [UInt8] = []
    while sent < total {
        size = size % 37 + 1
        let count = min(size, total - sent)
        piece.removeAll(keepingCapacity: true)
        for index in 0..<count { piece.append(UInt8(truncatingIfNeeded: (sent + index) % 251)) }
        while true {
            let fits = piece.withUnsafeBytes { buffer in
                let span = RawSpan(_unsafeBytes: buffer)
                return producer.push(span)
            }
            if fits { break }
            sched_yield()
        }
        _ = producer.mustWake()
        sent += count
    }
    return nil
}
