// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct GATTScriptTests {
    @Test("T17-T21: each conversation of att-gatt-client.txt, byte for byte")
    func conversations() throws {
        let scripts = try GATTScript.all("att-gatt-client.txt")
        #expect(Set(scripts.map { $0.name }).count == scripts.count)
        for script in scripts {
            let expected = script.lines.map { $0.text }
            let really = try script.transcript()
            #expect(really == expected, "\(script.name), line \(script.lines.first?.number ?? 0)")
        }
        print("GATT conversations: \(scripts.count)")
        #expect(scripts.count >= 90)
    }

    @Test("T18: a conversation that differs by one byte is noticed")
    func control() throws {
        let script = try #require(try GATTScript.all("att-gatt-client.txt").first)
        var other = script
        let index = try #require(other.lines.firstIndex { $0.text.hasPrefix("<") })
        other.lines[index].text = "< 03 18 00"
        #expect(try other.transcript() != script.lines.map { $0.text })
    }
}
