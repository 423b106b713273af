// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Devices
import Texts
import Typing

private func quoted(_ text: String) -> String { JSONObject.quoted(text, as: .toml) }

extension Profile {
    /// The profile as TOML, which reads as the same: `[prefix]` is where it stands, nothing for a file of its own.
    package func text(at prefix: String = "") -> String {
        var lines: [String] = []
        if !prefix.isEmpty { lines.append("[\(prefix)]") }
        lines.append("title = \(quoted(title))")
        lines.append("service = \(quoted("\(service)"))")
        lines.append("from-device = \(quoted("\(fromPeripheral)"))")
        lines.append("to-device = \(quoted("\(toPeripheral)"))")
        if security > .none { lines.append("security = \(quoted(security.word))") }
        if let table { lines.append("table = \(quoted(table))") }
        let dot = prefix.isEmpty ? "" : prefix + "."
        for command in handshake { lines += ["", "[[\(dot)handshake]]"] + command.lines }
        if let framing { lines += ["", "[\(dot)framing]"] + framing.lines }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Handshake.Command {
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
