// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports

/// Kind of a HID device that is no keyboard, from the usage of a top-level application collection.
///
/// HID Usage Tables 1.5, 4, 15 and 16.
package enum HIDDeviceKind: String, CaseIterable, Sendable {
    case mouse
    case joystick
    case gamepad
    /// Media keys or remote control.
    case consumerControl = "consumer-control"
    /// Pen, touch pad or touch screen.
    case digitizer
    case other

    init(_ usage: HIDUsage) {
        switch (usage.page, usage.id) {
        case (0x01, 0x02): self = .mouse
        case (0x01, 0x04): self = .joystick
        case (0x01, 0x05): self = .gamepad
        case (0x0C, 0x01): self = .consumerControl
        case (0x0D, _): self = .digitizer
        default: self = .other
        }
    }

    /// Returns the kinds of a map's application collections, each once, in the order of the map.
    static func all(in map: ReportMap) -> [HIDDeviceKind] {
        map.collections.reduce(into: []) { kinds, collection in
            let kind = HIDDeviceKind(collection.usage)
            if collection.parent == nil, collection.type == 1, !kinds.contains(kind) { kinds.append(kind) }
        }
    }
}
