// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// A device that was heard by this program or by the daemon, as shown in lists and on pages.
struct ListedDevice: Equatable {
    let address: BluetoothAddress
    let addressType: String
    fileprivate(set) var name: LocalName?
    /// Signal strength in dBm; nil if unknown.
    private(set) var rssi: Int?
    private(set) var services: [BluetoothUUID] = []
    /// Services for which the device is looking (service solicitation).
    private(set) var solicited: [BluetoothUUID] = []
    /// UUIDs of the service data in the advertisement.
    private var serviceData: [BluetoothUUID] = []
    private(set) var kind = DeviceKind.unknown
    /// True if the advertisement is that of a keyboard, even if the device also has a serial service.
    private(set) var isKeyboard = false
    /// True if the bond file contains keys of the device.
    private(set) var isPaired = false
    /// Advertised battery level in percent; nil if the device does not advertise it.
    private(set) var battery: Int?
    /// Time when the device was last heard, in seconds since 1970-01-01 00:00:00 UTC; nil if it was not heard.
    private(set) var lastHeard: Int?
    let json: String
    fileprivate(set) var isChosen = false

    /// Creates a device heard by this program.
    init(_ device: DiscoveredDevice, isPaired: Bool) {
        self.isPaired = isPaired
        address = device.address.address
        addressType = "\(device.address.type)"
        name = device.name
        rssi = device.rssi.map { Int($0) }
        services = device.services
        isKeyboard = device.isKeyboard
        solicited = device.data.solicitedServiceUUIDs
        serviceData = device.data.serviceData.map(\.service)
        lastHeard = WallClock.seconds(at: device.lastHeard)
        var object = JSONObject(device)
        if isPaired { object.add("paired", true) }
        json = object.text
    }

    /// Creates a device that the daemon has heard; nil if the answer describes no device.
    ///
    /// If the answer contains no time, the device was heard at `now`.
    init?(answer: JSONValue, now: Int? = nil) {
        guard let device = DeviceAddress(answer: answer) else { return nil }
        address = device.address
        addressType = "\(device.type)"
        name = answer["name"]?.string.map { LocalName(Array($0.utf8).span, isComplete: true) }
        rssi = answer["rssi"]?.integer.map { Int($0) }
        services = Self.uuids(answer["services"])
        solicited = Self.uuids(answer["solicited"])
        lastHeard = answer["lastHeard"]?.string.flatMap(UniversalTime.seconds) ?? now
        let appearance = answer["appearance"]?.integer.flatMap { UInt16(exactly: $0) }
        isKeyboard = DiscoveredDevice.isKeyboard(services, appearance)
        isPaired = answer["paired"]?.bool ?? false
        serviceData = (answer["serviceData"]?.array ?? []).compactMap { entry in
            entry["service"]?.string.flatMap { BluetoothUUID($0) }
        }
        kind = DeviceKind(
            services: services,
            appearance: appearance,
            serviceData: serviceData,
            isBeacon: DeviceKind.isBeacon(answer)
        )
        battery = Self.battery(answer)
        json = answer.text
    }

    /// Returns the devices in the daemon's answer to `scan`, in the same order.
    static func list(_ answer: JSONValue, now: Int? = nil) -> [ListedDevice] {
        (answer["devices"]?.array ?? []).compactMap { ListedDevice(answer: $0, now: now) }
    }

    /// Returns the battery level in the service data of the battery service (Core Specification Supplement, Part A,
    /// 1.11).
    private static func battery(_ answer: JSONValue) -> Int? {
        let data = (answer["serviceData"]?.array ?? []).first { $0["service"]?.string == "180F" }?["data"]?.string
        guard let level = data.flatMap({ Hexadecimal.bytes($0) })?.first, level <= 100 else { return nil }
        return Int(level)
    }

    private static func uuids(_ list: JSONValue?) -> [BluetoothUUID] {
        (list?.array ?? []).compactMap { $0.string.flatMap { BluetoothUUID($0) } }
    }

    /// Creates the selected device from its stored data, as a device that was not heard.
    init(_ choice: SelectedDevice) {
        address = choice.device.address
        addressType = "\(choice.device.type)"
        name = choice.name.map { LocalName(Array($0.utf8).span, isComplete: true) }
        json = JSONObject(choice).text
    }

    /// Name of the device, or its address if the name is unknown.
    var label: String { name?.printable ?? "\(address)" }

    /// Names of the advertised services, and of a known format of advertised values.
    ///
    /// A service whose name is unknown is listed by its UUID.
    var serviceNames: [String] {
        services.map { DeviceText.serviceName($0, isKeyboard: isKeyboard) }
            + (Profile.advertised(in: serviceData).map { [$0.title] } ?? [])
    }

    /// Returns this device; if it has no name, it gets the name of `other`.
    func named(as other: ListedDevice) -> ListedDevice {
        var device = self
        device.name = name ?? other.name
        return device
    }
}

/// The rows of a live list (LK-6).
///
/// The selected device comes first, even if it is not heard, and then the others.
struct ListedRows {
    private let filter: ScanFilter
    /// The selected device as last heard, or as stored; nil if none is selected.
    private var chosen: ListedDevice?

    init(_ filter: ScanFilter) {
        self.filter = filter
    }

    /// Returns the rows for the devices heard in the last minute; a filter applies to the selected device too.
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
    /// Table for people.
    case table
    /// Tab-separated lines.
    case lines
    case json

    /// Returns the text for all devices, in the given order.
    func all(_ devices: [ListedDevice], columns: Int) -> String {
        switch self {
        case .table: Self.table(devices, columns: columns).map { $0 + "\n" }.joined()
        case .lines, .json: devices.map { line($0) }.joined()
        }
    }

