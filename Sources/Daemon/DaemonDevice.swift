// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Devices
import LinuxIO
import Texts
import Typing

/// Device of a daemon: its session and outputs, its selection, and the state that clients see.
package final class DaemonDevice {
    package let service: ServiceDevice
    let choice: ChoiceKeeper
    /// True if the selection follows its file; false if the device is fixed.
    let followsChoice: Bool
    let labels: DaemonLabels
    let received: ReceivedReporter
    let lastValue: LastValueKeeper
    var awaitsWord = AwaitedWord()
    /// Time of the last change of state.
    private(set) var stateSince = MonotonicClock.now
    /// Last `state` event; nil before the first.
    private(set) var latest: JSONObject?

    init(_ service: ServiceDevice, _ choice: ChoiceKeeper, follows: Bool, _ labels: DaemonLabels, on loop: EventLoop) {
        self.service = service
        self.choice = choice
        followsChoice = follows
        self.labels = labels
        received = ReceivedReporter(on: loop)
        lastValue = LastValueKeeper(of: service.session, on: loop)
        choice.onChange = { [unowned self] kept in choose(kept) }
    }

    /// Name in the configuration; nil if the daemon has only one device, without a table.
    package var name: String? { service.name }

    package var session: DeviceSession { service.session }

    /// Selects a device, or none; a device that was just `heard` is connected without another scan.
    func choose(_ kept: SelectedDevice?, heard: DeviceAddress? = nil) {
        let choice = kept.map(DeviceSelector.kept)
        // The file may have been touched without changing the selection.
        if choice != session.choice { session.choose(choice, heard: heard) }
    }

    /// Returns true if this device is selected, or was heard as the selected one.
    func has(_ device: DeviceAddress) -> Bool { session.address == device || session.choice?.kept?.device == device }

    /// Records a change of state.
    func note(_ state: Session.State, _ event: JSONObject?) {
        if state != .connected { received.flush() }
        stateSince = MonotonicClock.now
        if let event { latest = event }
    }

    /// Last `state` event or, before the first, one with the current state.
    var stateEvent: JSONObject? {
        let event = KeyboardService.Event.state(session.state, device: session.address, reason: session.reason)
        return latest ?? event.object(session.choice, of: name)
    }

    func keyboardEvent() -> JSONObject? {
        KeyboardService.Event.keyboard(node: service.keyboard.node).object(nil, of: name)
    }

    /// Failure of a request that would change the selection; nil if it may change.
    var refusalOfChange: CommandFailure? {
        guard !followsChoice else { return nil }
        let device = session.choice.map { Message(detail: "\($0)") } ?? PlainText.oneDevice.message()
        if let name { return CommandFailure(.usage, ControlFaultText.fixedInTable, device, Message(detail: name)) }
        return CommandFailure(.usage, ControlFaultText.fixedDevice, device)
    }
}
