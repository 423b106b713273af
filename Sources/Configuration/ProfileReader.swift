// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Devices
import SensorValues
import Typing

// TOML format of a profile, in `[profiles.NAME]` of the configuration or in a file of its own:
//
//     title = "Counter scale"
//     service = "FFE0"
//     from-device = "FFE1"
//     to-device = "FFE1"           # same as from-device if omitted
//     table = "strict"
//     security = "encrypted"       # none if omitted
//
//     [[handshake]]                # one after another, before anything is typed
//     send = "A5 01 {crc8-maxim}"  # see HexTemplate
//     expect = "A5 81 ?? {crc8-maxim}"
//     within = "2s"
//     attempts = 1
//     xor = "5A"
//
//     [framing]                    # see Framing
//     start = "02"
//     end = "03"
//     checksum = "xor"
//
//     [value]                      # instead of framing, if the values are numbers; see ValueTable
//     format = "number"
//
// A device without a connection has `advertised` instead of the characteristics, the handshake and the security:
//
//     advertised = "manufacturer 0499"

extension Profile {
    /// Maximum size of a profile file, in bytes.
    package static let largestText = 64 * 1024

    /// Parses a file that contains one profile.
    package init(text: String, name: String) throws(ConfigurationFaults) {
        let members = try TOMLValue.table(of: text, limit: Self.largestText)
        let (profile, faults) = Self.read(members, name: name, line: 1)
        guard let profile, faults.isEmpty else { throw ConfigurationFaults(faults) }
        self = profile
    }

    /// Parses the profile in a table; returns nil and the faults if there are any.
    static func read(_ members: [TOMLMember], name: String, line: Int) -> (Profile?, [ConfigurationFault]) {
        var reader = TOMLTableReader(members, line: line)
        let title = reader.take("title") { (value: TOMLValue) throws(UnfitValue) in try value.text() }
        if members.contains(where: { $0.key == "advertised" }) { return readAdvertised(&reader, name, title) }
        let service = reader.need("service") { (value: TOMLValue) throws(UnfitValue) in try value.uuid() }
        let input = reader.need("from-device") { (value: TOMLValue) throws(UnfitValue) in try value.uuid() }
        let output = reader.take("to-device") { (value: TOMLValue) throws(UnfitValue) in try value.uuid() }
        let table = reader.take("table") { (value: TOMLValue) throws(UnfitValue) in try value.text() }
        let security = reader.take("security") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of \(GATTLinkSecurity.Level.words)"
            guard let level = GATTLinkSecurity.Level(word: try value.text(wanted)) else { throw UnfitValue(wanted) }
            return level
        }
        var faults: [ConfigurationFault] = []
        let handshake = reader.take("handshake") { (value: TOMLValue) throws(UnfitValue) in
            try Self.handshake(value, &faults)
        }
        let framing = reader.take("framing") { (value: TOMLValue) throws(UnfitValue) in
            try Framing.read(value, &faults)
        }
        let values = reader.take("value") { (value: TOMLValue) throws(UnfitValue) in
            try ValueSettings.read(value, &faults)
        }
        if values != nil, framing != nil { reader.note(nil, "framing and value cannot be combined") }
        reader.end()
        reader.note(faults)
        guard reader.faults.isEmpty, let service, let input else { return (nil, reader.faults) }
        let profile = Profile(
            name: name,
            title: title ?? name,
            service: service,
            fromPeripheral: input,
            toPeripheral: output ?? input,
            handshake: handshake ?? [],
            framing: framing ?? nil,
            values: values ?? nil,
            table: table,
            security: security ?? .none
        )
        return (profile, [])
    }

    /// Parses the profile of a device without a connection, whose title has been parsed.
    private static func readAdvertised(
        _ reader: inout TOMLTableReader,
        _ name: String,
        _ title: String?
    ) -> (Profile?, [ConfigurationFault]) {
        let field = reader.need("advertised") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "a field such as \"service-data FCD2\" or \"manufacturer 0499\""
            guard let field = AdvertisedField(try value.text(wanted)) else { throw UnfitValue(wanted) }
            return field
        }
        let table = reader.take("table") { (value: TOMLValue) throws(UnfitValue) in try value.text() }
        var faults: [ConfigurationFault] = []
        let values = reader.need("value") { (value: TOMLValue) throws(UnfitValue) in
            try ValueSettings.read(value, &faults)
        }
        reader.end()
        reader.note(faults)
        guard reader.faults.isEmpty, let field, case .some(.some(let values)) = values else {
            return (nil, reader.faults)
        }
        let profile = Profile(name: name, title: title ?? name, advertised: field, values: values, table: table)
        return (profile, [])
    }

    private static func handshake(
        _ value: TOMLValue,
        _ faults: inout [ConfigurationFault]
    ) throws(UnfitValue) -> [ChatScript.Command] {
        let wanted = "a list of at most \(ChatScript.mostCommands) tables, written [[…handshake]]"
        guard case .array(let steps) = value.kind, steps.count <= ChatScript.mostCommands else {
            throw UnfitValue(wanted)
        }
        var commands: [ChatScript.Command] = []
        var remembered: Set<UInt8> = []
        for step in steps {
            guard case .table(let members) = step.kind else { throw UnfitValue(wanted) }
            if let command = command(members, line: step.line, &remembered, &faults) { commands.append(command) }
        }
        return commands
    }

    private static func command(
        _ members: [TOMLMember],
        line: Int,
        _ remembered: inout Set<UInt8>,
        _ faults: inout [ConfigurationFault]
    ) -> ChatScript.Command? {
        var reader = TOMLTableReader(members, line: line)
        let key = reader.take("xor") { (value: TOMLValue) throws(UnfitValue) in
            let bytes = try value.bytes()
            guard (1...HexTemplate.longestKey).contains(bytes.count) else {
                throw UnfitValue("from 1 to \(HexTemplate.longestKey) bytes in hexadecimal")
            }
            return bytes
        }
        func template(_ name: String, _ purpose: HexTemplate.Purpose) -> HexTemplate? {
            reader.take(name) { (value: TOMLValue) throws(UnfitValue) in
                let text = try value.text("bytes, such as \"A5 01 0D\"")
                do throws(HexTemplateFault) {
                    return try HexTemplate(text, for: purpose, key: key ?? [])
                } catch {
                    throw UnfitValue("bytes, such as \"A5 01 0D\" (\(error))")
                }
            }
        }
        let send = template("send", .command)
        let expect = template("expect", .reply)
        let timeout = reader.take("within") { (value: TOMLValue) throws(UnfitValue) in
            try value.time(ChatScript.Command.timeouts)
        }
        let attempts = reader.take("attempts") { (value: TOMLValue) throws(UnfitValue) in
            try value.integer(1...ChatScript.Command.mostAttempts)
        }
        if members.allSatisfy({ $0.key != "send" && $0.key != "expect" }) {
            reader.note(nil, "a command of a handshake wants send, expect, or both")
        }
        for number in (send?.uses ?? []).union(expect?.uses ?? []).sorted()
        where !remembered.contains(number) && expect?.remembers.contains(number) != true {
            reader.note(nil, "$\(number) is used, but no reply before it remembers ?\(number)")
        }
        remembered.formUnion(expect?.remembers ?? [])
        reader.end()
        faults += reader.faults
        return ChatScript.Command(send: send, expect: expect, timeout: timeout ?? .seconds(2), attempts: attempts ?? 1)
    }
}

