// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The security of one connection of a host: its Security Manager, and what encrypts the link.
struct HostSecurity: Sendable {
    var manager: SecurityManager
    /// The security in force.
    var inForce: GATTLinkSecurity
    /// The security that the link will have once it is encrypted with the key that was given to the controller; nil while
    /// none was.
    private(set) var pending: GATTLinkSecurity?
    /// True once the controller has taken that key: what it tells before is of no key of ours.
    var isAccepted = false
    /// The outcome that the controller told before its answer to the instruction with that key.
    var early: Bool?

    init(_ manager: SecurityManager) {
        self.manager = manager
        inForce = GATTLinkSecurity(isBonded: manager.bond != nil)
    }

    /// Notes that the controller is given a key with this security, or that it has used it.
    mutating func give(_ security: GATTLinkSecurity?) {
        pending = security
        isAccepted = false
        early = nil
    }

    /// The security that the key gives which the Security Manager has given out last.
    var offered: GATTLinkSecurity {
        guard !manager.isPairing else {
            let level: GATTLinkSecurity.Level = manager.isAuthenticating ? .authenticated : .encrypted
            // A pairing makes no shorter keys.
            return GATTLinkSecurity(level: level, isBonded: inForce.isBonded)
        }
        let role: LongTermKey.Role = manager.role == .central ? .central : .peripheral
        guard let key = manager.bond?.key(for: role) else { return GATTLinkSecurity() }
        return GATTLinkSecurity(level: key.level, keySize: key.size, isBonded: true)
    }
}

/// How long devices that failed to pair have to wait: a bounded table, so that a new connection does not shorten it.
///
/// Core 6.0, Vol 3, Part H, 2.3.6.
struct PairingBackoffs: Sendable {
    /// The most devices; in a full table the wait that ends first is forgotten.
    static let capacity = 64

    private var waits: [DeviceAddress: PairingBackoff] = [:]

    subscript(device: DeviceAddress) -> PairingBackoff { waits[device] ?? PairingBackoff() }

    /// The number of devices.
    var count: Int { waits.count }

    /// Keeps the wait of a device, or forgets it where there is none.
    mutating func keep(_ backoff: PairingBackoff, of device: DeviceAddress) {
        guard let end = backoff.end else {
            waits[device] = nil
            return
        }
        if waits[device] == nil, waits.count >= Self.capacity {
            let first = waits.min { ($0.value.end ?? end) < ($1.value.end ?? end) }
            if let first { waits[first.key] = nil }
        }
        waits[device] = backoff
    }
}
