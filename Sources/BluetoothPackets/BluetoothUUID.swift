// SPDX-License-Identifier: GPL-2.0-or-later

/// A Bluetooth UUID of 16, 32 or 128 bits, kept as its 128-bit form so that equality holds over the base UUID (Core
/// 6.0, Vol 3, Part B, 2.5.1).
public struct BluetoothUUID: Hashable, Sendable {
    /// The more significant 64 bits.
    public let high: UInt64
    /// The less significant 64 bits.
    public let low: UInt64

    /// The less significant 64 bits of `00000000-0000-1000-8000-00805F9B34FB`.
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB
    /// The more significant 64 bits of the base UUID, its first 32 zero.
    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000

    /// A UUID from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The 16-bit UUID `value`.
    public init(_ value: UInt16) {
        self.init(UInt32(value))
    }

    /// The 32-bit UUID `value`.
    public init(_ value: UInt32) {
        self.init(high: UInt64(value) &<< 32 | Self.baseHigh, low: Self.baseLow)
    }

    /// Reads `180A`, `0x180A`, `0000180A`, or the 36 characters of the 128-bit form; letters of either case.
    ///
    /// Returns nil for anything else.
    public init?(_ text: some StringProtocol) {
        var digits = Substring(text)
        if digits.utf8.count == 36 {
            var value: (UInt64, UInt64) = (0, 0)
            var position = 0
            for byte in digits.utf8 {
                if position == 8 || position == 13 || position == 18 || position == 23 {
                    guard byte == UInt8(ascii: "-") else { return nil }
                } else {
                    guard let digit = Self.hexDigit(byte) else { return nil }
                    value.0 = value.0 &<< 4 | value.1 &>> 60
                    value.1 = value.1 &<< 4 | digit
                }
                position += 1
            }
            self.init(high: value.0, low: value.1)
            return
        }
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") { digits = digits.dropFirst(2) }
        guard digits.utf8.count == 4 || digits.utf8.count == 8 else { return nil }
        var value: UInt64 = 0
        for byte in digits.utf8 {
            guard let digit = Self.hexDigit(byte) else { return nil }
            value = value &<< 4 | digit
        }
        self.init(UInt32(truncatingIfNeeded: value))
    }

    /// A random UUID (RFC 9562, version 4).
    public static func random() -> BluetoothUUID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// A random UUID (RFC 9562, version 4) from the given source.
    public static func random(using generator: inout some RandomNumberGenerator) -> BluetoothUUID {
        let high: UInt64 = generator.next()
        let low: UInt64 = generator.next()
        return BluetoothUUID(high: high & ~0xF000 | 0x4000, low: low & ~(0b11 &<< 62) | 0b10 &<< 62)
    }

    /// The 16-bit form, where there is one.
    public var shortForm16: UInt16? { shortForm32.flatMap { UInt16(exactly: $0) } }

    /// The 32-bit form, where there is one; a 16-bit UUID has it too.
    public var shortForm32: UInt32? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt32(truncatingIfNeeded: high &>> 32)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte &- UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte &- UInt8(ascii: "a") &+ 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte &- UInt8(ascii: "A") &+ 10)
        default: nil
        }
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The shortest form, in capitals: `180A`, `12345678`, or the 36 characters.
    public var description: String {
        if let value = shortForm16 { return Hexadecimal.text(UInt64(value), digits: 4) }
        if let value = shortForm32 { return Hexadecimal.text(UInt64(value), digits: 8) }
        return fullDescription
    }

    /// The 36 characters of the 128-bit form, in capitals.
    public var fullDescription: String {
        [
            Hexadecimal.text(high &>> 32, digits: 8), Hexadecimal.text(high &>> 16 & 0xFFFF, digits: 4),
            Hexadecimal.text(high & 0xFFFF, digits: 4), Hexadecimal.text(low &>> 48, digits: 4),
            Hexadecimal.text(low & 0xFFFF_FFFF_FFFF, digits: 12),
        ].joined(separator: "-")
    }
}

/// The names of common services, characteristics and descriptors (Bluetooth SIG, Assigned Numbers, 3.4, 3.7 and 3.8).
public enum AssignedNumbers {
    /// The name that goes with a UUID; nil where none is known here.
    public static func name(of uuid: BluetoothUUID) -> String? {
        uuid.shortForm16.flatMap { names[$0] }
    }

