// SPDX-License-Identifier: GPL-2.0-or-later

import Advertisements
import BluetoothHost
import BluetoothPackets
import CPeers
import CReference
import Glibc
import Measuring
import RadioMeasuring

/// Rows of B-20: a selected device among passers-by, each of which is received once.
extension Launch {
    private static let chosen: [UInt8] = [1, 2, 3, 4, 5, 0xC6]
    private static let chosenAddress = BluetoothAddress(rawValue: 0xC605_0403_0201)

    private static var chosenDevices: DeviceTable {
        DeviceTable(filter: ScanFilter(identity: .init(chosenAddress)), reportsDuplicates: true)
    }

    /// Measures the processing of an event up to recognizing the selected device, without the system calls that read
    /// it.
    mutating func crowd() throws {
        _ = cref_pin_thread(0)
        let chosen = Self.chosen
        let events = AdvertisingEvents(passersBy: 4096, chosen: chosen)
        var scanner = Scanner(.extended, devices: Self.chosenDevices)
        scanner.start(ScanParameters())
        let heard = peer_chosen_handle_all(chosen, events.bytes, events.lengths, events.reports)
        guard heard >= 4, events.handle(with: &scanner) == heard else { throw RingMeasurement.WrongBytes() }
        try compare("B-20 parse", events, scanner) {
            peer_chosen_handle_all(chosen, events.bytes, events.lengths, events.reports)
        }
    }

    /// Measures the same search by name, with a full table.
    mutating func names() throws {
        _ = cref_pin_thread(0)
        let events = AdvertisingEvents(passersBy: 4096, chosen: Self.chosen)
        let name = "LINBLE-CHOSEN"
        let devices = DeviceTable(filter: ScanFilter(name: .exactly(name)), reportsDuplicates: true)
        var scanner = Scanner(.extended, devices: devices)
        scanner.start(ScanParameters())
        guard events.handle(with: &scanner) == 0, scanner.devices.count == DeviceTable.capacity,
            peer_named_handle_all(name, events.bytes, events.lengths, events.reports) == 0,
            peer_named_handle_all("linble-1000", events.bytes, events.lengths, events.reports) > 0
        else { throw RingMeasurement.WrongBytes() }
        try compare("B-20 name", events, scanner) {
            peer_named_handle_all(name, events.bytes, events.lengths, events.reports)
        }
    }

    /// Compares a scanner with a peer; both process all events.
    private mutating func compare(
        _ id: String,
        _ events: AdvertisingEvents,
        _ scanner: Scanner,
        _ peer: @escaping () -> Int
    ) throws {
        var scanner = scanner
        let reference = Contender("C loop") { count in EncoderMeasurement.timed(count, peer) }
        let ours = Contender("ours") { count in
            EncoderMeasurement.timed(count) { events.handle(with: &scanner) }
        }
        try compare(reference, [(id, ours)])
    }

    /// Measures a flood of beacons, few of which are monitored: the cost of a report with ten thousand regions compared
    /// with ten regions, and with a C loop that compares ten UUIDs.
    mutating func beacons() throws {
        _ = cref_pin_thread(0)
        let flood = BeaconReading.flood(4096)
        let uuids = BeaconReading.uuids(10)
        guard var few = BeaconReading(regions: 10), var many = BeaconReading(regions: 10_000),
            few.handle(flood) == 10, few.inside == 10, many.handle(flood) == 10, many.inside == 10,
            peer_beacons_handle_all(uuids, 10, flood.bytes, flood.lengths, flood.lengths.count) == 64
        else { throw RingMeasurement.WrongBytes() }
        let ten = Contender("10 regions") { count in EncoderMeasurement.timed(count) { few.handle(flood) } }
        let tenThousand = Contender("10,000 regions") { count in EncoderMeasurement.timed(count) { many.handle(flood) }
        }
        try compare(ten, [("B-23", tenThousand)])
        let peer = Contender("C loop") { count in
            EncoderMeasurement.timed(count) {
                peer_beacons_handle_all(uuids, 10, flood.bytes, flood.lengths, flood.lengths.count)
            }
        }
        var again = few
        try compare(
            peer,
            [("B-23 flood", Contender("ours") { count in EncoderMeasurement.timed(count) { again.handle(flood) } })]
        )
    }

