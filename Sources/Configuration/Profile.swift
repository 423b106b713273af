// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import Devices
package import SensorValues
import Texts
package import Typing

/// Profile of a device type: its serial-port service and characteristics, and its protocol.
///
/// A profile with the Human Interface Device service is that of a keyboard, whose reports are decoded to text; its
/// characteristics are found in the report maps. A profile with `advertised` is that of a device without a connection,
/// whose UUIDs are not used.
package struct Profile: Hashable, Sendable {
    package static let longestName = 32

    package var name: String
    /// Name shown to people.
    package var title: String
    package var service: BluetoothUUID
    /// Characteristic through which the device sends bytes.
    package var fromPeripheral: BluetoothUUID
    /// Characteristic through which the device receives bytes; may be the same as `fromPeripheral`.
    package var toPeripheral: BluetoothUUID
    /// Commands and replies that must succeed before the link counts as connected (BT-5); empty if there are none.
    package var handshake: [ChatScript.Command]
    /// Framing of the bytes to type; nil if they are not framed.
    package var framing: Framing?
    /// Field of the advertisements that contains the values of a device without a connection; nil if there is one.
    package var advertised: AdvertisedField?
    /// Rules for a device whose values are numbers; nil if it sends text.
    package var values: ValueSettings?
    /// Default byte table: the name of a built-in table, or a file; nil if there is none.
    package var table: String?
    /// Minimum security of a link with such a device.
    package var security: GATTLinkSecurity.Level

    /// Creates a profile; by default, for devices that send unframed bytes without a handshake.
    package init(
        name: String,
        title: String,
        service: BluetoothUUID,
        fromPeripheral: BluetoothUUID,
        toPeripheral: BluetoothUUID,
        handshake: [ChatScript.Command] = [],
        framing: Framing? = nil,
        values: ValueSettings? = nil,
        table: String? = nil,
        security: GATTLinkSecurity.Level = .none
    ) {
        self.name = name
        self.title = title
        self.service = service
        self.fromPeripheral = fromPeripheral
        self.toPeripheral = toPeripheral
        self.handshake = handshake
        self.framing = framing
        self.values = values
        self.table = table
        // A keyboard must not be read over a link that anyone can imitate (D-41).
        self.security = service == .humanInterfaceDevice ? max(security, .encrypted) : security
    }

    /// Creates a profile of a device that advertises its values.
    package init(
        name: String,
        title: String,
        advertised field: AdvertisedField,
        values: ValueSettings,
        table: String? = nil
    ) {
        let unused: BluetoothUUID = 0x0000
        self.init(
            name: name,
            title: title,
            service: unused,
            fromPeripheral: unused,
            toPeripheral: unused,
            values: values,
            table: table
        )
        advertised = field
    }

    /// True if the device sends reports of keys instead of bytes.
    package var isKeyboard: Bool { service == .humanInterfaceDevice }
}

func quoted(_ text: String) -> String { JSONObject.quoted(text, as: .toml) }

extension Profile {
    /// Formats the profile as TOML that parses as the same profile; `prefix` is its table, empty for a separate file.
    package func text(at prefix: String = "") -> String {
        var lines: [String] = []
        if !prefix.isEmpty { lines.append("[\(prefix)]") }
        lines.append("title = \(quoted(title))")
        if let advertised {
            lines.append("advertised = \(quoted("\(advertised)"))")
        } else {
            lines.append("service = \(quoted("\(service)"))")
            lines.append("from-device = \(quoted("\(fromPeripheral)"))")
            lines.append("to-device = \(quoted("\(toPeripheral)"))")
        }
        if security > .none { lines.append("security = \(quoted(security.word))") }
        if let table { lines.append("table = \(quoted(table))") }
        let dot = prefix.isEmpty ? "" : prefix + "."
        for command in handshake { lines += ["", "[[\(dot)handshake]]"] + command.lines }
        if let framing { lines += ["", "[\(dot)framing]"] + framing.lines }
        if let values { lines += ["", "[\(dot)value]"] + values.lines }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ChatScript.Command {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if let send { lines.append("send = \(quoted(send.text))") }
        if let expect { lines.append("expect = \(quoted(expect.text))") }
        lines.append("within = \(quoted(TimeText.text(timeout)))")
        lines.append("attempts = \(attempts)")
        let key = send?.key ?? expect?.key ?? []
        if !key.isEmpty { lines.append("xor = \(quoted(Hexadecimal.text(key)))") }
        return lines
    }
}

extension Framing {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if !start.isEmpty { lines.append("start = \(quoted(Hexadecimal.text(start)))") }
        if header > 0 { lines.append("header = \(header)") }
        if let length {
            lines.append("length-bytes = \(length.size)")
            lines.append("length-high-first = \(!length.isLittleEndian)")
            lines.append("length-surplus = \(length.surplus)")
        }
        if !end.isEmpty { lines.append("end = \(quoted(Hexadecimal.text(end)))") }
        if let check {
            lines.append("checksum = \(quoted(check.checksum.rawValue))")
            lines.append("checksum-from = \(check.from)")
            lines.append("checksum-behind-end = \(check.isBehindEnd)")
        }
        if keepsEnd { lines.append("keep-end = true") }
        lines.append("max-payload = \(maximum)")
        return lines
    }
}

