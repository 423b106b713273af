// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import Texts

/// Device selected by the user (D-4), and its file format: a JSON object.
///
/// ```
/// {"address":"F0:F1:F2:F3:F4:F5","type":"random","name":"LINBLE-TEST","security":"none"}
/// ```
/// Without `security`, the device is unpaired, because the member did not exist before pairing was supported.
/// `"bond":"ignored"` is added if the user specified `--security none` for a device whose keys are unusable.
package struct SelectedDevice: Hashable, Sendable {
    package var device: DeviceAddress
    /// Name that was advertised when the device was selected; nil if no name was heard.
    package var name: String?
    /// Security that is required before the device's data is typed; `none` for an unpaired device.
    package var security: GATTLinkSecurity.Level
    /// True if the device's bond is ignored, because its keys are damaged or belong to another adapter.
    package var ignoresBond: Bool

    package init(
        _ device: DeviceAddress,
        name: String?,
        security: GATTLinkSecurity.Level = .none,
        ignoresBond: Bool = false
    ) {
        self.device = device
        self.name = name
        self.security = security
        self.ignoresBond = ignoresBond
    }

    /// Label for messages: the name or, without a name, the address.
    package var label: String { name.map(LocalName.printable) ?? "\(device.address)" }

    /// Name with the address in brackets; without a name, only the address.
    package var labelWithAddress: String {
        name.map { "\(LocalName.printable($0)) (\(device.address))" } ?? "\(device.address)"
    }

    /// An error in the text of a selected device: its line and its cause.
    package struct Fault: Error, Equatable, Sendable {
        /// Number of the line with the error, starting at 1; if a key is missing, the number of the last line.
        package var line: Int
        package var cause: String
    }

    private typealias Field = (name: String, value: String, line: Int)

    /// Parses the contents of a file: JSON, or the `key = value` lines of earlier versions.
    package init(parsing text: String) throws(Fault) {
        var address: BluetoothAddress?
        var type: AddressType?
        var name: String?
        var security = GATTLinkSecurity.Level.none
        var ignoresBond = false
        var seen: Set<String> = []
        let fields = text.hasPrefix("{") ? try Self.members(of: text) : try Self.lines(of: text)
        for field in fields {
            func fault(_ cause: String) -> Fault { Fault(line: field.line, cause: cause) }
            guard seen.insert(field.name).inserted else { throw fault("says \(field.name) again") }
            switch field.name {
            case "address":
                address = BluetoothAddress(field.value)
                if address == nil { throw fault("has no address") }
            case "type":
                type = AddressType.allCases.first { "\($0)" == field.value }
                if type == nil { throw fault("has a type that is neither public nor random") }
            case "name": name = field.value
            case "security":
                guard let level = GATTLinkSecurity.Level(word: field.value) else {
                    throw fault("has a security that is neither none, encrypted nor authenticated")
                }
                security = level
            case "bond":
                guard field.value == "ignored" else { throw fault("has a bond that is not ignored") }
                ignoresBond = true
            default: throw fault("has the unknown key \(LocalName.printable(field.name))")
            }
        }
        let last = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.count
        guard let address else { throw Fault(line: last, cause: "ends without an address") }
        guard let type else { throw Fault(line: last, cause: "ends without a type") }
        self.init(DeviceAddress(address, type), name: name, security: security, ignoresBond: ignoresBond)
    }

    private static func members(of text: String) throws(Fault) -> [Field] {
        let value: JSONValue
        do throws(JSONValue.Fault) {
            value = try JSONValue(Array(text.utf8), allowingNull: true)
        } catch {
            throw Fault(line: error.line, cause: "is no JSON: \(error.reason)")
        }
        guard case .object(let members) = value else { return [] }
        var fields: [Field] = []
        for (name, value) in members {
            guard let text = value.string else { throw Fault(line: 1, cause: "has a \(name) that is no text") }
            fields.append((name, text, 1))
        }
        return fields
    }

    private static func lines(of text: String) throws(Fault) -> [Field] {
        var fields: [Field] = []
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimming { $0 == " " } }
            guard parts.count == 2 else { throw Fault(line: index + 1, cause: "is no `key = value`") }
            guard let value = parts[0] == "name" ? unquoted(parts[1]) : String(parts[1]) else {
                throw Fault(line: index + 1, cause: "has no name in quotes")
            }
            fields.append((String(parts[0]), value, index + 1))
        }
        return fields
    }

    package var text: String {
        var object = JSONObject()
        object.add("address", "\(device.address)")
        object.add("type", "\(device.type)")
        object.add("name", name)
        object.add("security", security.word)
        if ignoresBond { object.add("bond", "ignored") }
        return object.text + "\n"
    }

    static func quoted(_ name: String) -> String {
        var result = "\""
        for scalar in name.unicodeScalars {
            let isPlain = scalar != "\"" && scalar != "\\" && LocalName.printable(String(scalar)) == String(scalar)
            result += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return result + "\""
    }

    static func unquoted(_ text: Substring) -> String? {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return nil }
        var rest = text.dropFirst().dropLast().unicodeScalars[...]
        var result = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                if scalar == "\"" { return nil }
                result.append(scalar)
                continue
            }
            guard rest.popFirst() == "u", rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
                let value = UInt32(String(rest[..<end]), radix: 16), let named = Unicode.Scalar(value)
            else { return nil }
            result.append(named)
            rest = rest[rest.index(after: end)...]
        }
        return String(result)
    }
}

extension Substring {
    /// Returns the text without leading and trailing characters for which `isTrimmed` is true.
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
        var rest = drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}
