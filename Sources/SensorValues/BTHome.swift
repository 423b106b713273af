// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Service data of BTHome, version 2 (UUID FCD2): a byte of device information, then objects, each of a type and its data.
///
/// https://bthome.io/format
package enum BTHome {
    private static let version: UInt8 = 2
    private static let isEncrypted: UInt8 = 0x01
    private static let hasAddress: UInt8 = 0x02
    private static let addressBytes = 6

    /// Decodes service data, up to the first object of an unknown type, whose length is unknown too.
    ///
    /// A quantity that occurs again gets a number, as in `temperature2`. The battery level is never the first reading
    /// if there is another.
    package static func decode(_ data: Span<UInt8>) throws(SensorFault) -> SensorValues {
        guard data.count >= 1 else { throw .tooShort(data.count, least: 1) }
        let information = data[0]
        guard information >> 5 == version else { throw .unknownVersion(information >> 5) }
        guard information & isEncrypted == 0 else { throw .encrypted }
        var values = SensorValues()
        var counts: [String: Int] = [:]
        var position = information & hasAddress != 0 ? 1 + addressBytes : 1
        guard position <= data.count else { throw .tooShort(data.count, least: position) }
        while position < data.count {
            let type = data[position]
            guard let object = BTHomeObject.all[type] else {
                if values.readings.isEmpty, values.packet == nil { throw .unknownObject(type, at: position) }
                break
            }
            let start = position + 1
            let end = start + object.length(start < data.count ? data[start] : 0)
            guard end <= data.count else { throw .tooShort(data.count, least: end) }
            let content = data.extracting(start..<end)
            position = end
            if object.quantity == BTHomeObject.packet {
                values.packet = content[0]
                continue
            }
            if object.isInformation { continue }
            let count = counts[object.quantity, default: 0] + 1
            counts[object.quantity] = count
            let name = object.quantity + (count > 1 ? "\(count)" : "")
            values.readings.append(SensorReading(name, object.value(content), unit: object.unit))
        }
        if let main = values.readings.firstIndex(where: { $0.quantity != BTHomeObject.battery }), main > 0 {
            values.readings.insert(values.readings.remove(at: main), at: 0)
        }
        guard !values.readings.isEmpty else { throw .empty }
        return values
    }
}

/// Type of an object in BTHome service data.
struct BTHomeObject {
    static let packet = "packet"
    static let battery = "battery"

    private enum Kind {
        case unsigned, signed
        /// The first byte is the position in the list of these words.
        case event([UInt8: String])
        /// A byte with the length of the arguments in its low five bits, the position in the list of these words, and the
        /// arguments.
        case command([UInt8: String])
        /// A byte with the length, then text or bytes.
        case text, bytes
        /// Type or firmware version of the device.
        case information
    }

    /// Name of the quantity, in one word.
    let quantity: String
    let unit: String
    /// Length of the data, in bytes, of types with a fixed length.
    let bytes: Int
    private let kind: Kind
    /// Factor of the integer, and the power of ten.
    private let scale: (factor: Int64, exponent: Int)

    private init(
        _ quantity: String,
        _ unit: String = "",
        bytes: Int = 1,
        kind: Kind = .unsigned,
        factor: Int64 = 1,
        exponent: Int = 0
    ) {
        self.quantity = quantity
        self.unit = unit
        self.bytes = bytes
        self.kind = kind
        scale = (factor, exponent)
    }

    /// True if the object describes the device, and is no quantity.
    var isInformation: Bool {
        if case .information = kind { true } else { false }
    }

    /// Returns the length of the data, in bytes, whose first byte is `first`.
    func length(_ first: UInt8) -> Int {
        switch kind {
        case .unsigned, .signed, .event, .information: bytes
        case .command: 2 + Int(first & 0x1F)
        case .text, .bytes: 1 + Int(first)
        }
    }

    /// Returns the value of data with the length of this type.
    func value(_ data: Span<UInt8>) -> SensorReading.Value {
        switch kind {
        case .unsigned, .information: .number(number(Int64(bitPattern: Self.integer(data))))
        case .signed:
            .number(
                number(Int64(bitPattern: Self.integer(data) << (64 - 8 * UInt64(bytes))) >> (64 - 8 * Int64(bytes)))
            )
        case .event(let words): .word(words[data[0]] ?? "\(data[0])")
        case .command(let words): .word(words[data[1]] ?? "\(data[1])")
        case .text: .word(String(decoding: [UInt8](copying: data.extracting(droppingFirst: 1)), as: UTF8.self))
        case .bytes: .word(Hexadecimal.text([UInt8](copying: data.extracting(droppingFirst: 1))))
        }
    }

    private func number(_ integer: Int64) -> DecimalNumber {
        DecimalNumber(integer * scale.factor, exponent: scale.exponent)
    }

    private static func integer(_ data: Span<UInt8>) -> UInt64 {
        data.indices.reduce(0) { sum, index in sum | UInt64(data[index]) << (8 * UInt64(index)) }
    }

    private static let buttons: [UInt8: String] = [
        0x00: "none", 0x01: "press", 0x02: "double_press", 0x03: "triple_press", 0x04: "long_press",
        0x05: "long_double_press", 0x06: "long_triple_press", 0x80: "hold_press", 0x81: "hold_release",
    ]
    private static let commands: [UInt8: String] = [
        0x00: "off", 0x01: "on", 0x02: "toggle", 0x03: "step_up", 0x04: "step_down",
    ]
    private static let dimmers: [UInt8: String] = [0x00: "none", 0x01: "rotate_left", 0x02: "rotate_right"]

