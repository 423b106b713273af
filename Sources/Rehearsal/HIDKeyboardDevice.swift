// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets

/// Keyboard scanner that pairs without input and output, and types one line per period while a central is subscribed.
///
/// It keeps the keys and the subscriptions of bonded centrals. A program with simulated devices stores only the bonds
/// of its own adapter; the device derives its half from them, so that it recognises a pairing by an earlier program.
final class HIDKeyboardDevice: SimulatedDevice {
    /// Time limit of a pairable mode, which is opened again when it ends.
    private static let pairingLimit = Duration.seconds(24 * 60 * 60)

    let core: AdapterCore
    private let name: String
    private let period: Duration
    private let faults: Set<KeyboardFault>
    private let line: (_ number: Int) -> String
    private var window: (any PairableMode)?
    /// Bonds of the other adapter, until this device's adapter is ready.
    private var known: [Bond] = []
    private(set) var keyboard: SimulatedKeyboard?
    private(set) var sender: KeyReportSender?
    private var typed = 0

    init(
        name: String,
        every period: Duration,
        faults: Set<KeyboardFault> = [],
        on core: AdapterCore,
        line: @escaping (_ number: Int) -> String
    ) {
        self.name = name
        self.period = period
        self.faults = faults
        self.core = core
        self.line = line
    }

    func advertise() throws {
        remember(known)
        acceptPairing()
        let keyboard = try SimulatedKeyboard(name: name, faults: faults, on: core.radio) { [unowned self] event in
            switch event {
            case .subscribed(isRestored: false): sender?.postpone(by: period)
            // A line that became due during the disconnection is typed at once.
            case .subscribed(isRestored: true): sender?.pump()
            case .connected, .unsubscribed, .lights, .disconnected: break
            }
        }
        self.keyboard = keyboard
        let keepsKeysDown = faults.contains(.keepKeyDown)
        sender = KeyReportSender(keyboard, every: period, keepsKeysDown: keepsKeysDown, on: core.radio.loop) {
            [unowned self] in
            defer { typed &+= 1 }
            return line(typed)
        }
        try keyboard.start { _ in }
    }

    /// Replaces the bonds of this device by its half of another adapter's bonds; links that exist keep their keys.
    ///
    /// If the other adapter has forgotten its bond, this device can be paired again, as after its reset.
    func remember(_ bonds: [Bond]) {
        known = bonds
        guard let adapter = core.adapter else { return }
        adapter.use(bonds.compactMap { $0.seen(from: adapter.address) })
    }

    /// Accepts Just Works pairings with bonding, one after another.
    private func acceptPairing() {
        let offer = PairableOptions(.noInputNoOutput, required: .encrypted, limit: Self.pairingLimit)
        let window = core.adapter?.makePairableMode(offer)
        window?.onNews = { [unowned self] news in if case .ended = news { acceptPairing() } }
        self.window = window
        window?.open()
    }
}

extension Bond {
    /// Returns the bond that the peer keeps, if the peer's adapter has this public address; otherwise nil.
    fileprivate func seen(from address: BluetoothAddress) -> Bond? {
        guard identityAddress == DeviceAddress(address, .public) else { return nil }
        // A key from LE Secure Connections is valid in both roles.
        return Bond(
            identityAddress: DeviceAddress(localAddress, .public),
            localAddress: address,
            longTermKeys: longTermKeys.filter(\.isSecureConnections)
        )
    }
}
