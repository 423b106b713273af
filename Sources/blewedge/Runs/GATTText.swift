// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Daemon
import Link
import Texts

/// The forms in which attributes are printed.
enum GATTText {
    /// Indented lines.
    case people
    /// One JSON object a line.
    case json

    /// How a value came.
    enum Origin: String {
        case read
        case notification
        case indication
    }

    /// All that a device offers, with the lines' ends.
    func tree(_ tree: GATTTree) -> String {
        tree.services.flatMap(lines).map { $0 + "\n" }.joined()
    }

    /// One value, with the line's end.
    func value(_ bytes: [UInt8], of handle: AttributeHandle, _ origin: Origin) -> String {
        let hex = Hexadecimal.text(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        guard case .json = self else {
            return "\(handle)  \(hex.isEmpty ? "(empty)" : hex)  \"\(LocalName.printable(text))\"\n"
        }
        var object = JSONObject()
        object.add("type", "value")
        object.add("handle", "\(handle)")
        object.add("origin", origin.rawValue)
        object.add("length", bytes.count)
        object.add("hex", hex)
        object.add("text", text)
        return object.text + "\n"
    }

    private func lines(_ entry: GATTTree.Service) -> [String] {
        let handles = entry.service.handles
        var lines = [
            line("service", "", handles.start, entry.service.uuid) { object in object.add("end", "\(handles.end)") }
        ]
        for include in entry.includes {
            lines.append(
                line("include", "  includes ", include.declaration, include.service.uuid) { object in
                    object.add("service", "\(include.service.handles.start)")
                }
            )
        }
        for item in entry.characteristics {
            let characteristic = item.characteristic
            let properties = Self.names(of: characteristic.properties)
            lines.append(
                line("characteristic", "  ", characteristic.value, characteristic.uuid, properties) { object in
                    object.add("declaration", "\(characteristic.declaration)")
                    object.add("service", "\(handles.start)")
                    object.add("properties", properties)
                }
            )
            for descriptor in item.descriptors {
                lines.append(
                    line("descriptor", "    ", descriptor.handle, descriptor.uuid) { object in
                        object.add("characteristic", "\(characteristic.value)")
                    }
                )
            }
        }
        return lines
    }

    private func line(
        _ type: String,
        _ indent: String,
        _ handle: AttributeHandle,
        _ uuid: BluetoothUUID,
        _ properties: [String] = [],
        _ more: (inout JSONObject) -> Void
    ) -> String {
        let name = Self.name(of: uuid)
        guard case .json = self else {
            let detail = properties.isEmpty ? "" : "  [\(properties.joined(separator: ", "))]"
            return "\(indent)\(handle)  \(uuid)\(name.map { "  " + $0 } ?? "")\(detail)"
        }
        var object = JSONObject()
        object.add("type", type)
        object.add("handle", "\(handle)")
        object.add("uuid", "\(uuid)")
        object.add("name", name)
        more(&object)
        return object.text
    }

    /// The name of an attribute type for people; nil where it has none here.
    static func name(of uuid: BluetoothUUID) -> String? {
        switch uuid {
        case Profile.linble.fromPeripheral: "Data From Peripheral"
        case Profile.linble.toPeripheral: "Data To Peripheral"
        default: Profile.builtIn.first { $0.service == uuid }?.title ?? AssignedNumbers.name(of: uuid)
        }
    }

    private static let propertyNames: [(GATTCharacteristicProperties, String)] = [
        (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write without response"),
        (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
        (.authenticatedSignedWrites, "signed write"), (.extendedProperties, "extended"),
    ]

    private static func names(of properties: GATTCharacteristicProperties) -> [String] {
        propertyNames.filter { properties.contains($0.0) }.map(\.1)
    }
}
