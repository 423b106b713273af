// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
package import HIDReports

/// HID services of a device, kept with its bond so that its first report after a sleep can be decoded.
///
/// HOGP 1.0, 5.2; HOGP 1.1, 4.6; HID Service 1.0, 2.
package struct HIDDevice: Equatable, Sendable {
    /// Report characteristic.
    package struct Report: Equatable, Sendable {
        /// Handle of the value.
        package var value: AttributeHandle
        /// Handle of the client characteristic configuration descriptor; nil if there is none, and for output and
        /// feature reports.
        package var configuration: AttributeHandle?
        /// Report id, unique only within its service and kind; 0 for an unnumbered report.
        package var id: UInt8
        package var kind: ReportKind

        package init(value: AttributeHandle, configuration: AttributeHandle?, id: UInt8, kind: ReportKind) {
            self.value = value
            self.configuration = configuration
            self.id = id
            self.kind = kind
        }
    }

    /// HID service whose report map Linux accepts.
    package struct Service: Equatable, Sendable {
        /// Handles of the service.
        package var range: AttributeHandleRange
        /// Report map, 1 to 4,096 bytes; with the boot protocol, the map of a boot keyboard.
        package var map: [UInt8]
        /// Reports in ascending order of handles; at most `HIDDevice.mostReports`.
        package var reports: [Report] = []
        /// Version of the HID specification, such as 0x0111; 0 if unknown.
        package var version: UInt16 = 0
        /// Country code of the hardware; 0 if unknown or not localized.
        package var country: UInt8 = 0
        /// Bit 0 remote wake, bit 1 normally connectable.
        package var flags: UInt8 = 0
        /// Handle of Protocol Mode; nil if there is none.
        package var protocolMode: AttributeHandle?
        /// Boot Keyboard Input Report; nil unless the boot protocol is used.
        ///
        /// `reports` has then at most the Boot Keyboard Output Report.
        package var bootInput: Report?

        package init(range: AttributeHandleRange, map: [UInt8]) {
            self.range = range
            self.map = map
        }

        /// Input reports that the service sends in its protocol.
        package var inputs: [Report] { bootInput.map { [$0] } ?? reports.filter { $0.kind == .input } }

        /// True if the service sends an input report that the map declares with usages of page 07.
        package var hasKeyboard: Bool {
            guard let map = try? ReportMap(map) else { return false }
            return Self.hasKeyboard(map, inputs)
        }

        static func hasKeyboard(_ map: ReportMap, _ inputs: [Report]) -> Bool {
            map.reports.contains { report in
                report.kind == .input && report.hasKeys && inputs.contains { $0.id == report.id }
            }
        }
    }

    /// Characteristic that sends values.
    package struct Value: Equatable, Sendable {
        /// Handle of the value.
        package var value: AttributeHandle
        /// Handle of the client characteristic configuration descriptor; nil if there is none.
        package var configuration: AttributeHandle?

        package init(value: AttributeHandle, configuration: AttributeHandle?) {
            self.value = value
            self.configuration = configuration
        }
    }

    /// Vendor and product of the device.
    ///
    /// Device Information Service 1.1, 3.9.
    package struct PnPID: Equatable, Sendable {
        /// 1 if the vendor is a company identifier of the Bluetooth SIG, 2 if it is a vendor id of the USB-IF.
        package var vendorSource: UInt8
        package var vendor: UInt16
        package var product: UInt16
        package var version: UInt16

        package init(vendorSource: UInt8, vendor: UInt16, product: UInt16, version: UInt16) {
            self.vendorSource = vendorSource
            self.vendor = vendor
            self.product = product
            self.version = version
        }
    }

    /// Maximum number of HID services; further ones are ignored.
    package static let mostServices = 8
    /// Maximum number of reports of a service; further ones are ignored.
    package static let mostReports = 64
    /// Length of a database hash, in bytes.
    package static let hashLength = 16

    /// HID services in ascending order of handles.
    package var services: [Service]
    /// Hash of the attribute table, 16 bytes; nil if the device has none.
    package var databaseHash: [UInt8]?
    package var serviceChanged: Value?
    package var battery: Value?
    package var pnp: PnPID?

    package init(services: [Service]) {
        self.services = services
    }

    /// True if a service has a keyboard.
    package var hasKeyboard: Bool { services.contains(where: \.hasKeyboard) }

    /// Map of a boot keyboard with its lights, and an array of all 256 usages, so that keys of Japanese keyboards are included.
    ///
    /// HID 1.11, B.1.
    package static let bootMap: [UInt8] = [
        0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x05, 0x07, 0x19, 0xE0, 0x29, 0xE7, 0x15, 0x00, 0x25, 0x01, 0x75, 0x01,
        0x95, 0x08, 0x81, 0x02, 0x95, 0x01, 0x75, 0x08, 0x81, 0x01, 0x05, 0x08, 0x19, 0x01, 0x29, 0x05, 0x75, 0x01,
        0x95, 0x05, 0x91, 0x02, 0x75, 0x03, 0x95, 0x01, 0x91, 0x01, 0x95, 0x06, 0x75, 0x08, 0x15, 0x00, 0x26, 0xFF,
        0x00, 0x05, 0x07, 0x19, 0x00, 0x2A, 0xFF, 0x00, 0x81, 0x00, 0xC0,
    ]
}
