// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Texts
import Typing

extension Profile {
    /// The profile as TOML, which reads as the same: `[prefix]` is where it stands, nothing for a file of its own.
    package func text(at prefix: String = "") -> String {
        var lines: [String] = []
        if !prefix.isEmpty { lines.append("[\(prefix)]") }
        lines.append("title = \(JSONObject.quoted(title))")
        lines.append("service = \(JSONObject.quoted("\(service)"))")
        lines.append("from-device = \(JSONObject.quoted("\(fromPeripheral)"))")
        lines.append("to-device = \(JSONObject.quoted("\(toPeripheral)"))")
        if let table { lines.append("table = \(JSONObject.quoted(table))") }
        let dot = prefix.isEmpty ? "" : prefix + "."
        for command in handshake { lines += ["", "[[\(dot)handshake]]"] + command.lines }
        if let framing { lines += ["", "[\(dot)framing]"] + framing.lines }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Handshake.Command {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if let send { lines.append("send = \(JSONObject.quoted(send.text))") }
        if let expect { lines.append("expect = \(JSONObject.quoted(expect.text))") }
        lines.append("within = \(JSONObject.quoted(TimeText.text(timeout)))")
        lines.append("attempts = \(attempts)")
        let key = send?.key ?? expect?.key ?? []
        if !key.isEmpty { lines.append("xor = \(JSONObject.quoted(Hexadecimal.text(key)))") }
        return lines
    }
}

extension Framing {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if !start.isEmpty { lines.append("start = \(JSONObject.quoted(Hexadecimal.text(start)))") }
        if header > 0 { lines.append("header = \(header)") }
        if let length {
            lines.append("length-bytes = \(length.size)")
            lines.append("length-high-first = \(!length.isLittleEndian)")
            lines.append("length-surplus = \(length.surplus)")
        }
        if !end.isEmpty { lines.append("end = \(JSONObject.quoted(Hexadecimal.text(end)))") }
        if let check {
            lines.append("checksum = \(JSONObject.quoted(check.checksum.rawValue))")
            lines.append("checksum-from = \(check.from)")
            lines.append("checksum-behind-end = \(check.isBehindEnd)")
        }
        if keepsEnd { lines.append("keep-end = true") }
        lines.append("max-payload = \(maximum)")
        return lines
    }
}
