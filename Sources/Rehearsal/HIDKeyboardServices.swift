// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDReports

/// Services of a simulated keyboard, with the handles that it uses.
///
/// Every attribute of the three services requires the same security, as HOGP recommends (HOGP 1.0, 6; HIDS 1.0, 2).
struct HIDKeyboardServices {
    /// Appearance of a keyboard (Assigned Numbers, 2.6.3).
    static let appearance: UInt16 = 0x03C1
    /// Id of the input and the output report.
    static let reportID: UInt8 = 1
    /// Value of Protocol Mode: reports as in the report map (HIDS 1.0, 2.4).
    static let reportProtocol: [UInt8] = [0x01]

    /// Report map of a keyboard with eight modifiers, an array of six keys, and five LEDs.
    ///
    /// The reports are those of a boot keyboard, with an id (HID 1.11, B.1). The array has all usages up to DD, so that
    /// it contains Separator (9F), which is GS.
    static let reportMap: [UInt8] = [
        0x05, 0x01,  // Usage Page (Generic Desktop)
        0x09, 0x06,  // Usage (Keyboard)
        0xA1, 0x01,  // Collection (Application)
        0x85, reportID,  // Report ID
        0x05, 0x07,  // Usage Page (Keyboard)
        0x19, 0xE0, 0x29, 0xE7,  // Usage Minimum and Maximum: the modifiers
        0x15, 0x00, 0x25, 0x01,  // Logical Minimum and Maximum
        0x75, 0x01, 0x95, 0x08,  // Report Size and Count
        0x81, 0x02,  // Input (Data, Variable, Absolute)
        0x75, 0x08, 0x95, 0x01,
        0x81, 0x01,  // Input (Constant)
        0x05, 0x08,  // Usage Page (LEDs)
        0x19, 0x01, 0x29, 0x05,
        0x75, 0x01, 0x95, 0x05,
        0x91, 0x02,  // Output (Data, Variable, Absolute)
        0x75, 0x03, 0x95, 0x01,
        0x91, 0x01,  // Output (Constant)
        0x05, 0x07,
        0x19, 0x00, 0x29, 0xDD,
        0x26, 0xDD, 0x00,
        0x75, 0x08, 0x95, 0x06,
        0x81, 0x00,  // Input (Data, Array, Absolute)
        0xC0,  // End Collection
    ]

    let database: GATTServerDatabase
    let map: AttributeHandle
    let input: AttributeHandle
    let lights: AttributeHandle
    let protocolMode: AttributeHandle

    /// Publishes the services under a name of at most 248 bytes; each attribute requires `access`.
    init(name: String, access: GATTAccess) throws(GATTDatabaseError) {
        var builder = try GATTDatabaseBuilder(deviceName: name, appearance: Self.appearance)
        let service = try builder.add(
            GATTServiceDefinition(
                uuid: BluetoothUUID.humanInterfaceDevice,
                characteristics: Self.inputDevice.map { $0.requiring(access) }
            )
        )
        for definition in [Self.deviceInformation, Self.battery] {
            var definition = definition
            definition.characteristics = definition.characteristics.map { $0.requiring(access) }
            try builder.add(definition)
        }
        let values = service.characteristics.map { $0.characteristic.valueHandle }
        let places = Self.inputDevice.indices
        database = builder.database
        map = Self.handle(.reportMap, values, places)
        protocolMode = Self.handle(.protocolMode, values, places)
        input = Self.handle(.report, values, places)
        lights = Self.handle(.report, values, places.reversed())
    }

    /// Returns the handle of the first characteristic of a type, in the order of `places`.
    private static func handle(
        _ uuid: BluetoothUUID,
        _ values: [AttributeHandle],
        _ places: some Sequence<Int>
    ) -> AttributeHandle {
        places.first { inputDevice[$0].uuid == uuid }.map { values[$0] } ?? .invalid
    }

    /// Characteristics of the HID service (HIDS 1.0, 2).
    private static let inputDevice = [
        GATTCharacteristicDefinition(
            uuid: .protocolMode,
            properties: [.read, .writeWithoutResponse],
            value: .stored(reportProtocol, lengths: 1...1)
        ),
        report(KeyReportEncoder.release, [.read, .notify], type: 0x01),
        report([0x00], [.read, .write, .writeWithoutResponse], type: 0x02),
        GATTCharacteristicDefinition(uuid: .reportMap, properties: .read, value: .dynamic),
        GATTCharacteristicDefinition(
            uuid: .hidInformation,
            properties: .read,
            // HID 1.11, no country; RemoteWake and NormallyConnectable.
            value: .constant([0x11, 0x01, 0x00, 0x03])
        ),
        GATTCharacteristicDefinition(
            uuid: .hidControlPoint,
            properties: .writeWithoutResponse,
            value: .stored([0x00], lengths: 1...1)
        ),
    ]

    /// Returns a report of a type (1 for input, 2 for output) with its Report Reference.
    private static func report(
        _ initial: [UInt8],
        _ properties: GATTCharacteristicProperties,
        type: UInt8
    ) -> GATTCharacteristicDefinition {
        GATTCharacteristicDefinition(
            uuid: .report,
            properties: properties,
            value: .stored(initial, lengths: initial.count...initial.count),
            descriptors: [GATTDescriptorDefinition(uuid: .reportReference, value: .constant([reportID, type]))]
        )
    }

    private static let deviceInformation = GATTServiceDefinition(
        uuid: BluetoothUUID.deviceInformation,
        characteristics: [
            GATTCharacteristicDefinition(
                uuid: .pnpID,
                properties: .read,
                // USB vendor 1209 (pid.codes), its product for tests, version 1.0.0.
                value: .constant([0x02, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01])
            )
        ]
    )

    private static let battery = GATTServiceDefinition(
        uuid: BluetoothUUID.battery,
        characteristics: [
            GATTCharacteristicDefinition(
                uuid: .batteryLevel,
                properties: [.read, .notify],
                value: .stored([100], lengths: 1...1)
            )
        ]
    )
}

extension GATTCharacteristicDefinition {
    /// Returns the definition with the same security, and a 16-byte key, for every access.
    fileprivate func requiring(_ access: GATTAccess) -> Self {
        var copy = self
        copy.read = access
        copy.write = access
        copy.subscribe = access
        copy.minimumKeySize = GATTLinkSecurity.longestKey
        for index in copy.descriptors.indices { copy.descriptors[index].read = access }
        return copy
    }
}