    /// Measures the processor time of the radio thread from epoll_wait to the selected device, with 10,000 reports per
    /// second and at full speed.
    mutating func radio() throws {
        let crowd = Crowd(chosen: Self.chosen)
        for (id, pause) in [("B-20", 100_000), ("B-20 flood", 0)] as [(String, Int64)] {
            let ours = OurRadio(try RadioReading(Self.chosenDevices), crowd)
            let reference = try CRadio(crowd)
            // Every packet contains one report, and the last one is from the selected device.
            guard try ours.run(1000, pause).reports == 1001, try reference.run(1000, pause).reports == 1001 else {
                throw RingMeasurement.WrongBytes()
            }
            try compare(
                Contender("C loop") { try reference.run($0, pause).time },
                [(id, Contender("ours") { try ours.run($0, pause).time })]
            )
        }
    }
}

/// Packets sent to a radio thread: passers-by, and finally the selected device.
struct Crowd: Sendable {
    let chosen: [UInt8]
    private let events: AdvertisingEvents
    private let last: [UInt8]

    init(chosen: [UInt8]) {
        self.chosen = chosen
        // Enough passers-by that none repeats within a run.
        events = AdvertisingEvents(passersBy: 32_768, chosen: nil)
        last = [0x04, 0x3E, 12, 0x02, 1, 0, 1] + chosen + [0, 0xC0]
    }

    /// Sends `count` reports and then that of the selected device, while `read` receives them and returns its processor
    /// time.
    func send(
        _ count: Int,
        _ pause: Int64,
        to socket: Int32,
        read: @escaping @Sendable () throws -> Int64
    ) throws -> ThreadPair.Time {
        let outcome = Outcome()
        let pair = try ThreadPair.run {
            outcome.isSent = peer_radio_feed(
                socket,
                events.bytes,
                events.lengths,
                events.reports,
                count,
                pause,
                last,
                last.count
            )
        } _: {
            outcome.time = (try? read()) ?? -1
        }
        guard outcome.isSent, outcome.time > 0 else { throw RingMeasurement.WrongBytes() }
        return ThreadPair.Time(nanoseconds: outcome.time, preemptions: pair.preemptions)
    }

    /// Results of the two threads, read after both have ended.
    private final class Outcome: @unchecked Sendable {
        var isSent = false
        var time: Int64 = 0
    }
}

/// The product's radio thread.
private final class OurRadio: @unchecked Sendable {
    // Unchecked is sound: only one thread at a time uses it.
    private let reading: RadioReading
    private let crowd: Crowd

    init(_ reading: RadioReading, _ crowd: Crowd) {
        self.reading = reading
        self.crowd = crowd
    }

    func run(_ count: Int, _ pause: Int64) throws -> (time: ThreadPair.Time, reports: UInt64) {
        let before = reading.devices.counters.reports
        let time = try crowd.send(count, pause, to: reading.sender) { try self.reading.untilHeard() }
        return (time, reading.devices.counters.reports - before)
    }
}

/// Radio thread implemented in C.
private final class CRadio: @unchecked Sendable {
    // Unchecked is sound: only one thread at a time uses it.
    private let crowd: Crowd
    private var ends: [Int32] = [-1, -1]
    private var reports = 0

    init(_ crowd: Crowd) throws {
        self.crowd = crowd
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0, fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else {
            throw RingMeasurement.WrongBytes()
        }
    }

    deinit {
        close(ends[0])
        close(ends[1])
    }

    func run(_ count: Int, _ pause: Int64) throws -> (time: ThreadPair.Time, reports: Int) {
        let time = try crowd.send(count, pause, to: ends[1]) { [self] in
            // Reading all queued packets costs an additional call for each packet that arrives alone.
            peer_radio_read(ends[0], crowd.chosen, pause == 0, &reports)
        }
        return (time, reports)
    }
}
