// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothHost
import BluetoothPackets
import Configuration
import Daemon
import Devices
import HIDReports
import Link
import Texts

enum GATTAction: String, ExpressibleByArgument, CaseIterable {
    case read
    case write
    case subscribe
}

struct GATTCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatt",
        abstract: "Show the GATT services of a device, or access one attribute.",
        usage: "blewedge gatt <address|name> [<action>] [<handle|uuid>] [<options>]",
        discussion: """
            The command scans for the device for 10 s, and connects to it. Without an action, the command prints the \
            services, characteristics and descriptors of the device. The actions read, write and subscribe apply to \
            one attribute, which you specify by a handle such as 0x0012, or by a short or long UUID such as 2A00. \
            Values are printed in hexadecimal and as text. The report map of a keyboard scanner (2A4B) is also printed \
            as a tree, as by `blewedge hid try`. If the device is paired with this adapter, the link is encrypted with \
            the saved keys. Data is printed on standard output, and messages are printed on standard error.

            EXAMPLES:
              blewedge gatt F0:F1:F2:F3:F4:F5
              blewedge gatt SCALE-15K --adapter memory:
              blewedge gatt LINBLE-TEST read 2A00
              blewedge gatt 'HID Scanner' read 2A4B
              blewedge gatt LINBLE-TEST write 0x000E --hex '01 0D'
              blewedge gatt LINBLE-TEST write 27ADC9CC-35EB-465A-9154-B8FF9076F3E8 \\
                  --text hello --no-response
              blewedge gatt LINBLE-TEST subscribe 27ADC9CB-35EB-465A-9154-B8FF9076F3E8 \\
                  --count 10 --seconds 60
            """
    )

    @Argument(
        help: ArgumentHelp("Address or name of the device.", valueName: "address|name"),
        completion: Completion.devices
    )
    var device: String

    @Argument(
        help: ArgumentHelp(
            "Action on the attribute. Without an action, the command prints all services.",
            valueName: "action"
        )
    )
    var action: GATTAction?

    @Argument(help: ArgumentHelp("Handle or UUID of the attribute.", valueName: "handle|uuid"))
    var attribute: String?

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var captureOptions: CaptureOptions

    @Option("Bytes to write, as pairs of hexadecimal digits with or without spaces.", value: "digits")
    var hex: String?

    @Option(help: "Text to write, encoded as UTF-8.")
    var text: String?

    @Flag(name: .customLong("no-response"), help: "Write without requesting a response from the device.")
    var withoutResponse = false

    @Option("Stop after receiving this number of values.", value: "number")
    var count: Int?

    @Option(
        "Stop receiving values after this time. If fewer values than --count were received, the exit status is 75.",
        value: "time"
    )
    var seconds: TimeArgument?

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    func validate() throws {
        if device.isEmpty { throw ValidationError("the device requires a name or an address.") }
        if let action, attribute == nil { throw ValidationError("\(action.rawValue) requires a handle or a UUID.") }
        if let attribute, GATTTarget(attribute) == nil {
            throw ValidationError("\(attribute) is neither a handle such as 0x0012 nor a UUID such as 2A00.")
        }
        if action == .write {
            guard (hex == nil) != (text == nil) else { throw ValidationError("write requires --hex or --text.") }
            if let hex, Self.bytes(hex) == nil { throw ValidationError("--hex requires pairs of hexadecimal digits.") }
        } else if hex != nil || text != nil || withoutResponse {
            throw ValidationError("--hex, --text and --no-response are only for write.")
        }
        if action != .subscribe, count != nil || seconds != nil {
            throw ValidationError("--count and --seconds are only for subscribe.")
        }
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
        if let seconds, seconds.duration == .zero { throw ValidationError("--seconds must be more than 0.") }
    }

    func run() throws {
        guard let choice = DeviceSelector(device), let task else {
            throw CommandFailure(.usage, CommandFaultText.incomplete)
        }
        let run = try GATTRun(
            task,
            of: choice,
            through: adapterOptions.transport,
            capture: captureOptions,
            output: json ? .json : .people,
            limit: GATTRun.SubscriptionLimit(count: count, time: seconds?.duration)
        )
        try run.run()
    }

    private var task: GATTBrowser.Task? {
        guard let action else { return .tree }
        guard let target = attribute.flatMap(GATTTarget.init) else { return nil }
        switch action {
        case .read: return .read(target)
        case .subscribe: return .subscribe(target)
        case .write:
            guard let value = hex.map(Self.bytes) ?? text.map({ Array($0.utf8) }) else { return nil }
            return .write(target, value, withResponse: !withoutResponse)
        }
    }

    /// Parses pairs of hexadecimal digits; returns nil for any other text.
    static func bytes(_ text: String) -> [UInt8]? {
        Hexadecimal.bytes(text.filter { $0 != " " })
    }
}

enum GATTText {
    case people
    /// JSON, with one object on each line.
    case json

    enum Origin: String {
        case read
        case notification
        case indication
    }

    /// Returns the lines for all attributes of a device, with their line ends.
    func tree(_ tree: GATTTree) -> String {
        tree.services.flatMap(lines).map { $0 + "\n" }.joined()
    }

    /// Returns the line for one value, with its line end; for people, the items of a report map follow.
    ///
    /// `type` is nil if it is unknown.
    func value(
        _ bytes: [UInt8],
        of handle: AttributeHandle,
        _ origin: Origin,
        type: BluetoothUUID? = nil
    ) -> String {
        let hex = Hexadecimal.text(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        guard case .json = self else {
            let line = "\(handle)  \(hex.isEmpty ? "(empty)" : hex)  \"\(LocalName.printable(text))\"\n"
            guard type == .reportMap else { return line }
            return line + ReportMapTree(bytes).lines.map { "  " + HIDTrial.line($0) + "\n" }.joined()
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
                line("characteristic", "  ", characteristic.valueHandle, characteristic.uuid, properties) { object in
                    object.add("declaration", "\(characteristic.declaration)")
                    object.add("service", "\(handles.start)")
                    object.add("properties", properties)
                }
            )
            for descriptor in item.descriptors {
                lines.append(
                    line("descriptor", "    ", descriptor.handle, descriptor.uuid) { object in
                        object.add("characteristic", "\(characteristic.valueHandle)")
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

    /// Returns the name of an attribute type; nil if it is unknown.
    static func name(of uuid: BluetoothUUID) -> String? {
        switch uuid {
        case Profile.linble.fromPeripheral: "Data From Peripheral"
        case Profile.linble.toPeripheral: "Data To Peripheral"
        default: Profile.serial.first { $0.service == uuid }?.title ?? AssignedNumbers.name(of: uuid)
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
