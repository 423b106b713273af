// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

/// One conversation of gatt-client.txt: what is asked of the client, what the peer sends, what has to come out.
struct GATTScript: CustomTestStringConvertible, Sendable {
    var name: String
    var lines: [(number: Int, text: String)]

    var testDescription: String { name }

    /// All of a file.
    static func all(_ file: String) throws -> [GATTScript] {
        var scripts: [GATTScript] = []
        for line in try VectorFile.lines(file) {
            if line.text.hasPrefix("script ") {
                scripts.append(GATTScript(name: String(line.text.dropFirst(7)), lines: []))
            } else {
                let last = try #require(scripts.indices.last)
                scripts[last].lines.append(line)
            }
        }
        return scripts
    }

    /// Runs the inputs and returns the transcript that really arose, to be compared with the file.
    func transcript() throws -> [String] {
        var player = GATTScriptPlayer()
        for (number, text) in lines where !text.hasPrefix(">") && !text.hasPrefix("?") {
            player.log.append(text)
            try player.play(text, line: number)
        }
        return player.log
    }
}

/// The owner of a client, as a script plays it.
struct GATTScriptPlayer {
    struct Unreadable: Error { var line: Int }

    var client = GATTClient()
    var log: [String] = []
    var now = Duration.zero
    private var isHolding = false
    private var didFail = false

    /// One `do`, `<`, `wait`, `hold` or `release` line, and everything that comes of it.
    mutating func play(_ text: String, line: Int) throws {
        let words = text.split(separator: " ").map { String($0) }
        switch words.first {
        case "<":
            guard let bytes = VectorFile.bytes(text.dropFirst(1)) else { throw Unreadable(line: line) }
            let value = "0x" + Hexadecimal.text(bytes.dropFirst(3))
            switch client.receive(bytes.span, now: now) {
            case .notification(let handle): log.append("? notification \(handle) \(value)")
            case .indication(let handle): log.append("? indication \(handle) \(value)")
            case .ignored: log.append("? ignored")
            case .handled: break
            }
        case "wait":
            guard words.count == 2, let seconds = Int(words[1]) else { throw Unreadable(line: line) }
            now += .seconds(seconds)
            if let deadline = client.deadline, deadline <= now { client.handleDeadline(now: now) }
        case "hold": isHolding = true
        case "release": isHolding = false
        case "close": client.close()
        case "mtu?": log.append("? mtu is \(client.mtu)")
        case "subscriptions?":
            log.append("? subscribed" + client.subscriptions.map { " \($0.value) \($0.kind)" }.joined())
        case "do":
            do throws(GATTError) {
                guard try perform(Array(words.dropFirst())) else { log.append("? not understood"); break }
            } catch {
                log.append("? refused: \(error)")
            }
        default: throw Unreadable(line: line)
        }
        drain()
    }

    private mutating func drain() {
        while !isHolding, let pdu = client.nextOutgoing() {
            log.append("> " + pdu.map { Hexadecimal.text([$0]) }.joined(separator: " "))
        }
        while let event = client.nextEvent() { log.append("? " + Self.describe(event.result)) }
        if let failure = client.failure, !didFail {
            didFail = true
            log.append("? failure: \(failure)")
        }
    }

    private static func handle(_ text: String) -> AttributeHandle? {
        UInt16(text, radix: 16).map { AttributeHandle($0) }
    }

