// SPDX-License-Identifier: GPL-2.0-or-later

import Advertisements
import BluetoothHost
import BluetoothPackets
import CPeers
import Keystrokes
import Measuring

/// Repeats a single operation on one thread until it dominates a profile.
///
///     valgrind --tool=callgrind Benchmarks/.build/release/Ratios profile --only reports
enum Profile {
    /// Number of reports to process; the data path's cases process a sixteenth of this number of units.
    static let units = 1 << 20

    static func run(_ what: String?) throws {
        if let profiled = what.flatMap(ProfiledCase.init) {
            return try profiled.run(units / 16, CompiledTable(.linble))
        }
        let events = AdvertisingEvents()
        let done: Int
        switch what {
        case "reports":
            var devices = DeviceTable()
            done = (0..<units / 1024).reduce(0) { sum, _ in sum + events.handle(with: &devices, now: .zero) }
        case "reports-c":
            guard let peer = peer_devices_create() else { throw RingMeasurement.WrongBytes() }
            defer { peer_devices_destroy(peer) }
            done = (0..<units / 1024).reduce(0) { sum, _ in
                sum + peer_devices_handle_all(peer, events.bytes, events.lengths, events.lengths.count, 1)
            }
        case "crowd":
            let crowd = AdvertisingEvents(passersBy: 1024, chosen: nil)
            let filter = ScanFilter(identity: .init(BluetoothAddress(rawValue: 1)))
            var scanner = Scanner(.extended, devices: DeviceTable(filter: filter, reportsDuplicates: true))
            scanner.start(ScanParameters())
            for _ in 0..<units / 1024 { _ = crowd.handle(with: &scanner) }
            done = crowd.reports * (units / 1024)
        case "crowd-c":
            let crowd = AdvertisingEvents(passersBy: 1024, chosen: nil)
            for _ in 0..<units / 1024 {
                _ = peer_chosen_handle_all([1, 0, 0, 0, 0, 0], crowd.bytes, crowd.lengths, crowd.reports)
            }
            done = crowd.reports * (units / 1024)
        case "names":
            let crowd = AdvertisingEvents(passersBy: 1024, chosen: nil)
            let filter = ScanFilter(name: .exactly("LINBLE-CHOSEN"))
            var scanner = Scanner(.extended, devices: DeviceTable(filter: filter, reportsDuplicates: true))
            scanner.start(ScanParameters())
            for _ in 0..<units / 8192 { _ = crowd.handle(with: &scanner) }
            done = crowd.reports * (units / 8192)
        default: throw RingMeasurement.WrongBytes()
        }
        print("\(done) units")
    }
}
