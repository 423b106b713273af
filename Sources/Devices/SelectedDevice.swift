// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// The device that the user has chosen, as it is kept (D-4), and its form as a text file.
///
/// ```
/// address = F0:F1:F2:F3:F4:F5
/// type = random
/// name = "LINBLE-TEST"
/// security = none
/// ```
/// A file without `security` is of an open device, as all were before there were keys. `bond = ignored` follows where the
/// user said `--security none` of a device whose keys cannot be used.
/// A name is what a stranger's device says: what is not plain in it is written as `\u{…}`.
package struct SelectedDevice: Hashable, Sendable {
    package var device: DeviceAddress
    /// The name that it advertised when it was chosen; nil where none was heard.
    package var name: String?
    /// The security without which nothing that comes from it is typed; none for an open device.
    package var security: GATTLinkSecurity.Level
    /// True where a bond whose keys are another adapter's, or damaged, is not demanded.
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

    /// The device as it is shown to people: by its name, else by its address.
    package var label: String { name.map(LocalName.printable) ?? "\(device.address)" }

    /// The device by its name, with its address in brackets, or by its address alone.
    package var labelWithAddress: String {
        name.map { "\(LocalName.printable($0)) (\(device.address))" } ?? "\(device.address)"
    }

    /// Why a text is no choice: which line of it, and what about it.
    package struct Fault: Error, Equatable, Sendable {
        /// From 1 on; the last one for what is missing.
        package var line: Int
        package var cause: String
    }

    /// Reads a file's text.
    package init(parsing text: String) throws(Fault) {
        var address: BluetoothAddress?
        var type: AddressType?
        var name: String?
        var security = GATTLinkSecurity.Level.none
        var ignoresBond = false
        var seen: Set<Substring> = []
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            func fault(_ cause: String) -> Fault { Fault(line: index + 1, cause: cause) }
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimming { $0 == " " } }
            guard parts.count == 2 else { throw fault("is no `key = value`") }
            guard seen.insert(parts[0]).inserted else { throw fault("says \(parts[0]) again") }
            switch parts[0] {
            case "address":
                address = BluetoothAddress(parts[1])
                if address == nil { throw fault("has no address") }
            case "type":
                type = AddressType.allCases.first { "\($0)" == parts[1] }
                if type == nil { throw fault("has a type that is neither public nor random") }
            case "name":
                name = Self.unquoted(parts[1])
                if name == nil { throw fault("has no name in quotes") }
            case "security":
                guard let level = GATTLinkSecurity.Level(word: parts[1]) else {
                    throw fault("has a security that is neither none, encrypted nor authenticated")
                }
                security = level
            case "bond":
                guard parts[1] == "ignored" else { throw fault("has a bond that is not ignored") }
                ignoresBond = true
            default: throw fault("has an unknown key")
            }
        }
        guard let address else { throw Fault(line: lines.count, cause: "ends without an address") }
        guard let type else { throw Fault(line: lines.count, cause: "ends without a type") }
        self.init(DeviceAddress(address, type), name: name, security: security, ignoresBond: ignoresBond)
    }

    package var text: String {
        """
        # The device that blewedge uses: written by `blewedge use`, removed by `blewedge forget`.
        address = \(device.address)
        type = \(device.type)

        """ + (name.map { "name = \(Self.quoted($0))\n" } ?? "")
            + "security = \(security.word)\n" + (ignoresBond ? "bond = ignored\n" : "")
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
    /// The text without such characters at its ends.
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
        var rest = drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}
