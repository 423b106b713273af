// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// The input is the length of an advertisement, the advertisement, and the scan response.
enum AdvertisementEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let data = input.bytes(255)
        let response = input.remaining()
        let first = AdvertisementData.parse(data.span)
        let second = AdvertisementData.parse(response.span)
        for (parsed, bytes) in [(first, data), (second, response)] {
            if held(parsed.value) > bytes.count { return "\(held(parsed.value)) bytes out of \(bytes.count)" }
            if let fault = parsed.fault, fault.offset > bytes.count || fault.description.isEmpty {
                return "a fault at \(fault.offset) of \(bytes.count)"
            }
            if let name = parsed.value.localName, let reason = NameCheck.fault(name) { return reason }
        }
        let merged = first.value.merged(with: second.value)
        if held(merged) > data.count + response.count { return "merged into more than both" }
        if Set(merged.serviceUUIDs) != Set(first.value.serviceUUIDs + second.value.serviceUUIDs) {
            return "services lost in merging"
        }
        return layoutFault(merged)
    }

    /// Returns the minimum number of bytes of a parsed advertisement.
    private static func held(_ value: AdvertisementData) -> Int {
        value.serviceUUIDs.count * 2 + value.solicitedServiceUUIDs.count * 2
            + value.manufacturerData.reduce(0) { $0 + 2 + $1.data.count }
            + value.serviceData.reduce(0) { $0 + 2 + $1.data.count }
            + value.other.reduce(0) { $0 + 1 + $1.data.count } + (value.localName?.text.unicodeScalars.count ?? 0)
    }

    /// Encodes a parsed advertisement and parses it again.
    private static func layoutFault(_ value: AdvertisementData) -> String? {
        let content = AdvertisementLayout.Content(
            localName: value.localName?.text,
            services: value.serviceUUIDs,
            txPower: value.txPower,
            appearance: value.appearance,
            manufacturerData: value.manufacturerData,
            serviceData: value.serviceData
        )
        guard let layout = try? AdvertisementLayout(content) else { return nil }
        guard max(layout.data.count, layout.scanResponse.count) <= 31 else { return "more than 31 bytes" }
        let data = AdvertisementData.parse(layout.data.span)
        let response = AdvertisementData.parse(layout.scanResponse.span)
        guard data.fault == nil, response.fault == nil else { return "our own layout has a fault" }
        let again = data.value.merged(with: response.value)
        guard Set(again.serviceUUIDs) == Set(value.serviceUUIDs), again.txPower == value.txPower,
            again.appearance == value.appearance, Set(again.manufacturerData) == Set(value.manufacturerData),
            Set(again.serviceData) == Set(value.serviceData)
        else { return "laid out as something else" }
        guard let name = value.localName?.text, let read = again.localName else { return nil }
        return name.utf8.starts(with: read.text.utf8) ? nil : "another name"
    }
}

/// Checks of device names that are displayed.
enum NameCheck {
    /// Reports characters that could move the cursor or change the writing direction, and names that are too long.
    static func fault(_ name: LocalName) -> String? {
        guard name.text.utf8.count <= 3 * LocalName.maximumLength else {
            return "a name of \(name.text.utf8.count) bytes"
        }
        let wrong = name.printable.unicodeScalars.first {
            $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || (0x2066...0x2069).contains($0.value)
                || (0x202A...0x202E).contains($0.value)
        }
        return wrong.map { "U+\(String($0.value, radix: 16)) in a printable name" }
    }
}
