// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import SystemPackage
import Texts
import Wedge

/// A scan that the daemon carries out, since the adapter is its own (D-12): one look after the other.
struct DaemonScan: ~Copyable {
    /// How long a device stays in the list that is not heard (LK-3).
    private static let expiry = Duration.seconds(60)

    private var client: ControlClient
    private let filter: ScanFilter
    private var listed: [String: (device: ListedDevice, heard: Duration)] = [:]

    /// A scan through the daemon that uses this adapter; nil where none does, or it may not be asked.
    init?(_ filter: ScanFilter, through adapter: AdapterTransport) {
        guard let paths = try? DaemonPaths.current().withSystem.map(\.controlSocket.string),
            var client = try? ControlClient(at: paths), let status = try? client.ask(.status),
            let name = status.value["adapter"]?.string, adapter == .any || adapter.description == name
        else { return nil }
        self.client = client
        self.filter = filter
    }

    /// Scans for a time, or until Ctrl-C.
    mutating func run(for duration: Duration?, _ display: ScanDisplay) throws {
        Console.note(NoteText.daemonScans.message())
        var table = LiveTable()
        let end = duration.map { MonotonicClock.now + $0 }
        repeat {
            let news = try look(for: lookTime(display, until: end))
            switch display {
            case .news(let text): try StandardStream.output.write(news.map { text.line($0) }.joined())
            case .live:
                let size = StandardStream.output.windowSize ?? (80, 24)
                let lines = DeviceText.table(devices, columns: size.columns)
                try StandardStream.output.write(table.frame(lines, rows: size.rows))
            case .atTheEnd: break
            }
        } while end.map { MonotonicClock.now < $0 } ?? true
        if case .atTheEnd(let text) = display {
            let columns = StandardStream.output.windowSize?.columns ?? 80
            try StandardStream.output.write(text.all(devices, columns: columns))
        }
    }

    /// How long the next look takes: until the table is drawn anew, and not beyond the end.
    private func lookTime(_ display: ScanDisplay, until end: Duration?) -> Int {
        var time = Int64(2)
        if case .live(let period) = display { time = period.components.seconds }
        if case .atTheEnd = display { time = Int64(ControlRequest.scanTimes.upperBound) }
        if let end { time = min(time, (end - MonotonicClock.now).components.seconds + 1) }
        return max(ControlRequest.scanTimes.lowerBound, min(ControlRequest.scanTimes.upperBound, Int(time)))
    }

    /// Looks once; answers what is new, or says something new.
    private mutating func look(for seconds: Int) throws -> [ListedDevice] {
        let patience = Duration.seconds(seconds) + ControlClient.patience
        let answer = try client.ask(.scan(seconds: seconds), patience: patience)
        let now = MonotonicClock.now
        let heard = (answer.value["devices"]?.array ?? []).compactMap(ListedDevice.init(answer:))
            .filter { filter.matches(name: $0.name, services: $0.services) }
        let news = heard.filter { listed[$0.address]?.device.content != $0.content }
        for device in heard { listed[device.address] = (device, now) }
        listed = listed.filter { now - $0.value.heard < Self.expiry }
        return news
    }

    /// Those in the list, the strongest first.
    private var devices: [ListedDevice] {
        listed.values.map(\.device).sorted { ($0.rssi ?? .min, $1.address) > ($1.rssi ?? .min, $0.address) }
    }
}

extension ListedDevice {
    /// What it says of itself, without when and how strongly it was heard.
    fileprivate var content: [String] {
        [address, addressType, name?.text ?? ""] + services.map(\.description)
    }
}