    /// Returns the text for one device, with its line end.
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

    /// Returns the names of the services that a device solicits, marked as solicited.
    private static func solicited(_ device: ListedDevice, _ language: Language) -> [String] {
        device.solicited.map { LogText.solicited.text(language, "\($0)") }
    }

    /// Returns a header and one row for each device, none wider than `columns`.
    ///
    /// An asterisk marks the selected device.
    static func table(
        _ devices: [ListedDevice],
        columns: Int,
        in language: Language = .current,
        _ glyphs: TerminalGlyphs = .current
    ) -> [String] {
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
                DevicesPage.signal(device, glyphs),
                device.lastHeard.map(WallClock.local) ?? "-",
                (device.serviceNames + solicited(device, language)).joined(separator: ", "),
                columns
            )
        }
        return [header] + (rows.isEmpty ? [word(.nothingHeard)] : rows)
    }

    /// Returns the name of a service, or its UUID if the name is unknown.
    ///
    /// The HID service is named as a keyboard only if the device advertises itself as one.
    fileprivate static func serviceName(_ uuid: BluetoothUUID, isKeyboard: Bool) -> String {
        if uuid == Profile.keyboard.service { return isKeyboard ? Profile.keyboard.title : "HID" }
        return Profile.serial.first { $0.service == uuid }?.title ?? uuid.description
    }

    private static func row(
        _ name: String,
        _ address: String,
        _ rssi: String,
        _ heard: String,
        _ services: String,
        _ columns: Int
    ) -> String {
        let fields = [(name, 20), (address, 17), (rssi, 9), (heard, 19)].map { DisplayWidth.padded($0, to: $1) }
        return DisplayWidth.cut((fields + [services]).joined(separator: "  "), to: columns)
    }
}

/// A block of lines that is redrawn in place on a terminal.
struct LiveTable {
    private var drawn = 0

    /// Returns the text that replaces the last frame with `lines`, or with as many of them as fit on `rows` rows.
    mutating func frame(_ lines: [String], rows: Int) -> String {
        let visible = lines.prefix(max(1, rows - 1))
        // Move the cursor to the first line of the last frame, and erase everything below (ECMA-48 CUU, ED).
        let back = drawn > 0 ? "\u{1B}[\(drawn)A\r\u{1B}[J" : ""
        drawn = visible.count
        return back + visible.map { $0 + "\n" }.joined()
    }
}

/// A scan that the daemon carries out because it uses the adapter (D-12); it is a series of timed scans.
struct DaemonScan: ~Copyable {
    private var client: ControlClient
    private let filter: ScanFilter
    /// The devices in the daemon's last answer, strongest signal first.
    private var devices: [ListedDevice]
    /// Number of devices that did not fit into the last answer.
    private var leftOut: Int64

    /// Creates a scan through the daemon that uses this adapter; nil if no such daemon can be reached.
    init?(_ filter: ScanFilter, through adapter: AdapterTransport) {
        guard let client = ControlClient(ofDaemonUsing: adapter) else { return nil }
        // Set this after everything that can fail: Swift 6.2 destroys a property twice if the initialiser fails after
        // setting it.
        self.client = client
        self.filter = filter
        devices = []
        leftOut = 0
    }

    /// Scans for `duration`, or until Ctrl-C is pressed.
    mutating func run(for duration: Duration?, _ display: ScanDisplay) throws {
        Console.note(LogText.daemonScans.message())
        var table = LiveTable()
        var rows = ListedRows(filter)
        let end = duration.map { MonotonicClock.now + $0 }
        // A list that is printed only once must not contain devices that were heard before this scan.
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

    /// Returns how long to scan: the permitted time that is nearest to the display's refresh interval.
    ///
    /// If the time until `end` is shorter, it is used instead of the interval.
    private func lookTime(_ display: ScanDisplay, until end: Duration?) -> Duration {
        var time = Duration.seconds(2)
        if case .live(let period) = display { time = period }
        if case .atTheEnd = display { time = ControlRequest.scanTimes.upperBound }
        // Add 1 ms, because the fraction of a millisecond will be truncated.
        if let end { time = min(time, end - MonotonicClock.now + .milliseconds(1)) }
        return ControlRequest.scanTime(nearest: time)
    }

    /// Scans once; returns the new and the changed devices, and the selected device.
    private mutating func look(for time: Duration, isAnew: Bool) throws -> ([ListedDevice], SelectedDevice?) {
        let patience = ControlRequest.scanDelay + time + ControlClient.patience
        let answer = try client.ask(.scan(for: time, isAnew: isAnew), patience: patience)
        leftOut = answer.value["leftOut"]?.integer ?? 0
        let known = Dictionary(devices.map { ($0.address, $0.content) }) { first, _ in first }
        devices = ListedDevice.list(answer.value).filter { filter.matches(name: $0.name?.text, services: $0.services) }
        let selection = answer.value["selection"].flatMap(SelectedDevice.init(answer:))
        return (devices.filter { known[$0.address] != $0.content }, selection)
    }
}

extension ControlClient {
    /// Connects to the daemon that uses this adapter; nil if no such daemon can be reached.
    init?(ofDaemonUsing adapter: AdapterTransport) {
        guard let paths = try? DaemonPaths.reachable().map(\.controlSocket.string),
            var client = try? ControlClient(at: paths), let name = try? client.status()?.adapter,
            adapter == .any || adapter.description == name
        else { return nil }
        self = client
    }
}

extension ListedDevice {
    /// Advertised data, without the time and the signal strength.
    fileprivate var content: [String] {
        ["\(address)", addressType, name?.text ?? ""] + services.map(\.description) + solicited.map { "?\($0)" }
    }
}
