// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Control
import Daemon
import Texts

/// The script of `demo --tui`, which leads a new user through the pages step by step.
///
/// It determines the next step, and which devices are out of range during that step.
struct DemoScript {
    /// Minimum time for which a step that the user only watches is shown, and for which a device stays out of range.
    static let watching = Duration.seconds(10)

    private static let steps = DemoScriptText.allCases.filter { $0 != .line }
    private static let (reader, scale) = ("LINBLE-Z1", "SCALE-15K")
    private static let movable: Set<SimulatedCast.Device> = [.linble, .nordic, .scale]

    private(set) var step = DemoScriptText.choose
    private var start: Duration
    /// Number of bytes that had been typed when the current step began.
    private var typed: Int64 = 0

    init(now: Duration) {
        start = now
    }

    /// Moves to the next step if the user has completed the current one.
    mutating func advance(_ model: TUIModel, now: Duration) {
        guard isDone(model, now: now), let place = Self.steps.firstIndex(of: step), place + 1 < Self.steps.count else {
            return
        }
        step = Self.steps[place + 1]
        start = now
        typed = Self.typed(model)
    }

    var message: Message {
        let number = (Self.steps.firstIndex(of: step) ?? 0) + 1
        return DemoScriptText.line.message("\(number)", "\(Self.steps.count)", step.message())
    }

    /// Returns the devices that are out of range.
    func absent(now: Duration) -> Set<SimulatedCast.Device> {
        switch step {
        case .badgeLeaves: [.badge]
        case .badgeReturns: isNew(now) ? [.badge] : []
        case .linkBreaks: Self.movable
        case .linkReturns: isNew(now) ? Self.movable : []
        default: []
        }
    }

    private func isNew(_ now: Duration) -> Bool { now - start < Self.watching }

    private func isDone(_ model: TUIModel, now: Duration) -> Bool {
        guard let status = model.status else { return false }
        let isConnected = status.state == .connected
        switch step {
        case .line, .end: return false
        case .choose: return model.devices.chosen?.label == Self.reader
        case .chooseScale: return model.devices.chosen?.label == Self.scale
        case .text, .weight: return isConnected && model.page == .check && Self.typed(model) > typed
        case _ where isNew(now): return false
        case .badgeLeaves: return status.gate != nil
        case .badgeReturns: return status.gate == nil
        case .linkBreaks: return !isConnected
        case .linkReturns: return isConnected
        }
    }

    private static func typed(_ model: TUIModel) -> Int64 {
        model.status?.counts.first { $0.name == "typed" }?.count ?? 0
    }
}