    /// The client's method of that name; false when the words make no sense.
    mutating func perform(_ words: [String]) throws(GATTError) -> Bool {
        let numbers = words.dropFirst().compactMap { Self.handle($0) }
        let service = GATTService(
            handles: AttributeHandleRange(start: numbers.first ?? .invalid, end: numbers.dropFirst().first ?? .invalid),
            uuid: GATTAttributeType.primaryService
        )
        let value = VectorFile.bytes(words.count > 2 ? words[2] : "") ?? []
        switch words.first {
        case "mtu": _ = try client.exchangeMTU(now: now)
        case "services":
            if words.count == 1 {
                _ = try client.discoverPrimaryServices(now: now)
            } else {
                guard let uuid = BluetoothUUID(words[1]) else { return false }
                _ = try client.discoverPrimaryServices(uuid, now: now)
            }
        case "included": _ = try client.discoverIncludedServices(of: service, now: now)
        case "characteristics":
            let uuid = words.count > 3 ? BluetoothUUID(words[3]) : nil
            _ = try client.discoverCharacteristics(of: service, uuid, now: now)
        case "descriptors", "subscribe", "unsubscribe": return try performOnCharacteristic(words, numbers)
        case "read": _ = try client.read(numbers.first ?? .invalid, now: now)
        case "readlong": _ = try client.readLong(numbers.first ?? .invalid, now: now)
        case "readuuid":
            guard let uuid = BluetoothUUID(words[1]) else { return false }
            let range = AttributeHandleRange(
                start: numbers.dropFirst().first ?? .invalid,
                end: numbers.last ?? .invalid
            )
            _ = try client.read(uuid, in: range, now: now)
        case "write": _ = try client.write(value, to: numbers.first ?? .invalid, now: now)
        case "command": try client.writeWithoutResponse(value, to: numbers.first ?? .invalid, now: now)
        case "writelong": _ = try client.writeLong(value, to: numbers.first ?? .invalid, now: now)
        case "reliable":
            let items = words.dropFirst().map { item in
                let parts = item.split(separator: "=")
                return ATTPDU.HandleValue(
                    handle: Self.handle(String(parts.first ?? "")) ?? .invalid,
                    value: VectorFile.bytes(parts.last ?? "") ?? []
                )
            }
            _ = try client.writeReliably(items, now: now)
        default: return false
        }
        return true
    }

    /// `subscribe DECLARATION VALUE END PROPERTIES [indications|notifications]`.
    private mutating func performOnCharacteristic(
        _ words: [String],
        _ numbers: [AttributeHandle]
    ) throws(GATTError) -> Bool {
        guard numbers.count >= 4 else { return false }
        let characteristic = GATTCharacteristic(
            declaration: numbers[0],
            value: numbers[1],
            end: numbers[2],
            properties: GATTCharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: numbers[3].rawValue)),
            uuid: GATTAttributeType.characteristic
        )
        switch words[0] {
        case "descriptors": _ = try client.discoverDescriptors(of: characteristic, now: now)
        case "unsubscribe": _ = try client.unsubscribe(characteristic, now: now)
        default:
            let kind = GATTSubscriptionKind.allCases.first { "\($0)" == words.last }
            _ = try client.subscribe(characteristic, kind: kind, now: now)
        }
        return true
    }

    static func describe(_ result: Result<GATTClient.Outcome, GATTError>) -> String {
        switch result {
        case .failure(let error): return "error: \(error)"
        case .success(let outcome):
            switch outcome {
            case .mtu(let mtu): return "mtu \(mtu)"
            case .services(let all): return "services" + all.map { " \($0.handles) \($0.uuid)" }.joined()
            case .includedServices(let all):
                return "included" + all.map { " \($0.declaration) \($0.service.handles) \($0.service.uuid)" }.joined()
            case .characteristics(let all):
                return "characteristics"
                    + all.map { item in
                        let properties = Hexadecimal.text([item.properties.rawValue])
                        return " \(item.declaration) \(item.value)-\(item.end) \(properties) \(item.uuid)"
                    }.joined()
            case .descriptors(let all): return "descriptors" + all.map { " \($0.handle) \($0.uuid)" }.joined()
            case .value(let value): return "value 0x" + Hexadecimal.text(value)
            case .values(let all):
                return "values" + all.map { " \($0.handle) 0x" + Hexadecimal.text($0.value) }.joined()
            case .done: return "done"
            }
        }
    }
}
