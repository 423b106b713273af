// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import Setup
import Texts

/// The way from nothing to the first typed character, each step tested as it is gone (LK-11, LK-12).
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

        /// The first that is not done; nil where all are.
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

        /// The steps for the user to take, a line each.
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

    /// The sentence of a device that cannot be used, which no bringing near helps.
    private static func unsupported(_ status: StatusAnswer, _ language: Language) -> String {
        let device = status.device ?? PlainText.theDevice.text(language)
        let (cause, remedy) = (status.reason?.cause.text(language), status.reason?.remedy?.text(language))
        return LocalName.printable(status.state.sentence(of: device, cause, remedy, in: language))
    }

    static func body(_ model: TUIModel, columns: Int, rows: Int) -> PageBody {
        let steps = steps(model, columns: columns)
        return PageBody(
            lines: lines(model, columns: columns),
            // Until the user reads on, the step that is due is in sight.
            focus: model.scroll == 0 ? steps.due : nil,
            foot: PageFrame.field(model, columns: columns, rows: rows >= 8 ? 3 : 2)
        )
    }

    /// The guide as lines; the field is not among them.
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

    /// The title and the steps with what is to be done for the first that is due, and in which lines that is.
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
            // Where all is done, the last.
            if step == next || next == nil { due = first..<lines.count }
        }
        return (lines, due)
    }

    /// The doctor's findings that keep this machine from having a virtual keyboard.
    static func machineFaults(_ findings: [Finding]) -> [Reason] {
        findings.filter { $0.severity == .blocks && machineCauses.contains($0.cause) }.map { finding in
            Reason(
                finding.what,
                remedy: finding.command.map { GuideText.byCommand.message(finding.remedy, $0) } ?? finding.remedy
            )
        }
    }

    /// The causes that lie with the machine, and neither with what was chosen nor with the daemon.
    private static let machineCauses: Set<Finding.Cause> = [
        .kernelUnfit, .kernelWithoutBluetooth, .bluetoothRefused, .noAdapter, .uartNotAttached, .adapterTaken,
        .adapterNotFound,
        .adapterWithoutLowEnergy, .rfkillHard, .rfkillSoft, .adapterDown, .adapterUnreadable, .capabilitiesMissing,
        .uinputMissing, .uinputNotPermitted, .uinputRefused,
    ]
}
