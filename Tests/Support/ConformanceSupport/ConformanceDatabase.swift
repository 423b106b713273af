// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets
import TestSupport

/// Builds a database from the lines of a conformance file.
package enum ConformanceDatabase {
    /// Error of a line that cannot be parsed.
    package struct Unreadable: Error {
        /// Line that cannot be parsed.
        package var line: String
    }

    /// Builds the database that these lines describe.
    package static func build(_ lines: [String]) throws -> GATTServerDatabase {
        var builder = GATTDatabaseBuilder()
        var service: (GATTServiceDefinition, AttributeHandle?)?
        for line in lines {
            let words = line.split(separator: " ").map { String($0) }
            guard words.count >= 2, let uuid = BluetoothUUID(words[1]) else { throw Unreadable(line: line) }
            switch words[0] {
            case "service":
                if let (definition, start) = service { try builder.add(definition, at: start) }
                let start = words.firstIndex(of: "at").flatMap { UInt16(words[$0 + 1], radix: 16) }
                let isPrimary = !words.contains("secondary")
                service = (GATTServiceDefinition(uuid: uuid, isPrimary: isPrimary), start.map { AttributeHandle($0) })
            case "include":
                guard let included = builder.database.service(uuid) else { throw Unreadable(line: line) }
                service?.0.includes.append(included.service)
            case "characteristic": service?.0.characteristics.append(try characteristic(uuid, words))
            case "descriptor":
                guard let index = service?.0.characteristics.indices.last else { throw Unreadable(line: line) }
                let descriptor = GATTDescriptorDefinition(
                    uuid: uuid,
                    value: try source(words.dropFirst(2)),
                    read: access("read=", words) ?? .open,
                    write: access("write=", words) ?? .never
                )
                service?.0.characteristics[index].descriptors.append(descriptor)
            default: throw Unreadable(line: line)
            }
        }
        if let (definition, start) = service { try builder.add(definition, at: start) }
        return builder.database
    }

    private static func characteristic(
        _ uuid: BluetoothUUID,
        _ words: [String]
    ) throws -> GATTCharacteristicDefinition {
        guard words.count >= 4, let properties = UInt8(words[2], radix: 16) else {
            throw Unreadable(line: words.joined(separator: " "))
        }
        return GATTCharacteristicDefinition(
            uuid: uuid,
            properties: GATTCharacteristicProperties(rawValue: properties),
            value: try source(words.dropFirst(3)),
            read: access("read=", words) ?? .open,
            write: access("write=", words) ?? .open,
            subscribe: access("subscribe=", words) ?? .open,
            minimumKeySize: option("key=", words).flatMap { UInt8($0) } ?? GATTCharacteristicDefinition.shortestKey,
            extendedProperties: GATTExtendedProperties(
                rawValue: option("extended=", words).flatMap { UInt16($0, radix: 16) } ?? 0
            )
        )
    }

    private static func option(_ name: String, _ words: [String]) -> String? {
        words.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    private static func access(_ name: String, _ words: [String]) -> GATTAccess? {
        option(name, words).flatMap { text in GATTAccess.allCases.first { "\($0)" == text } }
    }

    private static func source(_ words: ArraySlice<String>) throws -> GATTValueSource {
        let words = Array(words)
        if words.first == "dynamic" { return .dynamic }
        guard words.count >= 2, let bytes = VectorFile.bytes(words[1] == "-" ? "" : words[1]) else {
            throw Unreadable(line: words.joined(separator: " "))
        }
        if words[0] == "constant" { return .constant(bytes) }
        let lengths = words.count > 2 ? words[2].split(separator: "-").compactMap { Int($0) } : []
        guard words[0] == "stored", lengths.count == 2 else { throw Unreadable(line: words.joined(separator: " ")) }
        return .stored(bytes, lengths: lengths[0]...lengths[1])
    }
}