// Built-in profiles, each with the public document that defines its UUIDs.

extension Profile {
    /// LINBLE module, for which this program was written; "LINBLE キーボード", the module's document: LINBLE UART Service.
    package static let linble = Profile(
        name: "linble",
        title: "LINBLE UART Service",
        service: BluetoothUUID(high: 0x27AD_C9CA_35EB_465A, low: 0x9154_B8FF_9076_F3E8),
        fromPeripheral: BluetoothUUID(high: 0x27AD_C9CB_35EB_465A, low: 0x9154_B8FF_9076_F3E8),
        toPeripheral: BluetoothUUID(high: 0x27AD_C9CC_35EB_465A, low: 0x9154_B8FF_9076_F3E8)
    )

    /// nRF devices, and many others that adopted the same UUIDs: Adafruit, Espressif's examples, Raspberry Pi Pico.
    ///
    /// docs.nordicsemi.com, nRF Connect SDK, "Nordic UART Service (NUS)": RX …0002 is written, TX …0003 notifies.
    package static let nordic = Profile(
        name: "nordic",
        title: "Nordic UART Service",
        service: BluetoothUUID(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E),
        fromPeripheral: BluetoothUUID(high: 0x6E40_0003_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E),
        toPeripheral: BluetoothUUID(high: 0x6E40_0002_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)
    )

    /// Nordic UART Service with its two characteristics swapped: …0002 indicates, …0003 is written.
    ///
    /// lancaster-university.github.io/microbit-docs/resources/bluetooth/bluetooth_profile.html, UART Service.
    package static let microbit = Profile(
        name: "microbit",
        title: "micro:bit UART Service",
        service: nordic.service,
        fromPeripheral: nordic.toPeripheral,
        toPeripheral: nordic.fromPeripheral
    )

    /// BM70, BM78, RN4870, RNBD451 and other modules of Microchip, formerly of ISSC.
    ///
    /// developerhelp.microchip.com, "BM70 Compact Demo Board User's Guide: Appendix G. Transparent UART", table G-1.
    package static let microchip = Profile(
        name: "microchip",
        title: "Microchip Transparent UART",
        service: BluetoothUUID(high: 0x4953_5343_FE7D_4AE5, low: 0x8FA9_9FAF_D205_E455),
        fromPeripheral: BluetoothUUID(high: 0x4953_5343_1E4D_4BD9, low: 0xBA61_23C6_4724_9616),
        toPeripheral: BluetoothUUID(high: 0x4953_5343_8841_43F4, low: 0xA8D4_ECBE_3472_9BB3)
    )

    /// HM-10 and similar modules: one characteristic for both directions.
    ///
    /// "DSD TECH HM-10 datasheet" V545, 1. Product Parameters: service 0xFFE0, characteristic 0xFFE1, notify and write.
    package static let hm10 = Profile(
        name: "hm10",
        title: "HM-10 serial port",
        service: 0xFFE0,
        fromPeripheral: 0xFFE1,
        toPeripheral: 0xFFE1
    )

    /// ANNA, NINA, NORA and ODIN modules of u-blox.
    ///
    /// The credits characteristic is not used, so the service treats the connection as one without flow control.
    ///
    /// github.com/u-blox/sps, SPS_PROTOCOL.md, Service Definition; u-blox UBX-16011192.
    package static let ublox = Profile(
        name: "ublox",
        title: "u-blox Serial Port Service",
        service: BluetoothUUID(high: 0x2456_E1B9_26E2_8F83, low: 0xE744_F34F_01E9_D701),
        fromPeripheral: BluetoothUUID(high: 0x2456_E1B9_26E2_8F83, low: 0xE744_F34F_01E9_D703),
        toPeripheral: BluetoothUUID(high: 0x2456_E1B9_26E2_8F83, low: 0xE744_F34F_01E9_D703)
    )

