// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// A device as lists and pages show it, whether this program has heard it or the daemon.
struct ListedDevice: Equatable {
    let address: BluetoothAddress
    let addressType: String
    fileprivate(set) var name: LocalName?
    /// In dBm; nil where it was never known.
    private(set) var rssi: Int?
    private(set) var services: [BluetoothUUID] = []
    /// The services that it asks for.
    private(set) var solicited: [BluetoothUUID] = []
    /// Seconds since 1970; nil for one that was not heard.
    private(set) var lastHeard: Int?
    let json: String
    fileprivate(set) var isChosen = false

    /// One that this program has heard.
    init(_ device: DiscoveredDevice) {
        address = device.address.address
        addressType = "\(device.address.type)"
        name = device.name
        rssi = device.rssi.map { Int($0) }
        services = device.services
        solicited = device.data.solicitedServiceUUIDs
        lastHeard = WallClock.seconds(at: device.lastHeard)
        json = JSONObject(device).text
    }

    /// One that the daemon has heard, at the time `now` if it does not say when; nil for what is none.
    init?(answer: JSONValue, now: Int? = nil) {
        guard let device = DeviceAddress(answer: answer) else { return nil }
        address = device.address
        addressType = "\(device.type)"
        name = answer["name"]?.string.map { LocalName(Array($0.utf8).span, isComplete: true) }
        rssi = answer["rssi"]?.integer.map { Int($0) }
        services = Self.uuids(answer["services"])
        solicited = Self.uuids(answer["solicited"])
        lastHeard = answer["lastHeard"]?.string.flatMap(UniversalTime.seconds) ?? now
        json = answer.text
    }

    /// The devices of the daemon's answer to `scan`, in its order.
    static func list(_ answer: JSONValue, now: Int? = nil) -> [ListedDevice] {
        (answer["devices"]?.array ?? []).compactMap { ListedDevice(answer: $0, now: now) }
    }

    private static func uuids(_ list: JSONValue?) -> [BluetoothUUID] {
        (list?.array ?? []).compactMap { $0.string.flatMap { BluetoothUUID($0) } }
    }

    /// The chosen device, as it is known without having been heard.
    init(_ choice: SelectedDevice) {
        address = choice.device.address
        addressType = "\(choice.device.type)"
        name = choice.name.map { LocalName(Array($0.utf8).span, isComplete: true) }
        json = JSONObject(choice).text
    }

    /// The name that the user knows it by, or else its address.
    var label: String { name?.printable ?? "\(address)" }

    /// The same device, with the name of `other` where it has none.
    func named(as other: ListedDevice) -> ListedDevice {
        var device = self
        device.name = name ?? other.name
        return device
    }
}

/// The rows of a list that is redrawn: the chosen device on top, also when it is silent, then the others (LK-6).
struct ListedRows {
    private let filter: ScanFilter
    /// The chosen device as it was heard last; nil for none.
    private var chosen: ListedDevice?

    init(_ filter: ScanFilter) {
        self.filter = filter
    }

    /// The rows for the devices of the last minute; a chosen device that the filter keeps out is treated as any other.
    mutating func rows(_ heard: [ListedDevice], _ choice: SelectedDevice?) -> [ListedDevice] {
        guard let choice else {
            chosen = nil
            return heard
        }
        let known = ListedDevice(choice)
        if let news = heard.first(where: { $0.address == known.address }) {
            chosen = news
        } else if chosen?.address != known.address {
            chosen = filter.matches(name: known.name?.text, services: []) ? known : nil
        }
        guard var first = chosen else { return heard }
        first.isChosen = true
        return [first] + heard.filter { $0.address != known.address }
    }
}

enum DeviceText {
    /// Columns for people.
    case table
    /// Tab-separated lines.
    case lines
    case json

    /// All devices, strongest first.
    func all(_ devices: [ListedDevice], columns: Int) -> String {
        switch self {
        case .table: Self.table(devices, columns: columns).map { $0 + "\n" }.joined()
        case .lines, .json: devices.map { line($0) }.joined()
        }
    }

    /// One device, with the line's end.
    func line(_ device: ListedDevice) -> String {
        switch self {
        case .table, .lines: Self.tabSeparated(device) + "\n"
        case .json: device.json + "\n"
        }
    }

    private static func tabSeparated(_ device: ListedDevice) -> String {
        let services = device.services.map(\.description) + solicited(device, .english)
        return [
            "\(device.address)",
            device.addressType,
            device.rssi.map { "\($0) dBm" } ?? "-",
            device.name?.printable ?? "-",
            services.isEmpty ? "-" : services.joined(separator: ","),
        ].joined(separator: "\t")
    }

    /// The services that a device asks for, marked as such.
    private static func solicited(_ device: ListedDevice, _ language: Language) -> [String] {
        device.solicited.map { LogText.solicited.text(language, "\($0)") }
    }

