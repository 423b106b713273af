// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets
import TestSupport

/// Controls a client with the commands of a script.
package struct GATTScriptPlayer {
    package var client: GATTClient
    package var now: Duration

    /// Creates a player that uses this client, at time `now`.
    package init(_ client: GATTClient = GATTClient(), now: Duration = .zero) {
        self.client = client
        self.now = now
    }

    /// Performs the command of a `do` line; returns the outcome if the upper tester receives it immediately.
    package mutating func outcome(of words: [String]) -> String? {
        switch words.first {
        case "mtu?": return "mtu is \(client.mtu)"
        case "subscriptions?":
            return "subscribed" + client.subscriptions.map { " \($0.value) \($0.kind)" }.joined()
        default:
            do throws(GATTError) {
                return try perform(words) ? nil : "not understood"
            } catch {
                return "refused: \(error)"
            }
        }
    }

    private static func handle(_ text: String) -> AttributeHandle? {
        UInt16(text, radix: 16).map { AttributeHandle($0) }
    }

    /// Calls the client's method with that name; returns false if the command is invalid.
    private mutating func perform(_ words: [String]) throws(GATTError) -> Bool {
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

    /// Performs commands such as `subscribe DECLARATION VALUE END PROPERTIES [indications|notifications]`.
    private mutating func performOnCharacteristic(
        _ words: [String],
        _ numbers: [AttributeHandle]
    ) throws(GATTError) -> Bool {
        guard numbers.count >= 4 else { return false }
        let characteristic = GATTCharacteristic(
            declaration: numbers[0],
            valueHandle: numbers[1],
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

    /// Returns the outcome of a procedure in the notation of the scripts.
    package static func describe(_ result: Result<GATTClient.Outcome, GATTError>) -> String {
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
                        return " \(item.declaration) \(item.valueHandle)-\(item.end) \(properties) \(item.uuid)"
                    }.joined()
            case .descriptors(let all): return "descriptors" + all.map { " \($0.handle) \($0.uuid)" }.joined()
            case .value(let value): return "value 0x" + Hexadecimal.text(value)
            case .values(let all):
                return "values" + all.map { " \($0.handle) 0x" + Hexadecimal.text($0.value) }.joined()
            case .done: return "done"
            case .listening: return "listening"
            }
        }
    }
}

extension GATTSubscriptionKind {
    /// Word of the conformance files for a value of this kind.
    package var name: String { self == .notifications ? "notification" : "indication" }
}
