// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Security of one connection: its Security Manager and the state of the link's encryption.
struct LinkSecurity: Sendable {
    let connection: LowEnergyHost.Connection
    var manager: SecurityManager
    private(set) var inForce: GATTLinkSecurity
    /// Security that the link will have once it is encrypted with the key that was passed to the controller; nil if no
    /// encryption is pending.
    private var pending: GATTLinkSecurity?
    /// True once the controller has answered the command that contains the key.
    ///
    /// An encryption event that precedes the answer is stored in `early` or belongs to another key.
    private var isAccepted = false
    /// Outcome of the encryption if it was reported before the answer to the command that contains the key; otherwise
    /// nil.
    private var early: Bool?

    init(_ connection: LowEnergyHost.Connection, _ manager: SecurityManager) {
        self.connection = connection
        self.manager = manager
        inForce = GATTLinkSecurity(isBonded: manager.bond != nil)
    }

    /// True from the encryption command until its outcome is known.
    var isEncrypting: Bool { pending != nil }

    /// True while a pairing requested by a central is in progress.
    var isAccepting: Bool { connection.role == .peripheral && manager.isPairing }

    mutating func instruct(_ body: (inout SecurityManager) -> Void) { body(&manager) }

    mutating func noteBond(_ isBonded: Bool) { inForce.isBonded = isBonded }

    /// Records that the Security Manager's latest key has been passed to the controller.
    mutating func giveKey() { give(offered) }

    private mutating func give(_ security: GATTLinkSecurity?) {
        pending = security
        isAccepted = false
        early = nil
    }

    /// Security that the Security Manager's latest key provides.
    private var offered: GATTLinkSecurity {
        guard !manager.isPairing else {
            let level: GATTLinkSecurity.Level = manager.isAuthenticating ? .authenticated : .encrypted
            // A pairing produces only keys of the maximum size.
            return GATTLinkSecurity(level: level, isBonded: inForce.isBonded)
        }
        guard let key = manager.bond?.key(for: manager.keyRole) else { return GATTLinkSecurity() }
        return GATTLinkSecurity(level: key.level, keySize: key.size, isBonded: true)
    }

    /// Processes the controller's answer to a command that contains a key; returns the outcome of the encryption if it
    /// is known.
    mutating func outcome(after answer: HCICommandQueue.Outcome) -> Bool? {
        guard isEncrypting else { return nil }
        isAccepted = true
        // If the command fails, no Encryption Change follows.
        if case .failed = answer { return false }
        return early
    }

    /// Processes the outcome of an encryption: `isOn` is true if the link is now encrypted.
    ///
    /// If the controller has not yet answered the command that contains the key, the outcome is stored and the function
    /// returns false.
    mutating func change(isOn: Bool, isInstructed: Bool, now: Duration) -> Bool {
        if isEncrypting, !isAccepted, isInstructed {
            early = isOn
            return false
        }
        let isBonded = inForce.isBonded
        let given = isAccepted ? pending : nil
        // Encryption with a key that is not ours provides no security.
        inForce = isOn ? given ?? GATTLinkSecurity(isBonded: isBonded) : .init(isBonded: isBonded)
        if isAccepted { give(nil) }
        manager.encryptionChanged(isOn: inForce.level > .none, now: now)
        return true
    }
}
