// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The devices that a scan is for.
public struct ScanFilter: Hashable, Sendable {
    /// A condition on the name; letters of either case are equal (BT-3).
    public enum Name: Hashable, Sendable {
        /// The whole name is this.
        case exactly(String)
        /// The name begins with this.
        case prefix(String)
    }

    /// Devices that offer any of these; empty is no condition.
    public var services: Set<BluetoothUUID>
    /// Devices of this name; nil is no condition.
    public var name: Name?

    /// A filter in which both conditions must hold; without arguments it takes every device.
    public init(services: Set<BluetoothUUID> = [], name: Name? = nil) {
        self.services = services
        self.name = name
    }

    /// True when a device of that name, which offers these services, is looked for.
    public func matches(name deviceName: LocalName?, services offered: [BluetoothUUID]) -> Bool {
        guard services.isEmpty || offered.contains(where: services.contains) else { return false }
        switch name {
        case nil: return true
        case .exactly(let text): return deviceName?.text.lowercased() == text.lowercased()
        case .prefix(let text): return deviceName?.text.lowercased().hasPrefix(text.lowercased()) ?? false
        }
    }
}
