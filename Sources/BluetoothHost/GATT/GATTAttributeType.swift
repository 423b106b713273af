// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The attribute types by which GATT builds its hierarchy.
///
/// Core 6.0, Vol 3, Part G, 3.4, Table 3.15; numbers from Assigned Numbers, 3.5 and 3.7.
public enum GATTAttributeType {
    /// Declares a primary service.
    public static let primaryService = BluetoothUUID(UInt16(0x2800))
    /// Declares a secondary service.
    public static let secondaryService = BluetoothUUID(UInt16(0x2801))
    /// Declares that a service includes another.
    public static let include = BluetoothUUID(UInt16(0x2802))
    /// Declares a characteristic.
    public static let characteristic = BluetoothUUID(UInt16(0x2803))
    /// The Characteristic Extended Properties descriptor.
    public static let extendedProperties = BluetoothUUID(UInt16(0x2900))
    /// The Characteristic User Description descriptor.
    public static let userDescription = BluetoothUUID(UInt16(0x2901))
    /// The Client Characteristic Configuration descriptor, by which a client asks for notifications or indications.
    public static let clientConfiguration = BluetoothUUID(UInt16(0x2902))
    /// The Server Characteristic Configuration descriptor, for broadcasts.
    public static let serverConfiguration = BluetoothUUID(UInt16(0x2903))
    /// The Characteristic Presentation Format descriptor.
    public static let presentationFormat = BluetoothUUID(UInt16(0x2904))

    /// The Generic Access service.
    public static let genericAccess = BluetoothUUID(UInt16(0x1800))
    /// The Generic Attribute service.
    public static let genericAttribute = BluetoothUUID(UInt16(0x1801))
    /// The Device Name characteristic.
    public static let deviceName = BluetoothUUID(UInt16(0x2A00))
    /// The Appearance characteristic.
    public static let appearance = BluetoothUUID(UInt16(0x2A01))
    /// The Service Changed characteristic, which indicates a range of handles whose attributes have changed.
    public static let serviceChanged = BluetoothUUID(UInt16(0x2A05))

    /// The 16 bits of `primaryService`, as a Find By Type Value Request wants them.
    static let primaryService16: UInt16 = 0x2800

    /// True for a type that begins something new, so that no descriptor of the characteristic before it can follow.
    static func isDeclaration(_ type: BluetoothUUID) -> Bool {
        type == primaryService || type == secondaryService || type == include || type == characteristic
    }
}
