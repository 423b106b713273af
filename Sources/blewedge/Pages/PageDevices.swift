// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import Texts

/// The devices around: the chosen one on top, then the strongest first (LK-1 … LK-8).
enum DevicesPage {
    /// The columns of the widths that do not depend on the screen's.
    private static let (timeWidth, shortTimeWidth, signalWidth) = (19, 8, 4)
    /// From this width on there is room for the whole time and a button.
    private static let wideScreen = 64

    static func body(_ model: TUIModel, columns: Int) -> PageBody {
        guard model.status != nil else { return PageBody(lines: PageFrame.absence(model, columns)) }
        let language = model.language
        let devices = model.devices.rows
        var lines = [
            row(
                "  ",
                PageText.columnName.text(language),
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
            let button = (isChosen ? PageText.cancel : .use).text(language)
            lines.append(
                row(
                    isChosen ? "* " : "  ",
                    device.label,
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
        _ heard: String,
        _ signal: String,
        _ button: String,
        _ model: TUIModel,
        _ columns: Int,
        _ style: ScreenStyle
    ) -> PageLine {
        let isWide = columns >= wideScreen
        let buttons = [PageText.use, .cancel].map { ScreenText.columns(of: $0.text(model.language)) + 2 }.max() ?? 0
        let time = isWide ? timeWidth : shortTimeWidth
        let fixed = mark.count + 1 + time + 1 + signalWidth + (isWide ? 2 + buttons : 0)
        var text = mark + padded(name, columns - fixed) + " " + padded(heard, time) + " "
        text += String(repeating: " ", count: max(0, signalWidth - signal.count)) + signal
        if isWide { text += "  " + padded(button, buttons) }
        return PageLine(text, style, rest: style)
    }

    /// A text of exactly so many columns, a cut one with a mark at its end.
    static func padded(_ text: String, _ columns: Int) -> String {
        guard columns > 0 else { return "" }
        let plain = String(ScreenText.cells(of: text).map(\.character))
        guard ScreenText.columns(of: plain) > columns else { return DisplayWidth.padded(plain, to: columns) }
        return DisplayWidth.padded(DisplayWidth.cut(plain, to: columns - 1), to: columns - 1) + "~"
    }
}

/// The devices around, as the devices page lists them (LK-1 … LK-8).
struct TUIDevices: Equatable {
    /// The devices of the daemon's last answer, the strongest first.
    private var heard: [ListedDevice] = []
    /// The chosen device, which stands on top and does not go (LK-6).
    var chosen: ListedDevice? {
        didSet { if chosen?.address != oldValue?.address { news = heard.first(where: isChosen) } }
    }
    /// The chosen device as it was heard last.
    private var news: ListedDevice?
    private var focus: BluetoothAddress?

    var rows: [ListedDevice] {
        guard var first = chosen else { return heard }
        if let news { first = news.named(as: first) }
        return [first] + heard.filter { !isChosen($0) }
    }

    var cursor: Int { rows.firstIndex { $0.address == focus } ?? 0 }

    var focused: ListedDevice? {
        let rows = rows
        return rows.first { $0.address == focus } ?? rows.first
    }

    func isChosen(_ device: ListedDevice) -> Bool { device.address == chosen?.address }

    /// Moves the cursor by so many rows, as far as there are any.
    mutating func move(by steps: Int) {
        let rows = rows
        guard !rows.isEmpty else { return }
        let row = min(max(0, cursor + steps), rows.count - 1)
        focus = rows[row].address
    }

    /// Takes the list that the daemon answered to `scan`, at that time in seconds since 1970: it is shown as it is.
    mutating func hear(_ answer: JSONValue, now: Int) {
        heard = ListedDevice.list(answer, now: now)
        if let first = heard.first(where: isChosen) { news = first }
    }

    mutating func clear() { heard = [] }
}

/// Times as the daemon writes them.
enum UniversalTime {
    /// Seconds since 1970 of `2026-11-21T10:00:00Z`; nil for anything else.
    static func seconds(_ text: String) -> Int? {
        let shape = text.utf8.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 ? UInt8(ascii: "0") : $0 }
        guard shape == Array("0000-00-00T00:00:00Z".utf8) else { return nil }
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 6, (1...12).contains(numbers[1]) else { return nil }
        // Years that begin in March have their leap day at the end.
        let year = numbers[1] > 2 ? numbers[0] : numbers[0] - 1
        let month = (numbers[1] + 9) % 12
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + numbers[2] - 1
        // Days from the first of March of the year 0 to 1970-01-01.
        let epoch = 719_468
        return ((days - epoch) * 24 + numbers[3]) * 3600 + numbers[4] * 60 + numbers[5]
    }
}
