// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Control
import Daemon
import Devices
import Texts

/// Page of beacons: availability, regions, designated beacons, and the daemon's own beacon (SW-2 … SW-13).
enum BeaconsPage {
    /// Width of "59 min ago", in columns.
    private static let agoWidth = 10

    static func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        let columns = min(100, area.width())
        let language = model.language
        let lines =
            switch model.beacons {
            case _ where model.status == nil: PageFrame.absence(model, columns)
            case nil: [PageLine]()
            case .failure(let failure): PageLine.wrapped(Reason(failure).line(language), columns: columns, .red)
            case .success(let beacons): watching(beacons, language, columns) + rest(beacons, language, columns)
            }
        return [Pane(Page.beacons.title.text(language), lines)]
    }

    private static func watching(_ beacons: BeaconsAnswer, _ language: Language, _ columns: Int) -> [PageLine] {
        func wrapped(_ text: String, _ style: ScreenStyle = []) -> [PageLine] {
            PageLine.wrapped(text, columns: columns, style)
        }
        var lines: [PageLine] = []
        if let hindrance = beacons.hindrance {
            lines += wrapped(PageText.beaconsHindered.text(language, hindrance.line(language)), .yellow)
        } else if beacons.watched == 0 {
            lines += wrapped(PageText.nothingWatched.text(language), .yellow)
        }
        lines += wrapped(
            PageText.regionsCount.text(language, "\(beacons.known)", "\(beacons.watched)", "\(beacons.inside.count)"),
            .bold
        )
        guard !beacons.regions.isEmpty else { return lines }
        let titles = [PageText.columnRegion, .columnPlace, .columnSighted].map { $0.text(language) }
        lines.append(row("  ", titles[0], titles[1], titles[2], language, columns, .bold))
        for region in beacons.regions {
            let ago = region.ago.map { PageText.ago.text(language, TimeLabelText.text(seconds: $0, language)) }
            lines.append(
                row(
                    region.isInside ? "* " : "  ",
                    region.label,
                    (region.isInside ? PageText.inside : .outside).text(language),
                    ago ?? PageText.never.text(language),
                    language,
                    columns,
                    region.isInside ? .green : []
                )
            )
        }
        let more = beacons.watched - beacons.regions.count
        if more > 0 { lines += wrapped("  " + PageText.moreRegions.text(language, "\(more)")) }
        return lines
    }

    /// Returns the actions, the designated beacons, the daemon's own beacon, and the counts.
    private static func rest(_ beacons: BeaconsAnswer, _ language: Language, _ columns: Int) -> [PageLine] {
        func wrapped(_ text: String, _ style: ScreenStyle = []) -> [PageLine] {
            PageLine.wrapped(text, columns: columns, style)
        }
        var lines: [PageLine] = []
        if !beacons.actions.isEmpty {
            lines += wrapped(PageText.beaconActions.text(language, beacons.actions.joined(separator: ", ")))
        }
        for beacon in beacons.designated {
            let flag = beacon.isSwitcher ? ", " + PageText.switcher.text(language) : ""
            lines += wrapped(PageText.designated.text(language, "\(beacon.code) (\(beacon.beacon))\(flag)"))
        }
        if beacons.designated.isEmpty { lines += wrapped(PageText.noneDesignated.text(language)) }
        switch beacons.advertising {
        case .off: lines += wrapped(PageText.ownBeacon.text(language, PageText.off.text(language)))
        case .starting: lines += wrapped(PageText.ownBeaconStarting.text(language, beacons.advertised), .yellow)
        case .on: lines += wrapped(PageText.ownBeacon.text(language, beacons.advertised), .green)
        case .failed:
            let fault = beacons.advertisingFault?.line(language) ?? beacons.advertised
            lines += wrapped(PageText.ownBeacon.text(language, fault), .red)
        }
        let counts = [
            beacons.reports, beacons.heard, max(0, beacons.reports &- beacons.heard), beacons.badEvents,
        ]
        return lines + wrapped(PageText.beaconCounts.text(language, with: counts.map { "\($0)" }))
    }

    private static func row(
        _ mark: String,
        _ label: String,
        _ place: String,
        _ ago: String,
        _ language: Language,
        _ columns: Int,
        _ style: ScreenStyle
    ) -> PageLine {
        let width = [PageText.inside, .outside].map { ScreenText.columns(of: $0.text(language)) }.max() ?? 0
        let space = columns - mark.count - width - agoWidth - 2
        let text = mark + DevicesPage.padded(label, space) + " " + DevicesPage.padded(place, width)
        return PageLine(text + " " + DevicesPage.padded(ago, agoWidth), style)
    }
}
