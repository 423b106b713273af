// SPDX-License-Identifier: GPL-2.0-or-later

extension BluetoothUUID {
    // Service UUIDs (Bluetooth SIG, Assigned Numbers, 3.4).

    /// Generic Access (GAP) service.
    public static var genericAccess: BluetoothUUID { 0x1800 }
    /// Generic Attribute (GATT) service.
    public static var genericAttribute: BluetoothUUID { 0x1801 }
    /// Current Time service.
    public static var currentTime: BluetoothUUID { 0x1805 }
    /// Health Thermometer service.
    public static var healthThermometer: BluetoothUUID { 0x1809 }
    /// Device Information service.
    public static var deviceInformation: BluetoothUUID { 0x180A }
    /// Heart Rate service.
    public static var heartRate: BluetoothUUID { 0x180D }
    /// Battery service.
    public static var battery: BluetoothUUID { 0x180F }
    /// Blood Pressure service.
    public static var bloodPressure: BluetoothUUID { 0x1810 }
    /// Human Interface Device service.
    public static var humanInterfaceDevice: BluetoothUUID { 0x1812 }
    /// Environmental Sensing service.
    public static var environmentalSensing: BluetoothUUID { 0x181A }
    /// Weight Scale service.
    public static var weightScale: BluetoothUUID { 0x181D }

    // Characteristic UUIDs (Assigned Numbers, 3.8).

    /// Device Name characteristic.
    public static var deviceName: BluetoothUUID { 0x2A00 }
    /// Appearance characteristic.
    public static var appearance: BluetoothUUID { 0x2A01 }
    /// Service Changed characteristic.
    public static var serviceChanged: BluetoothUUID { 0x2A05 }
    /// Battery Level characteristic.
    public static var batteryLevel: BluetoothUUID { 0x2A19 }
    /// Temperature Measurement characteristic.
    public static var temperatureMeasurement: BluetoothUUID { 0x2A1C }
    /// System ID characteristic.
    public static var systemID: BluetoothUUID { 0x2A23 }
    /// Model Number String characteristic.
    public static var modelNumberString: BluetoothUUID { 0x2A24 }
    /// Serial Number String characteristic.
    public static var serialNumberString: BluetoothUUID { 0x2A25 }
    /// Firmware Revision String characteristic.
    public static var firmwareRevisionString: BluetoothUUID { 0x2A26 }
    /// Hardware Revision String characteristic.
    public static var hardwareRevisionString: BluetoothUUID { 0x2A27 }
    /// Software Revision String characteristic.
    public static var softwareRevisionString: BluetoothUUID { 0x2A28 }
    /// Manufacturer Name String characteristic.
    public static var manufacturerNameString: BluetoothUUID { 0x2A29 }
    /// Blood Pressure Measurement characteristic.
    public static var bloodPressureMeasurement: BluetoothUUID { 0x2A35 }
    /// Heart Rate Measurement characteristic.
    public static var heartRateMeasurement: BluetoothUUID { 0x2A37 }
    /// Body Sensor Location characteristic.
    public static var bodySensorLocation: BluetoothUUID { 0x2A38 }
    /// HID Information characteristic.
    public static var hidInformation: BluetoothUUID { 0x2A4A }
    /// Report Map characteristic.
    public static var reportMap: BluetoothUUID { 0x2A4B }
    /// HID Control Point characteristic.
    public static var hidControlPoint: BluetoothUUID { 0x2A4C }
    /// Report characteristic.
    public static var report: BluetoothUUID { 0x2A4D }
    /// Protocol Mode characteristic.
    public static var protocolMode: BluetoothUUID { 0x2A4E }
    /// PnP ID characteristic.
    public static var pnpID: BluetoothUUID { 0x2A50 }
    /// Temperature characteristic.
    public static var temperature: BluetoothUUID { 0x2A6E }
    /// Humidity characteristic.
    public static var humidity: BluetoothUUID { 0x2A6F }
    /// Weight Measurement characteristic.
    public static var weightMeasurement: BluetoothUUID { 0x2A9D }

    // Descriptor UUIDs (Assigned Numbers, 3.7).

    /// Report Reference descriptor: the id and the type of a HID report.
    public static var reportReference: BluetoothUUID { 0x2908 }
}

/// Names of common services, characteristics and descriptors (Bluetooth SIG, Assigned Numbers, 3.4, 3.7 and 3.8).
public enum AssignedNumbers {
    /// Returns the name of a UUID; nil if it is not in the table.
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
