// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import LinuxIO
import Texts

/// Devices page: the selected device, then devices with a serial service, then all other devices (LK-1 … LK-8).
///
/// Devices with and without a serial service are each sorted by signal, strongest first.
enum DevicesPage {
    /// Column widths that do not depend on the screen's width; the signal column shows the strength and the bars.
    private static let (timeWidth, shortTimeWidth, signalWidth) = (19, 8, 5 + SignalBars.most)
    /// Minimum pane width for showing the full time and a button.
    private static let widePane = 68
    /// Minimum row width for showing more than the name and the signal's strength.
    private static let narrowRow = 36
    /// Minimum pane width for showing the kind of each device, and the width of its column.
    private static let (kindPane, kindWidth) = (78, 17)

    /// Maximum width of the list, so that the columns of a device stay close together.
    private static let widestList = 110

    static func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        let language = model.language
        let title = Page.devices.title.text(language)
        guard model.status != nil else { return [Pane(title, PageFrame.absence(model, area.width()))] }
        let devices = model.devices.rows
        let columns = min(Self.widestList, area.width(isFirst: true, isFlush: true))
        var lines = [
            row(
                "  ",
                PageText.columnName.text(language)
                    + (model.isScanning ? "  " + PageText.scanning.text(language) : ""),
                PageText.columnKind.text(language),
                (columns >= widePane ? PageText.columnHeard : .columnHeardShort).text(language),
                PageText.columnSignal.text(language),
                "",
                model,
                columns,
                .bold
            )
        ]
        if devices.isEmpty {
            let text: PageText = model.devices.filter.isEmpty ? .nothingHeard : .nothingMatches
            lines += PageLine.wrapped(text.text(language), columns: columns, margin: "  ")
        }
        let cursor = model.devices.cursor
        for (index, device) in devices.enumerated() {
            let isChosen = model.devices.isChosen(device)
            let button = (isChosen ? PageText.forget : .use).text(language)
            lines.append(
                row(
                    isChosen ? "* " : "  ",
                    device.label,
                    device.kind.text(language),
                    heard(device, model, columns),
                    signal(device, model.glyphs),
                    "[\(button)]",
                    model,
                    columns,
                    index == cursor ? .reverse : []
                ).on(.row(index))
            )
        }
        var list = Pane(title + filter(model), lines, focus: cursor + 1..<cursor + 2)
        list.isFlush = true
        return [list] + [details(model, in: area)].compactMap { $0 }
    }

    /// Returns the strength of a device's signal and its bars, or a hyphen if the strength is unknown.
    static func signal(_ device: ListedDevice, _ glyphs: TerminalGlyphs) -> String {
        guard let rssi = device.rssi else { return "   -" }
        let number = "\(rssi)"
        let margin = String(repeating: " ", count: max(0, 4 - number.count))
        return margin + number + " " + glyphs.text(SignalBars(rssi: rssi))
    }

    /// Returns the filter as shown after the list's title.
    private static func filter(_ model: TUIModel) -> String {
        let isEdited = model.editor?.purpose == .filter
        return isEdited || !model.devices.filter.isEmpty ? " /\(model.devices.filter)" + (isEdited ? "_" : "") : ""
    }

    /// Returns the details of the device under the cursor; nil if there is none, or on a small screen.
    private static func details(_ model: TUIModel, in area: PaneArea) -> Pane? {
        guard let device = model.devices.focused, area.rows >= 9 else { return nil }
        let language = model.language
        let address = "\(device.address) (\(LabelText.text(of: device.addressType, language)))"
        guard area.isFramed else { return Pane("", [PageLine("  " + address)], rows: 1) }
        var facts = [(PageText.columnAddress, address)]
        if !device.kind.text(language).isEmpty { facts.append((.columnKind, device.kind.text(language))) }
        let services = device.serviceNames
        if !services.isEmpty { facts.append((.columnServices, services.joined(separator: ", "))) }
        if device.isPaired { facts.append((.pairing, PageText.paired.text(language))) }
        if let battery = device.battery { facts.append((.battery, "\(battery) %")) }
        if model.devices.isChosen(device), let status = model.status {
            facts.append((.state, StateNameText(status.state).text(language)))
            facts += link(status, model)
        }
        let columns = area.width(isBeside: true)
        let label = facts.map { ScreenText.columns(of: $0.0.text(language)) }.max() ?? 0
        let lines = facts.flatMap { name, value in
            PageLine.marked(DisplayWidth.padded(name.text(language), to: label), value, columns: columns)
        }
        var pane = Pane(device.label, lines, rows: min(lines.count, max(2, area.rows / 2 - 1)))
        pane.isBeside = true
        return pane
    }

    /// Returns the facts about the link of the selected device; empty without a link.
    private static func link(_ status: StatusAnswer, _ model: TUIModel) -> [(PageText, String)] {
        guard let link = status.link else { return [] }
        var facts: [(PageText, String)] = []
        if let rssi = link.rssi {
            facts.append((.columnSignal, "\(rssi) dBm" + " " + model.glyphs.text(SignalBars(rssi: rssi))))
        }
        if let security = link.security { facts.append((.security, LabelText.text(of: security, model.language))) }
        if let mtu = link.mtu { facts.append((.mtu, "\(mtu)")) }
        return facts
    }

    private static func heard(_ device: ListedDevice, _ model: TUIModel, _ columns: Int) -> String {
        guard let seconds = device.lastHeard else { return PageText.notHeard.text(model.language) }
        let time = WallClock.local(seconds)
        return columns >= widePane ? time : String(time.suffix(shortTimeWidth))
    }

    private static func row(
        _ mark: String,
        _ name: String,
        _ kind: String,
        _ heard: String,
        _ signal: String,
        _ button: String,
        _ model: TUIModel,
        _ columns: Int,
        _ style: ScreenStyle
    ) -> PageLine {
        let isWide = columns >= widePane
        let buttons = [PageText.use, .forget].map { ScreenText.columns(of: $0.text(model.language)) + 2 }.max() ?? 0
        let time = isWide ? timeWidth : shortTimeWidth
        // A narrow row contains the name and the strength; a very narrow row contains only the name.
        if columns < narrowRow {
            let short = String(signal.prefix(4))
            let space = columns - mark.count - (columns < 16 ? 0 : 5)
            return PageLine(mark + padded(name, space) + (columns < 16 ? "" : " " + short), style, rest: style)
        }
        let kind = columns >= kindPane ? " " + padded(kind, kindWidth) : ""
        let fixed = mark.count + ScreenText.columns(of: kind) + 1 + time + 1 + signalWidth + (isWide ? 1 + buttons : 0)
        var text = mark + padded(name, columns - fixed) + kind + " " + padded(heard, time) + " "
        text += padded(signal, signalWidth)
        if isWide { text += " " + padded(button, buttons) }
        return PageLine(text, style, rest: style)
    }

    /// Pads or truncates a string to exactly `columns` columns; a truncated string ends with a mark.
    static func padded(_ text: String, _ columns: Int) -> String {
        guard columns > 0 else { return "" }
        let plain = String(ScreenText.cells(of: text).map(\.character))
        guard ScreenText.columns(of: plain) > columns else { return DisplayWidth.padded(plain, to: columns) }
        return DisplayWidth.padded(DisplayWidth.cut(plain, to: columns - 1), to: columns - 1) + "~"
    }
}

