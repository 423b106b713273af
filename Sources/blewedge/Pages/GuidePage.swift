// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import Devices
import Setup
import Texts

/// Guide page: the steps to the first typed character, each checked by the program (LK-11, LK-12).
enum GuidePage {
    enum Step: CaseIterable {
        case machine, daemon, choose, connect, attempt

        func isDone(_ model: TUIModel) -> Bool {
            let state = model.status?.state
            switch self {
            case .machine:
                if let state { return state != .bluetoothOff && state != .unauthorized }
                return model.machineFaults?.isEmpty ?? false
            case .daemon: return state != nil
            case .choose: return model.status?.device != nil
            case .connect: return state == .connected
            case .attempt: return state == .connected && !model.field.isEmpty
            }
        }

        /// Returns the first step that is not done; nil if all are done.
        static func next(_ model: TUIModel) -> Step? { allCases.first { !$0.isDone(model) } }

        var title: GuideText {
            switch self {
            case .machine: .machine
            case .daemon: .daemon
            case .choose: .choose
            case .connect: .connect
            case .attempt: .attempt
            }
        }

        /// Returns the instructions for the user, one per line.
        func remedies(_ model: TUIModel) -> [String] {
            let language = model.language
            switch self {
            case .machine:
                if let reason = model.status?.reason { return [reason.line(language)] }
                return (model.machineFaults ?? []).map { fault in
                    let cause = fault.cause.text(language)
                    guard let remedy = fault.remedy?.text(language) else { return LocalName.printable(cause) }
                    return LocalName.printable(GuideText.machineFault.text(language, cause, remedy))
                }
            case .daemon:
                let open = GuideText.daemonOpen.text(language, model.startCommand)
                var lines = model.otherFault.map { [$0.line(language)] } ?? []
                if case .failed(let reason) = model.service { lines.append(reason.line(language)) }
                return lines + [open]
            case .choose: return [GuideText.chooseOpen.text(language)]
            case .connect:
                if let status = model.status, status.state == .unsupported {
                    return [GuidePage.unsupported(status, language)]
                }
                let hint = model.status.map { $0.state.hint[language] } ?? ""
                return (model.status?.reason.map { [$0.line(language)] } ?? []) + [
                    GuideText.connectOpen.text(language, hint)
                ]
            case .attempt: return [GuideText.attemptOpen.text(language)]
            }
        }
    }

    /// Returns the message for an unsupported device, for which a shorter distance does not help.
    private static func unsupported(_ status: StatusAnswer, _ language: Language) -> String {
        let device = status.device ?? PlainText.theDevice.text(language)
        let (cause, remedy) = (status.reason?.cause.text(language), status.reason?.remedy?.text(language))
        return LocalName.printable(status.state.sentence(of: device, cause, remedy, in: language))
    }

    static func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        let columns = area.width()
        // The next step stays in view until the user scrolls.
        let focus = model.scroll == 0 ? steps(model, columns: columns).due : nil
        let guide = Pane(Page.guide.title.text(model.language), lines(model, columns: columns), focus: focus)
        return [guide] + [PageFrame.field(model, in: area, rows: area.rows >= 8 ? 2 : 1)].compactMap { $0 }
    }

    /// Returns the lines of the guide, without the text field.
    static func lines(_ model: TUIModel, columns: Int) -> [PageLine] {
        func wrapped(_ text: GuideText, _ style: ScreenStyle = []) -> [PageLine] {
            PageLine.wrapped(text.text(model.language), columns: columns, style)
        }
        let lines = steps(model, columns: columns).lines + [PageLine()] + wrapped(.intro) + [PageLine()]
        let access = wrapped(.accessTitle, .bold) + wrapped(.access) + wrapped(.privacy)
        let network = model.networkUses.flatMap { use in
            PageLine.wrapped(LocalName.printable(use.text(model.language)), columns: columns)
        }
        return lines + access + network + [PageLine()] + wrapped(.further) + wrapped(.keys)
    }

    /// Returns the title and the steps, with instructions for the next step.
    ///
    /// `due` is the range of the lines of that step.
    private static func steps(_ model: TUIModel, columns: Int) -> (lines: [PageLine], due: Range<Int>) {
        let language = model.language
        var lines = PageLine.wrapped(GuideText.title.text(language), columns: columns, .bold)
        var due = 0..<0
        let next = Step.next(model)
        for step in Step.allCases {
            let mark: GuideText = step == next ? .next : step.isDone(model) ? .done : .later
            let style: ScreenStyle = step == next ? .bold : mark == .done ? .green : []
            let first = lines.count
            lines += PageLine.marked(mark.text(language), step.title.text(language), columns: columns, style)
            if step == next {
                for remedy in step.remedies(model) { lines += PageLine.marked("    ", remedy, columns: columns) }
            }
            // If all steps are done, the last one is kept in view.
            if step == next || next == nil { due = first..<lines.count }
        }
        return (lines, due)
    }

    /// Returns the doctor's findings that prevent a virtual keyboard on this machine.
    static func machineFaults(_ findings: [Finding]) -> [Reason] {
        findings.filter { $0.severity == .blocks && machineCauses.contains($0.cause) }.map { finding in
            Reason(
                finding.what,
                remedy: finding.command.map { GuideText.byCommand.message(finding.remedy, $0) } ?? finding.remedy
            )
        }
    }

    /// Causes that concern the machine, not the selected device or the daemon.
    private static let machineCauses: Set<Finding.Cause> = [
        .kernelUnfit, .kernelWithoutBluetooth, .bluetoothRefused, .noAdapter, .uartNotAttached, .adapterTaken,
        .adapterNotFound,
        .adapterWithoutLowEnergy, .rfkillHard, .rfkillSoft, .adapterDown, .adapterUnreadable, .capabilitiesMissing,
        .uinputMissing, .uinputNotPermitted, .uinputRefused,
    ]
}