    /// A header and a row for each device, none wider than `columns`; the chosen one has an asterisk.
    static func table(_ devices: [ListedDevice], columns: Int, in language: Language = .current) -> [String] {
        func word(_ text: LogText) -> String { text.text(language) }
        let header = row(
            word(.columnName),
            word(.columnAddress),
            word(.columnSignal),
            word(.columnHeard),
            word(.columnServices),
            columns
        )
        let rows = devices.map { device in
            row(
                (device.isChosen ? "* " : "") + (device.name?.printable ?? "-"),
                "\(device.address)",
                device.rssi.map { "\($0)" } ?? "-",
                device.lastHeard.map(WallClock.local) ?? "-",
                (device.services.map(serviceName) + solicited(device, language)).joined(separator: ", "),
                columns
            )
        }
        return [header] + (rows.isEmpty ? [word(.nothingHeard)] : rows)
    }

    /// The name of a service for people, or else its UUID.
    private static func serviceName(_ uuid: BluetoothUUID) -> String {
        Profile.builtIn.first { $0.service == uuid }?.title ?? uuid.description
    }

    private static func row(
        _ name: String,
        _ address: String,
        _ rssi: String,
        _ heard: String,
        _ services: String,
        _ columns: Int
    ) -> String {
        let fields = [(name, 20), (address, 17), (rssi, 4), (heard, 19)].map { DisplayWidth.padded($0, to: $1) }
        return DisplayWidth.cut((fields + [services]).joined(separator: "  "), to: columns)
    }
}

/// A block of lines that is drawn again in the same place of a terminal.
struct LiveTable {
    private var drawn = 0

    /// The text that replaces the last frame by `lines`, as many as fit on `rows`.
    mutating func frame(_ lines: [String], rows: Int) -> String {
        let visible = lines.prefix(max(1, rows - 1))
        // Up to the first line of the last frame, then everything below is erased (ECMA-48 CUU, ED).
        let back = drawn > 0 ? "\u{1B}[\(drawn)A\r\u{1B}[J" : ""
        drawn = visible.count
        return back + visible.map { $0 + "\n" }.joined()
    }
}

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
        Console.note(LogText.daemonScans.message())
        var table = LiveTable()
        var rows = ListedRows(filter)
        let end = duration.map { MonotonicClock.now + $0 }
        // A list that is printed once has no devices that were heard before.
        var isAnew = if case .atTheEnd = display { true } else { false }
        repeat {
            let (news, selection) = try look(for: lookTime(display, until: end), isAnew: isAnew)
            isAnew = false
            switch display {
            case .news(let text): try StandardStream.output.write(news.map { text.line($0) }.joined())
            case .live:
                let size = StandardStream.output.windowSize ?? (80, 24)
                let lines = DeviceText.table(rows.rows(devices, selection), columns: size.columns)
                try StandardStream.output.write(table.frame(lines, rows: size.rows))
            case .atTheEnd: break
            }
        } while end.map { MonotonicClock.now < $0 } ?? true
        if case .atTheEnd(let text) = display {
            let columns = StandardStream.output.windowSize?.columns ?? 80
            try StandardStream.output.write(text.all(devices, columns: columns))
        }
        if leftOut > 0 { Console.note(LogText.devicesLeftOut.message("\(leftOut)")) }
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

    /// Looks once; answers the devices that are new, or say something new, and the chosen device.
    private mutating func look(for time: Duration, isAnew: Bool) throws -> ([ListedDevice], SelectedDevice?) {
        let answer = try client.ask(.scan(for: time, isAnew: isAnew), patience: time + ControlClient.patience)
        leftOut = answer.value["leftOut"]?.integer ?? 0
        let known = Dictionary(devices.map { ($0.address, $0.content) }) { first, _ in first }
        devices = ListedDevice.list(answer.value).filter { filter.matches(name: $0.name?.text, services: $0.services) }
        let selection = answer.value["selection"].flatMap(SelectedDevice.init(answer:))
        return (devices.filter { known[$0.address] != $0.content }, selection)
    }
}

extension ControlClient {
    /// A connection to the daemon that uses this adapter; nil where none does, or it may not be asked.
    init?(ofDaemonUsing adapter: AdapterTransport) {
        guard let paths = try? DaemonPaths.reachable().map(\.controlSocket.string),
            var client = try? ControlClient(at: paths), let name = try? client.status()?.adapter,
            adapter == .any || adapter.description == name
        else { return nil }
        self = client
    }
}

extension ListedDevice {
    /// The data that it advertises, without the time and the strength at which it was heard.
    fileprivate var content: [String] {
        ["\(address)", addressType, name?.text ?? ""] + services.map(\.description) + solicited.map { "?\($0)" }
    }
}