    /// All types, by their number.
    static let all: [UInt8: BTHomeObject] = [
        0x00: .init(packet),
        0x01: .init(battery, "%"),
        0x02: .init("temperature", "°C", bytes: 2, kind: .signed, exponent: -2),
        0x03: .init("humidity", "%", bytes: 2, exponent: -2),
        0x04: .init("pressure", "hPa", bytes: 3, exponent: -2),
        0x05: .init("illuminance", "lx", bytes: 3, exponent: -2),
        0x06: .init("weight", "kg", bytes: 2, exponent: -2),
        0x07: .init("weight", "lb", bytes: 2, exponent: -2),
        0x08: .init("dewpoint", "°C", bytes: 2, kind: .signed, exponent: -2),
        0x09: .init("count"),
        0x0A: .init("energy", "kWh", bytes: 3, exponent: -3),
        0x0B: .init("power", "W", bytes: 3, exponent: -2),
        0x0C: .init("voltage", "V", bytes: 2, exponent: -3),
        0x0D: .init("pm25", "µg/m³", bytes: 2),
        0x0E: .init("pm10", "µg/m³", bytes: 2),
        0x0F: .init("binary"),
        0x10: .init("on"),
        0x11: .init("opening"),
        0x12: .init("co2", "ppm", bytes: 2),
        0x13: .init("tvoc", "µg/m³", bytes: 2),
        0x14: .init("moisture", "%", bytes: 2, exponent: -2),
        0x15: .init("batterylow"),
        0x16: .init("charging"),
        0x17: .init("coalarm"),
        0x18: .init("cold"),
        0x19: .init("connected"),
        0x1A: .init("door"),
        0x1B: .init("garagedoor"),
        0x1C: .init("gasalarm"),
        0x1D: .init("heat"),
        0x1E: .init("light"),
        0x1F: .init("unlocked"),
        0x20: .init("wet"),
        0x21: .init("motion"),
        0x22: .init("moving"),
        0x23: .init("occupancy"),
        0x24: .init("plug"),
        0x25: .init("presence"),
        0x26: .init("problem"),
        0x27: .init("running"),
        0x28: .init("safe"),
        0x29: .init("smoke"),
        0x2A: .init("sound"),
        0x2B: .init("tamper"),
        0x2C: .init("vibration"),
        0x2D: .init("window"),
        0x2E: .init("humidity", "%"),
        0x2F: .init("moisture", "%"),
        0x3A: .init("button", kind: .event(buttons)),
        0x3B: .init("command", kind: .command(commands)),
        0x3C: .init("dimmer", bytes: 2, kind: .event(dimmers)),
        0x3D: .init("count", bytes: 2),
        0x3E: .init("count", bytes: 4),
        0x3F: .init("rotation", "°", bytes: 2, kind: .signed, exponent: -1),
        0x40: .init("distance", "mm", bytes: 2),
        0x41: .init("distance", "m", bytes: 2, exponent: -1),
        0x42: .init("duration", "s", bytes: 3, exponent: -3),
        0x43: .init("current", "A", bytes: 2, exponent: -3),
        0x44: .init("speed", "m/s", bytes: 2, exponent: -2),
        0x45: .init("temperature", "°C", bytes: 2, kind: .signed, exponent: -1),
        0x46: .init("uv", exponent: -1),
        0x47: .init("volume", "l", bytes: 2, exponent: -1),
        0x48: .init("volume", "ml", bytes: 2),
        0x49: .init("flow", "m³/h", bytes: 2, exponent: -3),
        0x4A: .init("voltage", "V", bytes: 2, exponent: -1),
        0x4B: .init("gas", "m³", bytes: 3, exponent: -3),
        0x4C: .init("gas", "m³", bytes: 4, exponent: -3),
        0x4D: .init("energy", "kWh", bytes: 4, exponent: -3),
        0x4E: .init("volume", "l", bytes: 4, exponent: -3),
        0x4F: .init("water", "l", bytes: 4, exponent: -3),
        0x50: .init("time", "s", bytes: 4),
        0x51: .init("acceleration", "m/s²", bytes: 2, exponent: -3),
        0x52: .init("gyroscope", "°/s", bytes: 2, exponent: -3),
        0x53: .init("text", kind: .text),
        0x54: .init("raw", kind: .bytes),
        0x55: .init("stored", "l", bytes: 4, exponent: -3),
        0x56: .init("conductivity", "µS/cm", bytes: 2),
        0x57: .init("temperature", "°C", kind: .signed),
        0x58: .init("temperature", "°C", kind: .signed, factor: 35, exponent: -2),
        0x59: .init("count", kind: .signed),
        0x5A: .init("count", bytes: 2, kind: .signed),
        0x5B: .init("count", bytes: 4, kind: .signed),
        0x5C: .init("power", "W", bytes: 4, kind: .signed, exponent: -2),
        0x5D: .init("current", "A", bytes: 2, kind: .signed, exponent: -3),
        0x5E: .init("direction", "°", bytes: 2, exponent: -2),
        0x5F: .init("precipitation", "mm", bytes: 2, exponent: -1),
        0x60: .init("channel"),
        0x61: .init("turns", "1/min", bytes: 2),
        0x62: .init("speed", "m/s", bytes: 4, kind: .signed, exponent: -6),
        0x63: .init("acceleration", "m/s²", bytes: 4, kind: .signed, exponent: -6),
        0x64: .init("lightlevel"),
        0x65: .init("revision"),
        0xF0: .init("device", bytes: 2, kind: .information),
        0xF1: .init("firmware", bytes: 4, kind: .information),
        0xF2: .init("firmware", bytes: 3, kind: .information),
    ]
}