/// Devices in range, as listed by the devices page (LK-1 … LK-8).
struct TUIDevices: Equatable {
    /// Devices in the daemon's last answer, strongest signal first.
    private var heard: [ListedDevice] = []
    /// Selected device, which is always listed first (LK-6).
    var chosen: ListedDevice? {
        didSet { if chosen?.address != oldValue?.address { news = heard.first(where: isChosen) } }
    }
    /// Selected device as it was last heard.
    private var news: ListedDevice?
    private var focus: BluetoothAddress?
    /// Text that a device's name, address or kind must contain, in either case; the selected device is always listed.
    var filter = ""

    var rows: [ListedDevice] {
        let others = heard.filter { !isChosen($0) && matches($0) }
        let sorted = others.filter(\.kind.isSerial) + others.filter { !$0.kind.isSerial }
        guard var first = chosen else { return sorted }
        if let news { first = news.named(as: first) }
        return [first] + sorted
    }

    private func matches(_ device: ListedDevice) -> Bool {
        guard !filter.isEmpty else { return true }
        let texts = [device.label, "\(device.address)"] + Language.allCases.map { device.kind.text($0) }
        let wanted = filter.lowercased()
        return texts.map { $0.lowercased() }.contains { text in text.indices.contains { text[$0...].hasPrefix(wanted) }
        }
    }

    var cursor: Int { rows.firstIndex { $0.address == focus } ?? 0 }

    var focused: ListedDevice? {
        let rows = rows
        return rows.first { $0.address == focus } ?? rows.first
    }

    func isChosen(_ device: ListedDevice) -> Bool { device.address == chosen?.address }

    /// Moves the cursor by `steps` rows, within the list.
    mutating func move(by steps: Int) {
        let rows = rows
        guard !rows.isEmpty else { return }
        let row = min(max(0, cursor + steps), rows.count - 1)
        focus = rows[row].address
    }

    /// Moves the cursor to a row; returns true if it was already there.
    mutating func focus(on row: Int) -> Bool {
        guard rows.indices.contains(row), cursor != row else { return rows.indices.contains(row) }
        focus = rows[row].address
        return false
    }

    /// Replaces the list with the daemon's answer to `scan`; `now` is the current time in seconds since 1970.
    mutating func hear(_ answer: JSONValue, now: Int) {
        heard = ListedDevice.list(answer, now: now)
        if let first = heard.first(where: isChosen) { news = first }
    }

    mutating func clear() { heard = [] }
}

/// Times in the daemon's format.
enum UniversalTime {
    /// Returns the seconds since 1970 of a time such as `2026-11-21T10:00:00Z`; nil for any other format.
    static func seconds(_ text: String) -> Int? {
        let shape = text.utf8.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 ? UInt8(ascii: "0") : $0 }
        guard shape == Array("0000-00-00T00:00:00Z".utf8) else { return nil }
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 6, (1...12).contains(numbers[1]) else { return nil }
        // In a year that begins in March, the leap day is the last day.
        let year = numbers[1] > 2 ? numbers[0] : numbers[0] - 1
        let month = (numbers[1] + 9) % 12
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + numbers[2] - 1
        // Number of days from 1 March of the year 0 to 1 January 1970.
        let epoch = 719_468
        return ((days - epoch) * 24 + numbers[3]) * 3600 + numbers[4] * 60 + numbers[5]
    }
}
