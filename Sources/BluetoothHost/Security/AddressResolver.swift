// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Tells by whom a resolvable private address is: one of the devices with which there is a bond.
///
/// A device that keeps its privacy has another address each quarter of an hour or so. Who holds its identity resolving key
/// finds its identity in each of them. What was found of an address is kept, so that a crowd whose addresses come again
/// and again is resolved once; the room for that is fixed.
///
/// Core 6.0, Vol 6, Part B, 1.3.2.3.
public struct AddressResolver: Sendable {
    /// The number of addresses of which is known what was found; a power of two.
    static let capacity = 512

    /// A device with its key, and the address by which it was heard last.
    private struct Peer: Sendable {
        let identity: DeviceAddress
        let key: UInt128
        var last: DeviceAddress?
    }

    /// What was found of an address: the peer's place, or that it is nobody's.
    private struct Finding: Sendable {
        /// The 48 bits; 0 for none.
        var address: UInt64 = 0
        var place: Int?
    }

    private var peers: [Peer]
    private var findings: [Finding]

    /// A resolver of the devices of these bonds; nil where none has given its key.
    public init?(_ bonds: some Sequence<Bond>) {
        peers = bonds.compactMap { bond in
            bond.identityResolvingKey.map { Peer(identity: bond.identityAddress, key: UInt128(littleEndianBytes: $0)) }
        }
        guard !peers.isEmpty else { return nil }
        findings = Array(repeating: Finding(), count: Self.capacity)
    }

    /// The identity of who sends with this address; the address itself where it is no resolvable one, or nobody's.
    public mutating func identity(of sender: DeviceAddress) -> DeviceAddress {
        guard sender.kind == .resolvablePrivate else { return sender }
        let bits = sender.address.rawValue
        // The lowest bits are a hash, the ones above it random.
        let slot = Int(truncatingIfNeeded: (bits ^ bits &>> 24) & UInt64(Self.capacity - 1))
        if findings[slot].address != bits {
            let place = peers.firstIndex { (try? SecurityToolbox.resolves(sender, key: $0.key)) == true }
            findings[slot] = Finding(address: bits, place: place)
        }
        guard let place = findings[slot].place else { return sender }
        peers[place].last = sender
        return peers[place].identity
    }

    /// The address by which a device was heard last; its identity where it was not heard by another.
    public func address(of identity: DeviceAddress) -> DeviceAddress {
        peers.first { $0.identity == identity }?.last ?? identity
    }
}