    private static let names: [UInt16: String] = [
        // Services.
        0x1800: "GAP",
        0x1801: "GATT",
        0x1802: "Immediate Alert",
        0x1803: "Link Loss",
        0x1804: "Tx Power",
        0x1805: "Current Time",
        0x1808: "Glucose",
        0x1809: "Health Thermometer",
        0x180A: "Device Information",
        0x180D: "Heart Rate",
        0x180E: "Phone Alert Status",
        0x180F: "Battery",
        0x1810: "Blood Pressure",
        0x1811: "Alert Notification",
        0x1812: "Human Interface Device",
        0x1813: "Scan Parameters",
        0x1814: "Running Speed and Cadence",
        0x1815: "Automation IO",
        0x1816: "Cycling Speed and Cadence",
        0x1818: "Cycling Power",
        0x1819: "Location and Navigation",
        0x181A: "Environmental Sensing",
        0x181B: "Body Composition",
        0x181C: "User Data",
        0x181D: "Weight Scale",
        0x181E: "Bond Management",
        0x181F: "Continuous Glucose Monitoring",
        0x1820: "Internet Protocol Support",
        0x1821: "Indoor Positioning",
        0x1822: "Pulse Oximeter",
        0x1823: "HTTP Proxy",
        0x1824: "Transport Discovery",
        0x1825: "Object Transfer",
        0x1826: "Fitness Machine",
        0x1827: "Mesh Provisioning",
        0x1828: "Mesh Proxy",
        // Declarations and descriptors.
        0x2800: "Primary Service",
        0x2801: "Secondary Service",
        0x2802: "Include",
        0x2803: "Characteristic",
        0x2900: "Characteristic Extended Properties",
        0x2901: "Characteristic User Description",
        0x2902: "Client Characteristic Configuration",
        0x2903: "Server Characteristic Configuration",
        0x2904: "Characteristic Presentation Format",
        0x2905: "Characteristic Aggregate Format",
        0x2906: "Valid Range",
        0x2907: "External Report Reference",
        0x2908: "Report Reference",
        0x290B: "Environmental Sensing Configuration",
        0x290C: "Environmental Sensing Measurement",
        0x290D: "Environmental Sensing Trigger Setting",
        // Characteristics.
        0x2A00: "Device Name",
        0x2A01: "Appearance",
        0x2A02: "Peripheral Privacy Flag",
        0x2A03: "Reconnection Address",
        0x2A04: "Peripheral Preferred Connection Parameters",
        0x2A05: "Service Changed",
        0x2A06: "Alert Level",
        0x2A07: "Tx Power Level",
        0x2A08: "Date Time",
        0x2A19: "Battery Level",
        0x2A1C: "Temperature Measurement",
        0x2A1D: "Temperature Type",
        0x2A22: "Boot Keyboard Input Report",
        0x2A23: "System ID",
        0x2A24: "Model Number String",
        0x2A25: "Serial Number String",
        0x2A26: "Firmware Revision String",
        0x2A27: "Hardware Revision String",
        0x2A28: "Software Revision String",
        0x2A29: "Manufacturer Name String",
        0x2A2A: "IEEE 11073-20601 Regulatory Certification Data List",
        0x2A2B: "Current Time",
        0x2A31: "Scan Refresh",
        0x2A32: "Boot Keyboard Output Report",
        0x2A33: "Boot Mouse Input Report",
        0x2A35: "Blood Pressure Measurement",
        0x2A37: "Heart Rate Measurement",
        0x2A38: "Body Sensor Location",
        0x2A39: "Heart Rate Control Point",
        0x2A4A: "HID Information",
        0x2A4B: "Report Map",
        0x2A4C: "HID Control Point",
        0x2A4D: "Report",
        0x2A4E: "Protocol Mode",
        0x2A4F: "Scan Interval Window",
        0x2A50: "PnP ID",
        0x2A6D: "Pressure",
        0x2A6E: "Temperature",
        0x2A6F: "Humidity",
        0x2A9D: "Weight Measurement",
        0x2AA6: "Central Address Resolution",
        0x2AC9: "Resolvable Private Address Only",
        0x2B29: "Client Supported Features",
        0x2B2A: "Database Hash",
        0x2B3A: "Server Supported Features",
    ]
}
