// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// A pairing that the user has begun, on an adapter of the kernel (`ManagedPairing` on the event loop).
///
/// It is used on the loop's thread, and nothing may scan meanwhile.
package final class KernelPairing {
    /// How long the kernel may take beyond the limit to end a pairing that was called off.
    private static let grace = Duration.seconds(15)

    private let adapter: KernelAdapter
    private let device: DeviceAddress
    private let limit: Duration
    private var machine: ManagedPairing
    private var timer: EventLoop.Timer?
    private var isOver = false

    /// The handler of news; the last is the end.
    package var onNews: ((ManagedPairing.News) -> Void)?

    /// A pairing that has not begun; it is called off after the limit.
    package init(
        of adapter: KernelAdapter,
        with device: DeviceAddress,
        _ capability: IOCapability,
        required: GATTLinkSecurity.Level,
        limit: Duration
    ) {
        self.adapter = adapter
        self.device = device
        self.limit = limit
        machine = ManagedPairing(adapter.index, adapter.information, with: device, capability, required: required)
    }

    /// Begins.
    package func begin() {
        adapter.pairing = self
        timer = adapter.loop.schedule(at: MonotonicClock.now + limit) { [unowned self] in
            timer = nil
            cancel()
        }
        machine.begin()
        pump()
    }

    /// The user's answer to `compare`.
    package func answer(_ isSame: Bool) {
        machine.answer(isSame)
        pump()
    }

    /// The user's answer to `enter`; nil for none.
    package func answer(passkey: UInt32?) {
        machine.answer(passkey: passkey)
        pump()
    }

    /// Calls it off; the end follows, unless it was there already.
    package func cancel() {
        machine.cancel()
        pump()
    }

    /// Puts the adapter back as it was and ends the link, with `forgetting` without a key left in the kernel; `completion`
    /// is called when the kernel has answered.
    package func close(forgetting: Bool, completion: @escaping () -> Void) {
        if let timer { adapter.loop.cancel(timer) }
        timer = nil
        isOver = true
        onNews = nil
        if adapter.pairing === self { adapter.pairing = nil }
        if !adapter.information.currentSettings.contains(.bondable) {
            adapter.management.send(.setBondable(adapter.index, false)) { _ in }
        }
        guard forgetting else { return adapter.disconnect(device, completion: completion) }
        adapter.unpair(device) { _ in completion() }
    }

    func handle(_ event: ManagementEvent.Kind) {
        machine.handle(event)
        pump()
    }

    private func pump() {
        while let command = machine.nextCommand() {
            let patience: Duration? = command.opcode == .pairDevice ? limit + Self.grace : nil
            adapter.management.send(command, patience: patience) { [weak self] reply in
                self?.take(reply, to: command.opcode)
            }
        }
        while !isOver, let news = machine.nextNews() { onNews?(news) }
    }

    private func take(_ reply: ManagementChannel.Reply, to opcode: ManagementOpcode) {
        switch reply {
        case .status(let status, let returned): machine.handle(replyTo: opcode, status, returned.span)
        case .timedOut: machine.handle(replyTo: opcode, nil, [UInt8]().span)
        }
        pump()
    }
}