    /// Texas Instruments' UART bridge: one characteristic for both directions.
    ///
    /// ti.com/lit/pdf/tidua63, "TI Serial Port Service (SPS)", Data characteristic.
    package static let ti = Profile(
        name: "ti",
        title: "TI Serial Port Service",
        service: BluetoothUUID(high: 0xF000_C0E0_0451_4000, low: 0xB000_0000_0000_0000),
        fromPeripheral: BluetoothUUID(high: 0xF000_C0E1_0451_4000, low: 0xB000_0000_0000_0000),
        toPeripheral: BluetoothUUID(high: 0xF000_C0E1_0451_4000, low: 0xB000_0000_0000_0000)
    )

    /// Texas Instruments' later bridge, the Simple Serial Socket.
    ///
    /// github.com/TexasInstruments/ble_examples, simple_serial_socket_client/readme.md: DataIn …C0C1, DataOut …C0C2.
    package static let tiStream = Profile(
        name: "ti-stream",
        title: "TI Simple Stream Service",
        service: BluetoothUUID(high: 0xF000_C0C0_0451_4000, low: 0xB000_0000_0000_0000),
        fromPeripheral: BluetoothUUID(high: 0xF000_C0C2_0451_4000, low: 0xB000_0000_0000_0000),
        toPeripheral: BluetoothUUID(high: 0xF000_C0C1_0451_4000, low: 0xB000_0000_0000_0000)
    )

    /// Serial adapters with chips of CSR, later Qualcomm: one characteristic for both directions.
    ///
    /// LM Technologies, "User Manual for LM068_BLE_Peri_0204 FW", 4.4 Serial over GATT service.
    package static let csr = Profile(
        name: "csr",
        title: "CSR Serial over GATT",
        service: BluetoothUUID(high: 0x0000_5500_D102_11E1, low: 0x9B23_0002_5B00_A5A5),
        fromPeripheral: BluetoothUUID(high: 0x0000_5501_D102_11E1, low: 0x9B23_0002_5B00_A5A5),
        toPeripheral: BluetoothUUID(high: 0x0000_5501_D102_11E1, low: 0x9B23_0002_5B00_A5A5)
    )

    /// Keyboards, including most scanners on the market: HID over GATT.
    ///
    /// bluetooth.com, "HID Over GATT Profile 1.0" and "HID Service 1.0": Report 2A4D.
    package static let keyboard = Profile(
        name: "keyboard",
        title: "HID keyboard",
        service: .humanInterfaceDevice,
        fromPeripheral: .report,
        toPeripheral: .report
    )

    /// Weight scales, whose measurements are numbers.
    ///
    /// bluetooth.com, "Weight Scale Service 1.0": Weight Measurement 2A9D, which is indicated once for each weighing.
    package static let weightScale = Profile(
        name: "weight-scale",
        title: "Weight Scale",
        service: 0x181D,
        fromPeripheral: 0x2A9D,
        toPeripheral: 0x2A9D,
        values: ValueSettings(.weightScale, moment: .each)
    )

    /// Sensors that advertise in the format BTHome, version 2; bthome.io/format.
    package static let bthome = Profile(
        name: "bthome",
        title: "BTHome v2",
        advertised: .serviceData(0xFCD2),
        values: ValueSettings(.bthome)
    )

    /// Mi Smart Scale, and its successor 2.
    package static let xiaomiScale = Profile(
        name: "xiaomi-scale",
        title: "Xiaomi Mi Smart Scale",
        advertised: .serviceData(0x181D),
        values: ValueSettings(.xiaomiScale)
    )

    /// Mi Body Composition Scale, and its successor 2.
    package static let xiaomiBodyScale = Profile(
        name: "xiaomi-body-scale",
        title: "Xiaomi Mi Body Composition Scale",
        advertised: .serviceData(0x181B),
        values: ValueSettings(.xiaomiBodyScale)
    )

    /// Built-in profiles of serial services, in the order in which they are tried.
    package static let serial: [Profile] = [
        .linble, .nordic, .microbit, .microchip, .hm10, .ublox, .ti, .tiStream, .csr,
    ]

    /// Built-in profiles that `auto` tries, in this order.
    ///
    /// If a device offers both a serial service and a keyboard, the serial service is used, because it carries the
    /// bytes of a barcode instead of keys.
    package static let automatic: [Profile] = serial + [.keyboard, .weightScale]

    /// All built-in profiles.
    package static let builtIn: [Profile] = automatic + [.bthome, .xiaomiScale, .xiaomiBodyScale]

    /// Returns the built-in profile of a device that advertises service data with one of these UUIDs.
    package static func advertised(in services: [BluetoothUUID]) -> Profile? {
        builtIn.first { profile in services.contains { profile.advertised == .serviceData($0) } }
    }

    package init?(named name: String) {
        guard let profile = Self.builtIn.first(where: { $0.name == name }) else { return nil }
        self = profile
    }
}
