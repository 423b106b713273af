// SPDX-License-Identifier: GPL-2.0-or-later

/// Names of usage pages, usages and collections.
///
/// HID Usage Tables 1.5; HID Point of Sale Usage Tables 1.02.
enum HIDNames {
    static func page(_ page: UInt16) -> String {
        if page >= 0xFF00 { return "Vendor-defined \(hexadecimal(UInt32(page), digits: 4))" }
        return pages[page] ?? hexadecimal(UInt32(page), digits: 2)
    }

    /// Returns the name of a usage; its id in hexadecimal if it has none here.
    static func usage(_ usage: HIDUsage) -> String {
        let names: [UInt16: String]? =
            switch usage.page {
            case 0x01: desktop
            case HIDUsage.keyboardPage: keys
            case 0x08: lights
            case 0x0C: consumer
            case 0x84, 0x85: power
            case 0x8C: barcode
            default: nil
            }
        let id = hexadecimal(UInt32(usage.id), digits: 2)
        return names?[usage.id].map { "\(id) \($0)" } ?? id
    }

    static func collection(_ type: UInt8) -> String {
        type < collections.count ? collections[Int(type)] : hexadecimal(UInt32(type), digits: 2)
    }

    /// Returns upper-case digits, at least `digits`.
    static func hexadecimal(_ number: UInt32, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private static let collections = [
        "Physical", "Application", "Logical", "Report", "Named Array", "Usage Switch", "Usage Modifier",
    ]

    private static let pages: [UInt16: String] = [
        0x01: "Generic Desktop", 0x02: "Simulation Controls", 0x05: "Game Controls", 0x06: "Generic Device Controls",
        0x07: "Keyboard", 0x08: "LEDs", 0x09: "Button", 0x0A: "Ordinal", 0x0B: "Telephony", 0x0C: "Consumer",
        0x0D: "Digitizers", 0x0F: "Physical Input Device", 0x20: "Sensors", 0x84: "Power", 0x85: "Battery System",
        0x8C: "Barcode Scanner", 0x8D: "Scales",
    ]

    private static let desktop: [UInt16: String] = [
        0x01: "Pointer", 0x02: "Mouse", 0x04: "Joystick", 0x05: "Gamepad", 0x06: "Keyboard", 0x07: "Keypad",
        0x30: "X", 0x31: "Y", 0x32: "Z", 0x38: "Wheel", 0x48: "Resolution Multiplier", 0x80: "System Control",
        0x81: "System Power Down", 0x82: "System Sleep", 0x83: "System Wake Up",
    ]

    private static let lights: [UInt16: String] = [
        0x01: "Num Lock", 0x02: "Caps Lock", 0x03: "Scroll Lock", 0x04: "Compose", 0x05: "Kana",
    ]

    private static let consumer: [UInt16: String] = [
        0x01: "Consumer Control", 0x30: "Power", 0xB5: "Next Track", 0xB6: "Previous Track", 0xB7: "Stop",
        0xCD: "Play/Pause", 0xE2: "Mute", 0xE9: "Volume Up", 0xEA: "Volume Down", 0x238: "AC Pan",
    ]

    private static let power: [UInt16: String] = [
        0x04: "UPS", 0x24: "Power Summary", 0x30: "Voltage", 0x44: "Charging", 0x65: "Absolute State of Charge",
        0x66: "Remaining Capacity",
    ]

    private static let barcode: [UInt16: String] = [
        0x01: "Barcode Badge Reader", 0x02: "Barcode Scanner", 0x03: "Dumb Barcode Scanner",
        0x04: "Cordless Scanner Base", 0x05: "Barcode Scanner Cradle", 0x10: "Attribute Report",
        0x11: "Settings Report", 0x12: "Scanned Data Report", 0x13: "Raw Scanned Data Report", 0x14: "Trigger Report",
        0x15: "Status Report", 0xFB: "Symbology Identifier 1", 0xFC: "Symbology Identifier 2",
        0xFD: "Symbology Identifier 3", 0xFE: "Decoded Data", 0xFF: "Decoded Data Continued",
    ]

    private static let keys: [UInt16: String] = {
        var keys: [UInt16: String] = [
            0x01: "Error Roll Over", 0x02: "POST Fail", 0x03: "Error Undefined", 0x27: "0", 0x28: "Enter",
            0x29: "Escape", 0x2A: "Backspace", 0x2B: "Tab", 0x2C: "Space", 0x2D: "-", 0x2E: "=", 0x2F: "[", 0x30: "]",
            0x31: "\\", 0x32: "Non-US #", 0x33: ";", 0x34: "'", 0x35: "`", 0x36: ",", 0x37: ".", 0x38: "/",
            0x39: "Caps Lock", 0x46: "Print Screen", 0x47: "Scroll Lock", 0x48: "Pause", 0x49: "Insert", 0x4A: "Home",
            0x4B: "Page Up", 0x4C: "Delete", 0x4D: "End", 0x4E: "Page Down", 0x4F: "Right", 0x50: "Left",
            0x51: "Down", 0x52: "Up", 0x53: "Num Lock", 0x54: "Keypad /", 0x55: "Keypad *", 0x56: "Keypad -",
            0x57: "Keypad +", 0x58: "Keypad Enter", 0x62: "Keypad 0", 0x63: "Keypad .", 0x64: "Non-US \\",
            0x65: "Application", 0x66: "Power", 0x67: "Keypad =",
            0xE0: "Left Control", 0xE1: "Left Shift", 0xE2: "Left Alt", 0xE3: "Left GUI",
            0xE4: "Right Control", 0xE5: "Right Shift", 0xE6: "Right Alt", 0xE7: "Right GUI",
        ]
        for index: UInt16 in 0..<26 {
            keys[0x04 + index] = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index)))
        }
        for index: UInt16 in 1...9 {
            keys[0x1D + index] = String(index)
            keys[0x58 + index] = "Keypad \(index)"
            keys[0x86 + index] = "International \(index)"
            keys[0x8F + index] = "LANG \(index)"
        }
        for index: UInt16 in 1...12 {
            keys[0x39 + index] = "F\(index)"
            keys[0x67 + index] = "F\(index + 12)"
        }
        return keys
    }()
}
