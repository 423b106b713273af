// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A time in which a central may pair with an adapter of the kernel (`ManagedPairingWindow` on the event loop).
///
/// It is used on the loop's thread.
final class KernelPairingWindow: PairingWindow {
    private let adapter: KernelAdapter
    private let limit: Duration
    private var machine: ManagedPairingWindow
    private let timer = LoopTimer()
    private var isOpen = false

    var onNews: ((PairingWindowNews) -> Void)?

    init(_ offer: PairingOffer, on adapter: KernelAdapter) {
        self.adapter = adapter
        limit = offer.limit
        machine = ManagedPairingWindow(
            adapter.index,
            adapter.information,
            offer.capability,
            required: offer.required,
            bonds: adapter.bonds
        )
    }

    deinit {
        guard isOpen else { return }
        timer.cancel()
        machine.close()
        while let command = machine.nextCommand() { adapter.management.send(command) { _ in } }
    }

    func open() {
        adapter.window?.close()
        adapter.window = self
        isOpen = true
        timer.set(on: adapter.loop, after: limit) { [unowned self] in
            machine.close()
            pump()
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

    func handle(_ event: ManagementEvent.Kind) {
        machine.handle(event)
        pump()
    }

    func close() {
        onNews = nil
        guard isOpen else { return }
        machine.close()
        pump()
    }

    private func release() {
        isOpen = false
        timer.cancel()
        if adapter.window === self { adapter.window = nil }
    }

    private func pump() {
        while let command = machine.nextCommand() {
            adapter.management.send(command) { [weak self] reply in
                guard let self else { return }
                switch reply {
                case .status(let status, _): machine.handle(replyTo: command.opcode, status)
                case .timedOut: machine.handle(replyTo: command.opcode, nil)
                }
                pump()
            }
        }
        while let news = machine.nextNews() {
            switch news {
            case .ended, .refused:
                let handler = onNews
                onNews = nil
                release()
                handler?(news)
            case .ask, .show, .failed: onNews?(news)
            }
        }
    }
}
