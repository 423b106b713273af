// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
package import HIDReports

/// Decoder of all input reports of a device: from the values of its characteristics to text.
///
/// Each service has its own held keys, because its report ids are its own (HID Service 1.0, 2.5.3.2). A value contains
/// no id byte; the id is that of the Report Reference descriptor (HOGP 1.1, 4.8.1).
package struct HIDInput: Sendable {
    private struct Part: Sendable {
        var reader: ReportReader
        var decoder: KeyDecoder
    }

    private struct Place: Sendable {
        /// Index into `parts`.
        var part: Int
        var id: UInt8
    }

    private var parts: [Part] = []
    private var places: [AttributeHandle: Place] = [:]

    /// Creates a decoder for a device that has just connected; a service whose map is refused has no reports.
    package init(_ device: HIDDevice, _ settings: KeyDecoder.Settings) {
        for service in device.services {
            guard let map = try? ReportMap(service.map) else { continue }
            for report in service.inputs { places[report.value] = Place(part: parts.count, id: report.id) }
            parts.append(Part(reader: ReportReader(map), decoder: KeyDecoder(settings)))
        }
    }

    /// Returns true if the handle is that of an input report.
    package func handles(_ handle: AttributeHandle) -> Bool { places[handle] != nil }

    /// Appends the text of a report in UTF-8; returns nil if the handle is not that of an input report.
    package mutating func receive(
        _ value: Span<UInt8>,
        from handle: AttributeHandle,
        into text: inout [UInt8]
    ) -> ReportOutcome? {
        guard let place = places[handle] else { return nil }
        let reading = parts[place.part].reader.read(value, id: place.id)
        return parts[place.part].decoder.decode(reading, into: &text)
    }

    /// Releases all keys without text, as `KeyDecoder.linkLost` does.
    package mutating func linkLost() {
        for index in parts.indices {
            parts[index].reader.reset()
            parts[index].decoder.linkLost()
        }
    }

    /// Sum of the accounts of all services.
    package var account: KeyAccount {
        parts.reduce(into: KeyAccount()) { $0.add($1.decoder.account) }
    }
}
