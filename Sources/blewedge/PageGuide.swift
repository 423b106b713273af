// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Wedge

/// The way from nothing to the first typed character, each step tested as it is gone (LK-11, LK-12).
enum GuidePage {
    /// The steps, in their order.
    enum Step: CaseIterable {
        case machine, daemon, choose, connect, attempt

        /// Whether it is done.
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

        /// What is to be done for it.
        func remedies(_ model: TUIModel) -> [String] {
            let language = model.language
            switch self {
            case .machine:
                if let reason = model.status?.reason { return [reason.text] }
                return (model.machineFaults ?? []).map { fault in
                    fault.cause + (fault.remedy.map { ". " + GuideText.machineOpen.text(language, $0) } ?? "")
                }
            case .daemon:
                return (model.otherFault.map { [$0.text] } ?? []) + [GuideText.daemonOpen.text(language)]
            case .choose: return [GuideText.chooseOpen.text(language)]
            case .connect:
                let hint = model.status.map { $0.state.hint[language] } ?? ""
                return (model.status?.reason.map { [$0.text] } ?? []) + [GuideText.connectOpen.text(language, hint)]
            case .attempt: return [GuideText.attemptOpen.text(language)]
            }
        }
    }

    static func body(_ model: TUIModel, columns: Int, rows: Int) -> PageBody {
        PageBody(
            lines: lines(model, columns: columns),
            foot: PageFrame.field(model, columns: columns, rows: rows >= 8 ? 3 : 2)
        )
    }

    /// The guide as lines; the field is not among them.
    static func lines(_ model: TUIModel, columns: Int) -> [PageLine] {
        let language = model.language
        func wrapped(_ text: GuideText, _ style: ScreenStyle = []) -> [PageLine] {
            PageLine.wrapped(text.text(language), columns: columns, style)
        }
        var lines = wrapped(.title, .bold)
        let next = Step.next(model)
        for step in Step.allCases {
            let mark: GuideText = step == next ? .next : step.isDone(model) ? .done : .later
            let style: ScreenStyle = step == next ? .bold : mark == .done ? .green : []
            lines += PageLine.marked(mark.text(language), step.title.text(language), columns: columns, style)
            if step == next {
                for remedy in step.remedies(model) { lines += PageLine.marked("    ", remedy, columns: columns) }
            }
        }
        lines.append(PageLine())
        lines += wrapped(.intro) + [PageLine()]
        lines += wrapped(.accessTitle, .bold) + wrapped(.access) + wrapped(.privacy) + [PageLine()]
        return lines + wrapped(.further) + wrapped(.keys)
    }
}

extension GuidePage {
    /// What of the doctor's findings keeps the machine from having a keyboard.
    static func machineFaults(_ findings: [Finding]) -> [TUIStatus.Note] {
        findings.filter { $0.severity == .blocks && machineCauses.contains($0.cause) }.map { finding in
            TUIStatus.Note(
                LocalName.printable(finding.what),
                LocalName.printable(finding.remedy + (finding.command.map { ": `\($0)`" } ?? ""))
            )
        }
    }

    /// The causes that lie with the machine, and neither with what was chosen nor with the daemon.
    private static let machineCauses: Set<Finding.Cause> = [
        .kernelWithoutBluetooth, .bluetoothRefused, .noAdapter, .uartNotAttached, .adapterTaken, .adapterNotFound,
        .adapterWithoutLowEnergy, .rfkillHard, .rfkillSoft, .adapterDown, .adapterUnreadable, .capabilitiesMissing,
        .uinputMissing, .uinputNotPermitted, .uinputRefused,
    ]
}
