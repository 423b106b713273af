// SPDX-License-Identifier: GPL-2.0-or-later

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

    private static func heard(_ device: TUIDevices.Device, _ model: TUIModel, _ columns: Int) -> String {
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
