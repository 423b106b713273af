// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// What the user wants of a pairing.
package struct PairingWish: Sendable {
    package var device: DeviceAddress
    /// What the user sees of this host, and can tell it.
    package var capability: IOCapability
    /// The level below which there is no bond; a key of less than 16 bytes makes none either.
    package var required: GATTLinkSecurity.Level
    /// The time after which the pairing is called off.
    package var limit: Duration

    package init(
        _ device: DeviceAddress,
        _ capability: IOCapability,
        required: GATTLinkSecurity.Level,
        limit: Duration
    ) {
        self.device = device
        self.capability = capability
        self.required = required
        self.limit = limit
    }
}

/// A pairing with one device that the user has begun, by the kernel's Security Manager or this library's.
///
/// It is used on the event loop's thread, and begun and closed by the arbiter of the radio, as `RadioPairing`.
package protocol DevicePairing: AnyObject {
    /// The handler of news; the last is the end.
    var onNews: ((ManagedPairing.News) -> Void)? { get set }

    /// Begins; it is called off after its limit.
    func begin()
    /// The user's answer to `compare`.
    func answer(_ isSame: Bool)
    /// The user's answer to `enter`; nil for none.
    func answer(passkey: UInt32?)
    /// Calls it off; the end follows, unless it was there already.
    func cancel()
    /// Puts the adapter back as it was and ends the link, with `forgetting` without a key left below this process;
    /// `completion` is called when that is done.
    func close(forgetting: Bool, completion: @escaping () -> Void)
}

/// What a central may agree on with this host, the peripheral.
package struct PairingOffer: Sendable {
    /// What the user sees of this host, and can tell it.
    package var capability: IOCapability
    /// The level below which there is no bond.
    package var required: GATTLinkSecurity.Level
    /// The time after which nobody may pair any more.
    package var limit: Duration

    package init(_ capability: IOCapability, required: GATTLinkSecurity.Level, limit: Duration) {
        self.capability = capability
        self.required = required
        self.limit = limit
    }
}

/// A time in which one central that asks for it pairs with this host: begun by the user, and off otherwise.
///
/// It ends with the first bond, at its limit, or when it is closed; who asks before or behind it is refused. A central that
/// has a bond already is refused too: a key is never replaced.
///
/// It is used on the event loop's thread.
package protocol PairingWindow: AnyObject {
    /// The handler of news; the last is the end.
    var onNews: ((PairingWindowNews) -> Void)? { get set }

    /// Begins; it takes the place of another window of this adapter.
    func open()
    /// The user's answer to `compare`.
    func answer(_ isSame: Bool)
    /// The user's answer to `enter`; nil for none.
    func answer(passkey: UInt32?)
    /// Ends it at once, and a pairing that is under way; no news follows.
    func close()
}
