// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Link
import Testing

/// Device with serial services, and a client with a link setup that communicates with it, without time and transport.
///
/// It responds according to its list of attributes, and calls `reply` for values written to its input.
final class ScriptedDevice {
    /// Service with the characteristics of a serial port; the last hexadecimal digit of its first handle is 0.
    struct Service {
        var uuid: BluetoothUUID
        var input: (uuid: BluetoothUUID, properties: UInt8)?
        var output: (uuid: BluetoothUUID, properties: UInt8)?
        /// False for an output without a client configuration descriptor.
        var isConfigurable = true

        /// Creates a service that matches the profile: notifications, and writes with or without response.
        init(_ profile: Profile, write: UInt8 = 0x04) {
            uuid = profile.service
            if profile.fromPeripheral == profile.toPeripheral {
                output = (profile.fromPeripheral, 0x10 | write)
            } else {
                output = (profile.fromPeripheral, 0x10)
                input = (profile.toPeripheral, write)
            }
        }
    }

    private let services: [Service]
    /// Returns the notifications that follow a written value.
    var reply: ([UInt8]) -> [[UInt8]]
    /// Values written to the device.
    private(set) var written: [[UInt8]] = []
    /// Bytes received for the keyboard.
    private(set) var typed: [UInt8] = []
    /// All results of the setup except `underWay`.
    private(set) var progress: [LinkSetup.Progress] = []
    var client = GATTClient()
    var setup: LinkSetup
    var now = Duration.zero

    init(_ services: [Service], _ setup: LinkSetup, reply: @escaping ([UInt8]) -> [[UInt8]] = { _ in [] }) {
        self.services = services
        self.setup = setup
        self.reply = reply
    }

    /// Connects, and transfers PDUs until both sides are silent.
    func run() {
        note(setup.begin(&client, now: now))
        while step() {}
    }

    /// Transfers one PDU of the client and its responses; returns false if there is none.
    func step() -> Bool {
        guard let pdu = client.nextOutgoing() else { return false }
        for answer in answers(to: pdu) { hear(answer) }
        return true
    }

    /// Sends a notification, or a PDU with another opcode.
    func notify(_ value: [UInt8], opcode: UInt8 = 0x1B) {
        guard let place = place(where: { $0.output != nil }) else { return }
        hear([opcode] + Self.little(place + 4) + value)
    }

    /// Advances the time, and handles deadlines.
    func pass(_ time: Duration) {
        now += time
        note(setup.handleDeadline(&client, now: now))
        while step() {}
    }

    private func hear(_ pdu: [UInt8]) {
        switch client.receive(pdu.span, now: now) {
        case .value(let value): take(value.handle, Array(pdu.dropFirst(3)))
        case .handled, .ignored: break
        }
        while let event = client.nextEvent() { note(setup.handle(event, &client, now: now)) }
    }

    private func take(_ handle: AttributeHandle, _ value: [UInt8]) {
        if handle == setup.wanted {
            typed += value
        } else if handle == setup.replies {
            note(setup.receive(value, &client, now: now))
        }
    }

    private func note(_ step: LinkSetup.Progress) {
        guard step != .underWay else { return }
        progress.append(step)
        if case .ready = step { typed += setup.earlyBytes }
    }

    // MARK: Device

    /// Returns the handle of a service.
    ///
    /// Its input's value is at +2, its output's value at +4, the configuration at +5, and its last handle is +6.
    private func place(where isMeant: (Service) -> Bool) -> UInt16? {
        services.firstIndex(where: isMeant).map { UInt16($0 + 1) * 0x10 }
    }

    private static func little(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    private static func little(_ uuid: BluetoothUUID) -> [UInt8] {
        if let short = uuid.shortForm16 { return little(short) }
        return withUnsafeBytes(of: uuid.low.littleEndian) { Array($0) }
            + withUnsafeBytes(of: uuid.high.littleEndian) { Array($0) }
    }

    func answers(to pdu: [UInt8]) -> [[UInt8]] {
        let first = pdu.count > 2 ? UInt16(pdu[1]) | UInt16(pdu[2]) << 8 : 0
        func refusal(_ code: UInt8) -> [[UInt8]] { [[0x01, pdu[0]] + Self.little(first) + [code]] }
        switch pdu[0] {
        case 0x02: return [[0x03, 0x17, 0x00]]
        case 0x06:
            let wanted = Array(pdu[7...])
            let found = services.indices.first { index in
                Self.little(services[index].uuid) == wanted && UInt16(index + 1) * 0x10 >= first
            }
            guard let found else { return refusal(0x0A) }
            let place = UInt16(found + 1) * 0x10
            return [[0x07] + Self.little(place) + Self.little(place + 6)]
        case 0x10:
            guard let index = services.indices.first(where: { UInt16($0 + 1) * 0x10 >= first }) else {
                return refusal(0x0A)
            }
            let place = UInt16(index + 1) * 0x10
            let uuid = Self.little(services[index].uuid)
            return [[0x11, UInt8(4 + uuid.count)] + Self.little(place) + Self.little(place + 6) + uuid]
        case 0x08:
            let service = services[Int(first >> 4) - 1]
            let place = first & 0xFFF0
            let all = [(place + 1, service.input), (place + 3, service.output)]
            for case (let handle, let found?) in all where handle >= first {
                let uuid = Self.little(found.uuid)
                let item = Self.little(handle) + [found.properties] + Self.little(handle + 1) + uuid
                return [[0x09, UInt8(item.count)] + item]
            }
            return refusal(0x0A)
        case 0x04:
            guard first & 0xF == 5, services[Int(first >> 4) - 1].isConfigurable else { return refusal(0x0A) }
            return [[0x05, 0x01] + Self.little(first) + [0x02, 0x29]]
        case 0x12 where first & 0xF == 5: return [[0x13]]
        case 0x12:
            written.append(Array(pdu[3...]))
            return [[0x13]] + notifications(reply(Array(pdu[3...])))
        case 0x52:
            written.append(Array(pdu[3...]))
            return notifications(reply(Array(pdu[3...])))
        // A confirmation has no response.
        case 0x1E: return []
        default: return refusal(0x06)
        }
    }

    private func notifications(_ values: [[UInt8]]) -> [[UInt8]] {
        guard let place = place(where: { $0.output != nil }) else { return [] }
        return values.map { [0x1B] + Self.little(place + 4) + $0 }
    }
}
