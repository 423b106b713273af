// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A pairing that the user has begun, on an adapter of the kernel (`ManagedPairing` on the event loop).
///
/// It is used on the loop's thread.
final class KernelPairing: DevicePairing {
    /// How long the kernel may take beyond the limit to end a pairing that was called off.
    private static let grace = Duration.seconds(15)

    private let adapter: KernelAdapter
    private let wish: PairingWish
    private var machine: ManagedPairing
    private let timer = LoopTimer()
    private var isOver = false

    var onNews: ((ManagedPairing.News) -> Void)?

    /// A pairing that has not begun; it is called off after the limit.
    init(_ wish: PairingWish, on adapter: KernelAdapter) {
        self.adapter = adapter
        self.wish = wish
        machine = ManagedPairing(
            adapter.index,
            adapter.information,
            with: wish.device,
            wish.capability,
            required: wish.required
        )
    }

    func begin() {
        adapter.pairing = self
        adapter.noteBeginning(ManagementAddress(wish.device))
        timer.set(on: adapter.loop, after: wish.limit) { [unowned self] in
            cancel()
        }
        machine.begin()
        pump()
    }

    func answer(_ isSame: Bool) {
        machine.answer(isSame)
        pump()
    }

    func answer(passkey: UInt32?) {
        machine.answer(passkey: passkey)
        pump()
    }

    func cancel() {
        machine.cancel()
        pump()
    }

    func close(forgetting: Bool, completion: @escaping () -> Void) {
        timer.cancel()
        onNews = nil
        // The kernel would go on connecting to a device with which nobody pairs any more.
        cancel()
        isOver = true
        if adapter.pairing === self { adapter.pairing = nil }
        if !adapter.information.currentSettings.contains(.bondable) {
            adapter.management.send(.setBondable(adapter.index, false)) { _ in }
        }
        let disconnect = { [adapter, wish] in adapter.disconnect(wish.device, completion: completion) }
        guard forgetting else { return disconnect() }
        // The kernel leaves the link of a device without a key alone.
        adapter.unpair(wish.device) { _ in disconnect() }
    }

    /// True for the device, under the addresses that are known of it.
    func isAbout(_ peer: ManagementAddress) -> Bool { machine.isMeant(peer) }

    func handle(_ event: ManagementEvent.Kind) {
        machine.handle(event)
        pump()
    }

    private func pump() {
        while let command = machine.nextCommand() {
            let patience: Duration? = command.opcode == .pairDevice ? wish.limit + Self.grace : nil
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
