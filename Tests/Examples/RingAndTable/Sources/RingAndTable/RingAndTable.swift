// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Producer and consumer of a ring: bytes are pushed by one and converted to key events by the other.
struct Pipeline: ~Copyable {
    private var producer: ByteRing.Producer
    private var consumer: ByteRing.Consumer

    init?() throws {
        let ring = try ByteRing(capacity: 4096)
        guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { return nil }
        self.producer = producer
        self.consumer = consumer
    }

    /// Returns the number of key events for the bytes; 0 if the ring has no room for them.
    mutating func events(of bytes: [UInt8], by encoder: inout ByteEncoder) -> Int {
        guard producer.push(bytes.span.bytes) else { return 0 }
        var events = 0
        while true {
            let place = consumer.position
            let count = consumer.available(from: place)
            guard count > 0 else { return events }
            let taken = encoder.encode(consumer.span(at: place, count: count))
            events += encoder.output.byteCount / InputEvent.size
            consumer.release(through: place &+ UInt(taken))
        }
    }
}

/// Prints the number of events for a barcode, and how many bytes per second this machine processes.
@main
struct RingAndTable {
    static func main() throws {
        let barcode = Array("4901234567894\r".utf8)
        var encoder = ByteEncoder(try CompiledTable(.linble))
        guard var pipeline = try Pipeline() else { return }
        print("\(barcode.count) bytes become \(pipeline.events(of: barcode, by: &encoder)) events")

        let rounds = 100_000
        let start = ContinuousClock.now
        for _ in 0..<rounds where pipeline.events(of: barcode, by: &encoder) == 0 { print("no room") }
        let rate = Double(rounds * barcode.count) / ((ContinuousClock.now - start) / .seconds(1))
        print("\(rate / 1e6) million bytes a second")
    }
}
