// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The security of one connection of a host: its Security Manager, and what encrypts the link.
struct LinkSecurity: Sendable {
    let connection: LowEnergyHost.Connection
    var manager: SecurityManager
    private(set) var inForce: GATTLinkSecurity
    /// The security that the link will have once it is encrypted with the key that was given to the controller; nil while
    /// none was.
    private var pending: GATTLinkSecurity?
    /// True once the controller has taken that key: what it tells before is of no key of ours.
    private var isAccepted = false
    /// The outcome that the controller told before its answer to the instruction with that key.
    private var early: Bool?

    init(_ connection: LowEnergyHost.Connection, _ manager: SecurityManager) {
        self.connection = connection
        self.manager = manager
        inForce = GATTLinkSecurity(isBonded: manager.bond != nil)
    }

    /// True from the controller's instruction to encrypt the link to its outcome.
    var isEncrypting: Bool { pending != nil }

    /// True while a central's pairing is under way.
    var isAccepting: Bool { connection.role == .peripheral && manager.isPairing }

    mutating func instruct(_ body: (inout SecurityManager) -> Void) { body(&manager) }

    mutating func noteBond(_ isBonded: Bool) { inForce.isBonded = isBonded }

    /// Notes that the controller is given the key that the Security Manager has given out last.
    mutating func giveKey() { give(offered) }

    private mutating func give(_ security: GATTLinkSecurity?) {
        pending = security
        isAccepted = false
        early = nil
    }

    /// The security that the key gives which the Security Manager has given out last.
    private var offered: GATTLinkSecurity {
        guard !manager.isPairing else {
            let level: GATTLinkSecurity.Level = manager.isAuthenticating ? .authenticated : .encrypted
            // A pairing makes no shorter keys.
            return GATTLinkSecurity(level: level, isBonded: inForce.isBonded)
        }
        guard let key = manager.bond?.key(for: manager.keyRole) else { return GATTLinkSecurity() }
        return GATTLinkSecurity(level: key.level, keySize: key.size, isBonded: true)
    }

    /// Takes the controller's answer to an instruction with a key; returns the outcome of the encryption if it is known.
    mutating func outcome(after answer: HCICommandQueue.Outcome) -> Bool? {
        guard isEncrypting else { return nil }
        isAccepted = true
        // Without success no Encryption Change follows.
        if case .failed = answer { return false }
        return early
    }

    /// Takes the outcome of an encryption, that the link is encrypted with the key that was given, or is not.
    ///
    /// Nothing changes, and false is returned, where the controller has yet to say whether it has taken the key.
    mutating func change(isOn: Bool, isInstructed: Bool, now: Duration) -> Bool {
        if isEncrypting, !isAccepted, isInstructed {
            early = isOn
            return false
        }
        let isBonded = inForce.isBonded
        let given = isAccepted ? pending : nil
        // A controller that encrypts without a key of ours protects nothing.
        inForce = isOn ? given ?? GATTLinkSecurity(isBonded: isBonded) : .init(isBonded: isBonded)
        if isAccepted { give(nil) }
        manager.encryptionChanged(isOn: inForce.level > .none, now: now)
        return true
    }
}