extension Framing {
    /// Parses the framing in a table; if it has faults, adds them to `faults` and returns nil.
    static func read(_ value: TOMLValue, _ faults: inout [ConfigurationFault]) throws(UnfitValue) -> Framing? {
        guard case .table(let members) = value.kind else { throw UnfitValue("a table, written [….framing]") }
        var reader = TOMLTableReader(members, line: value.line)
        let start = reader.take("start") { (value: TOMLValue) throws(UnfitValue) in try value.bytes() }
        let header = reader.take("header") { (value: TOMLValue) throws(UnfitValue) in
            try value.integer(0...longestMark)
        }
        let size = reader.take("length-bytes") { (value: TOMLValue) throws(UnfitValue) in try value.integer(1...2) }
        let isBig = reader.take("length-high-first") { (value: TOMLValue) throws(UnfitValue) in try value.flag() }
        let surplus = reader.take("length-surplus") { (value: TOMLValue) throws(UnfitValue) in
            try value.integer(0...64)
        }
        let end = reader.take("end") { (value: TOMLValue) throws(UnfitValue) in try value.bytes() }
        let checksum = reader.take("checksum") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of \(Checksum.names)"
            guard let checksum = Checksum(rawValue: try value.text(wanted)) else { throw UnfitValue(wanted) }
            return checksum
        }
        let from = reader.take("checksum-from") { (value: TOMLValue) throws(UnfitValue) in
            try value.integer(0...2 * longestMark)
        }
        let isBehind = reader.take("checksum-behind-end") { (value: TOMLValue) throws(UnfitValue) in try value.flag() }
        let keepsEnd = reader.take("keep-end") { (value: TOMLValue) throws(UnfitValue) in try value.flag() }
        let maximum = reader.take("max-payload") { (value: TOMLValue) throws(UnfitValue) in
            try value.integer(1...greatestPayload)
        }
        reader.end()
        guard reader.faults.isEmpty else {
            faults += reader.faults
            return nil
        }
        do throws(Fault) {
            return try Framing(
                start: start ?? [],
                header: header ?? 0,
                length: size.map { Length(size: $0, isLittleEndian: isBig != true, surplus: surplus ?? 0) },
                end: end ?? [],
                check: checksum.map { Check($0, from: from ?? 0, isBehindEnd: isBehind ?? false) },
                keepsEnd: keepsEnd ?? false,
                maximum: maximum ?? greatestPayload
            )
        } catch {
            faults.append(ConfigurationFault(line: value.line, reason: error.description))
            return nil
        }
    }
}
