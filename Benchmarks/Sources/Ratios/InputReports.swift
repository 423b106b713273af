// SPDX-License-Identifier: GPL-2.0-or-later

import CPeers
import CReference
import HIDReports
import Measuring

/// Input reports of a barcode reader in keyboard mode: each key is pressed, often together with the one before, and
/// released.
struct InputReports {
    /// Report descriptor of the nRF5 SDK's scanner firmware: eight modifiers, and six keys of 8 bits.
    private static let descriptor =
        "05010906a101050719e029e715002501750195088102950175088101950575010508190129059102950175039101950675081500256505"
        + "071900296581000905150026ff0075089502b102c0"

    let map: ReportMap
    /// Payloads of the reports.
    let payloads: [[UInt8]]
    /// Concatenated payloads, each of the declared length.
    let bytes: [UInt8]
    /// Keyboard fields of the map, for C.
    let fields: [peer_hid_field]
    let reportBytes: Int

    init(characters: Int) throws {
        let digits = Array(Self.descriptor.utf8)
        let descriptor = stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
        }
        map = try ReportMap(descriptor)
        guard let report = map.reports.first(where: { $0.kind == .input }) else { throw RingMeasurement.WrongBytes() }
        reportBytes = report.bytes
        fields = report.fields.filter(\.isKeyboardField).map { field in
            peer_hid_field(
                bit_offset: UInt32(field.bitOffset),
                minimum: UInt32(bitPattern: field.logicalMinimum),
                maximum: UInt32(bitPattern: field.logicalMaximum),
                count: UInt16(field.count),
                first_usage: field.usages[0].first.id,
                size: UInt8(field.size),
                is_variable: field.isVariable
            )
        }
        var payloads: [[UInt8]] = []
        var previous: UInt8 = 0
        for (place, byte) in Corpus.mixed.bytes(characters).enumerated() {
            let modifiers: UInt8 = byte & 0x40 == 0 ? 0 : 0x02
            let key = 4 + byte % 40
            // With two keys held, the older one moves to the second slot.
            let older = place.isMultiple(of: 3) && previous != key ? previous : 0
            payloads.append([modifiers, 0, key, older, 0, 0, 0, 0])
            // A reader releases all keys, or presses the next one at once.
            if !place.isMultiple(of: 4) || previous == key { payloads.append([0, 0, 0, 0, 0, 0, 0, 0]) }
            previous = place.isMultiple(of: 4) ? key : 0
        }
        self.payloads = payloads
        bytes = payloads.flatMap(\.self)
    }

    /// Decodes all reports, and returns the sum of the checksums of the held keys, like `peer_hid_read_all`.
    func decode(with reader: inout ReportReader) -> Int {
        var sum = 0
        for payload in payloads { sum &+= Self.checksum(reader.read(payload.span, id: 0)) }
        return sum
    }

    static func checksum(_ reading: ReportReading) -> Int {
        guard case .keys(let held) = reading.content else { return 0 }
        var sum = 0
        for usage in held.usages { sum = 31 &* sum &+ Int(usage) }
        return sum
    }
}

/// The row of B-24.
extension Launch {
    /// Measures the decoding of input reports to held keys, without the text.
    mutating func inputReports() throws {
        _ = cref_pin_thread(0)
        let reports = try InputReports(characters: 2048)
        guard let peer = peer_hid_create(reports.fields, reports.fields.count, reports.reportBytes) else {
            throw RingMeasurement.WrongBytes()
        }
        defer { peer_hid_destroy(peer) }
        var reader = ReportReader(reports.map)
        for payload in reports.payloads {
            guard InputReports.checksum(reader.read(payload.span, id: 0)) == peer_hid_read(peer, payload) else {
                throw RingMeasurement.WrongBytes()
            }
        }
        let ours = Contender("ours") { count in EncoderMeasurement.timed(count) { reports.decode(with: &reader) } }
        let reference = Contender("C loop") { count in
            EncoderMeasurement.timed(count) { peer_hid_read_all(peer, reports.bytes, reports.payloads.count) }
        }
        try compare(reference, [("B-24", ours)])
    }
}
