// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Texts

/// Whether it works: the state with its reason, what was counted, and a field in which it can be seen (LK-14).
enum CheckPage {
    static func body(_ model: TUIModel, columns: Int, rows: Int) -> PageBody {
        let foot = PageFrame.field(model, columns: columns, rows: min(5, max(2, rows / 3)))
        guard let status = model.status else {
            return PageBody(lines: PageFrame.absence(model, columns) + service(model, columns), foot: foot)
        }
        let language = model.language
        func wrapped(_ text: String, _ style: ScreenStyle = []) -> [PageLine] {
            PageLine.wrapped(text, columns: columns, style)
        }
        let since = PageText.since.text(language, TimeLabelText.text(seconds: status.seconds, language))
        var lines = wrapped(
            PageFrame.stateText(status, language) + " (\(since))",
            PageFrame.style(of: status.state)
        )
        if let reason = status.reason { lines += wrapped(reason.line(language)) }
        lines += wrapped(status.state.hint[language])
        if let gate = status.gate {
            lines += wrapped(PageText.notTyped.text(language, gate.line(language)), .yellow)
        } else {
            lines += wrapped(PageText.typingOpen.text(language))
        }
        lines += received(status, model, columns)
        let counts = status.counts.filter { $0.count != 0 || ["received", "typed"].contains($0.name) }
            .map { "\(LabelText(rawValue: $0.name)?.text(language) ?? $0.name) \($0.count)" }
        lines += wrapped(counts.joined(separator: ", "))
        for (label, value) in [(PageText.adapter, status.adapter), (.keyboard, status.keyboard)] {
            if let value { lines += wrapped("\(label.text(language)): \(value)") }
        }
        for rival in status.rivals { lines += wrapped("\(LabelText.rivals.text(language)): \(rival)", .yellow) }
        if let fault = status.choiceFault { lines += wrapped(fault.line(language), .red) }
        return PageBody(lines: lines, foot: foot)
    }

    /// The start of the machine's service, or what is missing for it.
    private static func service(_ model: TUIModel, _ columns: Int) -> [PageLine] {
        switch model.service {
        case .starting: PageLine.wrapped(PageText.serviceStarting.text(model.language), columns: columns)
        case .failed(let reason): PageLine.wrapped(reason.line(model.language), columns: columns, .yellow)
        case .due, .settled: []
        }
    }

    private static func received(_ status: TUIStatus, _ model: TUIModel, _ columns: Int) -> [PageLine] {
        let language = model.language
        let text = status.lastReceived.map { ago, length in
            PageText.lastReceived.text(language, TimeLabelText.text(seconds: ago, language), "\(length)")
        }
        return PageLine.wrapped(
            (model.isFlashing ? "* " : "") + (text ?? PageText.noneReceived.text(language)),
            columns: columns,
            model.isFlashing ? .bold : []
        )
    }
}
