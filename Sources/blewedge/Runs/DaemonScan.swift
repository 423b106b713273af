// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// A scan that the daemon carries out, since the adapter is its own (D-12): one look after the other.
struct DaemonScan: ~Copyable {
    private var client: ControlClient
    private let filter: ScanFilter
    /// The daemon's last answer, the strongest first.
    private var devices: [ListedDevice]
    /// The devices for which its last answer had no room.
    private var leftOut: Int64

    /// A scan through the daemon that uses this adapter; nil where none does, or it may not be asked.
    init?(_ filter: ScanFilter, through adapter: AdapterTransport) {
        guard let client = ControlClient(ofDaemonUsing: adapter) else { return nil }
        // After what can fail: Swift 6.2 destroys twice what is set before it.
        self.client = client
        self.filter = filter
        devices = []
        leftOut = 0
    }

    /// Scans for a time, or until Ctrl-C.
    mutating func run(for duration: Duration?, _ display: ScanDisplay) throws {
        Console.note(NoteText.daemonScans.message())
        var table = LiveTable()
        var rows = ListedRows(filter)
        let end = duration.map { MonotonicClock.now + $0 }
        // A list that is printed once has no devices that were heard before.
        var isAnew = if case .atTheEnd = display { true } else { false }
        repeat {
            let news = try look(for: lookTime(display, until: end), isAnew: isAnew)
            isAnew = false
            switch display {
            case .news(let text): try StandardStream.output.write(news.map { text.line($0) }.joined())
            case .live:
                let size = StandardStream.output.windowSize ?? (80, 24)
                let choice = try client.ask(.status).value["selection"].flatMap(KeptChoice.init(answer:))
                let lines = DeviceText.table(rows.rows(devices, choice), columns: size.columns)
                try StandardStream.output.write(table.frame(lines, rows: size.rows))
            case .atTheEnd: break
            }
        } while end.map { MonotonicClock.now < $0 } ?? true
        if case .atTheEnd(let text) = display {
            let columns = StandardStream.output.windowSize?.columns ?? 80
            try StandardStream.output.write(text.all(devices, columns: columns))
        }
        if leftOut > 0 { Console.note(NoteText.devicesLeftOut.message("\(leftOut)")) }
    }

    /// How long the next look takes: until the table is drawn anew, and not beyond the end.
    private func lookTime(_ display: ScanDisplay, until end: Duration?) -> Duration {
        var time = Duration.seconds(2)
        if case .live(let period) = display { time = period }
        if case .atTheEnd = display { time = ControlRequest.scanTimes.upperBound }
        // A fraction of a millisecond is cut off.
        if let end { time = min(time, end - MonotonicClock.now + .milliseconds(1)) }
        return ControlRequest.scanTime(nearest: time)
    }

    /// Looks once; answers the devices that are new, or say something new.
    private mutating func look(for time: Duration, isAnew: Bool) throws -> [ListedDevice] {
        let answer = try client.ask(.scan(for: time, isAnew: isAnew), patience: time + ControlClient.patience)
        leftOut = answer.value["leftOut"]?.integer ?? 0
        let known = Dictionary(devices.map { ($0.address, $0.content) }) { first, _ in first }
        devices = (answer.value["devices"]?.array ?? []).compactMap(ListedDevice.init(answer:))
            .filter { filter.matches(name: $0.name, services: $0.services) }
        return devices.filter { known[$0.address] != $0.content }
    }
}

extension ControlClient {
    /// A connection to the daemon that uses this adapter; nil where none does, or it may not be asked.
    init?(ofDaemonUsing adapter: AdapterTransport) {
        guard let paths = try? DaemonPaths.reachable().map(\.controlSocket.string),
            var client = try? ControlClient(at: paths), let status = try? client.ask(.status),
            let name = status.value["adapter"]?.string, adapter == .any || adapter.description == name
        else { return nil }
        self = client
    }
}

extension ListedDevice {
    /// The data that it advertises, without the time and the strength at which it was heard.
    fileprivate var content: [String] {
        [address, addressType, name?.text ?? ""] + services.map(\.description) + solicited.map { "?\($0)" }
    }
}

extension KeptChoice {
    /// The choice as the daemon tells it; nil for none.
    fileprivate init?(answer: JSONValue) {
        guard let address = answer["address"]?.string.flatMap(BluetoothAddress.init),
            let type = answer["addressType"]?.string.flatMap(AddressType.init(argument:))
        else { return nil }
        self.init(DeviceAddress(address, type), name: answer["name"]?.string)
    }
}
