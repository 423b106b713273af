// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO
import Texts

/// Devices page: the selected device first, then those with a serial service, then the others, strongest first (LK-1 …
/// LK-8).
enum DevicesPage {
    /// Column widths that do not depend on the screen's width.
    private static let (timeWidth, shortTimeWidth, signalWidth) = (19, 8, 4)
    /// Minimum screen width for the full time and a button.
    private static let wideScreen = 64
    /// Minimum screen width for the kind of each device, and the width of its column.
    private static let (kindScreen, kindWidth) = (76, 18)

    static func body(_ model: TUIModel, columns: Int) -> PageBody {
        guard model.status != nil else { return PageBody(lines: PageFrame.absence(model, columns)) }
        let language = model.language
        let devices = model.devices.rows
        var lines = [
            row(
                "  ",
                PageText.columnName.text(language)
                    + (model.isScanning ? "  " + PageText.scanning.text(language) : ""),
                PageText.columnKind.text(language),
                (columns >= wideScreen ? PageText.columnHeard : .columnHeardShort).text(language),
                PageText.columnSignal.text(language),
                "",
                model,
                columns,
                .bold
            )
        ]
        if devices.isEmpty {
            lines += PageLine.wrapped(PageText.nothingHeard.text(language), columns: columns, margin: "  ")
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
                    device.rssi.map { "\($0)" } ?? "-",
                    "[\(button)]",
                    model,
                    columns,
                    index == cursor ? .reverse : []
                )
            )
        }
        return PageBody(lines: lines, focus: cursor + 1..<cursor + 2)
    }

    private static func heard(_ device: ListedDevice, _ model: TUIModel, _ columns: Int) -> String {
        guard let seconds = device.lastHeard else { return PageText.notHeard.text(model.language) }
        let time = WallClock.local(seconds)
        return columns >= wideScreen ? time : String(time.suffix(shortTimeWidth))
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
        let isWide = columns >= wideScreen
        let buttons = [PageText.use, .forget].map { ScreenText.columns(of: $0.text(model.language)) + 2 }.max() ?? 0
        let time = isWide ? timeWidth : shortTimeWidth
        let kind = columns >= kindScreen ? " " + padded(kind, kindWidth) : ""
        let fixed = mark.count + ScreenText.columns(of: kind) + 1 + time + 1 + signalWidth + (isWide ? 2 + buttons : 0)
        var text = mark + padded(name, columns - fixed) + kind + " " + padded(heard, time) + " "
        text += String(repeating: " ", count: max(0, signalWidth - signal.count)) + signal
        if isWide { text += "  " + padded(button, buttons) }
        return PageLine(text, style, rest: style)
    }

    /// Pads or cuts a text to exactly `columns` columns; a cut text ends with a mark.
    static func padded(_ text: String, _ columns: Int) -> String {
        guard columns > 0 else { return "" }
        let plain = String(ScreenText.cells(of: text).map(\.character))
        guard ScreenText.columns(of: plain) > columns else { return DisplayWidth.padded(plain, to: columns) }
        return DisplayWidth.padded(DisplayWidth.cut(plain, to: columns - 1), to: columns - 1) + "~"
    }
}

/// Devices in range, as listed by the devices page (LK-1 … LK-8).
struct TUIDevices: Equatable {
    /// Devices of the daemon's last answer, strongest first.
    private var heard: [ListedDevice] = []
    /// Selected device, which is always listed first (LK-6).
    var chosen: ListedDevice? {
        didSet { if chosen?.address != oldValue?.address { news = heard.first(where: isChosen) } }
    }
    /// Selected device as last heard.
    private var news: ListedDevice?
    private var focus: BluetoothAddress?

    var rows: [ListedDevice] {
        let others = heard.filter { !isChosen($0) }
        let sorted = others.filter(\.kind.isSerial) + others.filter { !$0.kind.isSerial }
        guard var first = chosen else { return sorted }
        if let news { first = news.named(as: first) }
        return [first] + sorted
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
        // Days from 1 March of the year 0 to 1970-01-01.
        let epoch = 719_468
        return ((days - epoch) * 24 + numbers[3]) * 3600 + numbers[4] * 60 + numbers[5]
    }
}
