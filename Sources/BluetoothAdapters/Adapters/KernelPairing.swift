// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// A pairing started by the user on a kernel adapter (`ManagedPairing` on the event loop).
final class KernelPairing: DevicePairing {
    /// Additional time after the limit in which the kernel can end a cancelled pairing.
    private static let grace = Duration.seconds(15)

    private let adapter: KernelAdapter
    private let wish: PairingOptions
    private var machine: ManagedPairing
    private let timer = LoopTimer()
    private var isOver = false

    var onNews: ((ManagedPairing.News) -> Void)?

    /// Creates a pairing without starting it; once started, it is cancelled after its time limit.
    init(_ wish: PairingOptions, on adapter: KernelAdapter) {
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
        timer.set(on: adapter.loop, after: wish.limit) { [unowned self] in cancel() }
        machine.begin()
        pump()
    }

    func answer(_ isSame: Bool) { instruct { $0.answer(isSame) } }

    func answer(passkey: UInt32?) { instruct { $0.answer(passkey: passkey) } }

    func cancel() { instruct { $0.cancel() } }

    func close(forgetting: Bool, completion: @escaping () -> Void) {
        timer.cancel()
        onNews = nil
        // Cancel the pairing; otherwise the kernel would keep trying to connect to the device.
        cancel()
        isOver = true
        if adapter.pairing === self { adapter.pairing = nil }
        if !adapter.information.currentSettings.contains(.bondable) {
            adapter.management.send(.setBondable(adapter.index, false)) { _ in }
        }
        let disconnect = { [adapter, wish] in adapter.disconnect(wish.device, completion: completion) }
        guard forgetting else { return disconnect() }
        // If there is no key for the device, the kernel does not end its link, so disconnect it separately.
        adapter.unpair(wish.device) { _ in disconnect() }
    }

    /// Returns true if this is one of the known addresses of the device being paired.
    func isAbout(_ peer: ManagementAddress) -> Bool { machine.isMeant(peer) }

    func handle(_ event: ManagementEvent.Kind) { instruct { $0.handle(event) } }

    private func instruct(_ body: (inout ManagedPairing) -> Void) {
        body(&machine)
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

/// The pairable mode of a kernel adapter (`ManagedPairableMode` on the event loop).
final class KernelPairableMode: PairableMode {
    private let adapter: KernelAdapter
    private let limit: Duration
    private var machine: ManagedPairableMode
    private let timer = LoopTimer()
    private var isOpen = false

    var onNews: ((PairableEvent) -> Void)?

    init(_ offer: PairableOptions, on adapter: KernelAdapter) {
        self.adapter = adapter
        limit = offer.limit
        machine = ManagedPairableMode(
            adapter.index,
            adapter.information,
            offer.capability,
            required: offer.required,
            bonds: adapter.bonds
        )
    }

    deinit {
        guard isOpen else { return }
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

    func answer(_ isSame: Bool) { instruct { $0.answer(isSame) } }

    func answer(passkey: UInt32?) { instruct { $0.answer(passkey: passkey) } }

    func handle(_ event: ManagementEvent.Kind) { instruct { $0.handle(event) } }

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

    private func instruct(_ body: (inout ManagedPairableMode) -> Void) {
        body(&machine)
        pump()
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

extension KernelAdapter {
    /// Replaces the kernel's keys for this adapter with those of the bonds.
    ///
    /// The kernel loads the keys while the command is being sent, so a connection started afterwards uses them. Until
    /// this process has had a bond, other programs' keys are left in place.
    package func use(_ bonds: [Bond]) {
        let own = bonds.filter { $0.localAddress == address }
        self.bonds = own
        resolver = AddressResolver(own)
        guard !own.isEmpty || hasLoadedKeys else { return }
        hasLoadedKeys = true
        load(.loadIdentityResolvingKeys(index, own.compactMap(\.managementResolvingKey)))
        load(.loadLongTermKeys(index, own.flatMap(\.managementKeys)))
    }

    /// Loads a list of keys; if the kernel rejects it, stores the failure.
    private func load(_ command: ManagementCommand) {
        let opcode = command.opcode
        management.send(command) { [weak self] reply in
            switch reply {
            case .status(.success, _): self?.refusedKeys[opcode] = nil
            case .status(let status, _): self?.refusedKeys[opcode] = .refused("\(opcode)", "\(status)")
            case .timedOut: self?.refusedKeys[opcode] = .refused("\(opcode)", "\(ManagementStatus.timeout)")
            }
        }
    }

    /// Returns the failure to report for a bonded device whose keys the kernel has rejected; nil otherwise.
    ///
    /// Without the keys, the kernel would start a new pairing, and the device would appear to be a different one.
    func keyFailure(of device: DeviceAddress) -> LinkFailure? {
        guard bonds.contains(where: { $0.identityAddress == device }) else { return nil }
        return refusedKeys[.loadLongTermKeys] ?? refusedKeys[.loadIdentityResolvingKeys]
    }

    package func makePairing(_ wish: PairingOptions) -> any DevicePairing { KernelPairing(wish, on: self) }

    package func makePairableMode(_ offer: PairableOptions) -> any PairableMode { KernelPairableMode(offer, on: self) }

    /// Deletes a device's keys from the kernel, and ends the link with it; `completion` receives false if there were no
    /// keys.
    package func unpair(_ device: DeviceAddress, completion: @escaping (Bool) -> Void) {
        management.send(.unpairDevice(index, ManagementAddress(device), disconnects: true)) { reply in
            if case .status(.success, _) = reply { completion(true) } else { completion(false) }
        }
    }

    /// Handles an event of the pairing started by the user, or of a device that requests a new pairing.
    ///
    /// A device's request is rejected, because only the user creates bonds. A central connected to this process may
    /// pair while the pairable mode is active, and is rejected otherwise; devices that other programs use are ignored.
    /// While the user pairs with one device, other devices of this process are rejected too.
    func handlePairing(_ event: ManagementEvent.Kind) {
        let device = event.asker
        if let device, served.contains(device) {
            if let window { window.handle(event) } else { refuse(event) }
        } else if let device, asked.contains(device), pairing?.isAbout(device) != true {
            refuse(event)
        } else if let pairing {
            pairing.handle(event)
        } else {
            window?.handle(event)
        }
    }

    /// Rejects a pairing request from the kernel.
    private func refuse(_ event: ManagementEvent.Kind) {
        switch event {
        case .userConfirmationRequest(let device, _, _):
            management.send(.userConfirmationReply(index, device, accepts: false)) { _ in }
        case .userPasskeyRequest(let device): management.send(.userPasskeyReply(index, device, nil)) { _ in }
        // This event has no reply, so the pairing is ended by disconnecting.
        case .passkeyNotify(let device, _, _): management.send(.disconnect(index, device)) { _ in }
        default: break
        }
    }
}

extension ManagementEvent.Kind {
    /// The device that requests pairing, or that must enter the displayed passkey; nil for other events.
    fileprivate var asker: ManagementAddress? {
        switch self {
        case .userConfirmationRequest(let device, _, _), .userPasskeyRequest(let device),
            .passkeyNotify(let device, _, _):
            device
        default: nil
        }
    }
}
