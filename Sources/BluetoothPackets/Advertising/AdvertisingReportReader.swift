// SPDX-License-Identifier: GPL-2.0-or-later

/// Reader for the reports in an LE Advertising Report or LE Extended Advertising Report event; it copies no bytes.
///
/// The initialiser checks the whole event, so that an event with a wrong count or wrong lengths is rejected before any
/// of its reports is used. The event contains one complete report after another, as controllers send them. Core 6.0,
/// Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
public struct AdvertisingReportReader: ~Escapable {
    @usableFromInline let bytes: Span<UInt8>
    /// Offset of the first unread report.
    @usableFromInline var offset = 0
    @usableFromInline var left: Int
    @usableFromInline let isExtended: Bool

    /// Number of unread reports.
    public var remaining: Int { left }

    /// Maximum number of reports in one LE Advertising Report.
    @inlinable @inline(__always)
    public static var maximumLegacyReports: Int { 0x19 }
    /// Maximum number of reports in one LE Extended Advertising Report.
    @inlinable @inline(__always)
    public static var maximumExtendedReports: Int { 0x0A }
    /// Maximum data length of a legacy PDU, in bytes.
    @inlinable @inline(__always)
    public static var maximumLegacyDataLength: Int { 31 }
    /// Maximum data length of one extended report, in bytes.
    @inlinable @inline(__always)
    public static var maximumExtendedDataLength: Int { 229 }

    /// Returns true for the two subevents that this reader supports.
    @inlinable @inline(__always)
    public static func reads(_ subevent: LESubevent) -> Bool {
        subevent == .advertisingReport || subevent == .extendedAdvertisingReport
    }

    /// Creates a reader for the bytes after the subevent code; throws an error if any report is malformed.
    @inlinable @inline(__always)
    @_lifetime(copy parameters)
    public init(_ subevent: LESubevent, _ parameters: Span<UInt8>) throws(DecodingError) {
        guard Self.reads(subevent), !parameters.isEmpty else { throw Self.error(subevent, count: nil) }
        isExtended = subevent == .extendedAdvertisingReport
        left = Int(parameters[0])
        bytes = parameters.extracting(droppingFirst: 1)
        let most = isExtended ? Self.maximumExtendedReports : Self.maximumLegacyReports
        guard left >= 1, left <= most else { throw Self.error(subevent, count: parameters[0]) }
        var end = 0
        for _ in 0..<left {
            do throws(Fault) {
                end = try Self.check(bytes, from: end, isExtended)
            } catch {
                throw Self.error(error, in: bytes, from: end, isExtended)
            }
        }
        guard end == bytes.count else { throw Self.error(.trailing, in: bytes, from: end, isExtended) }
    }

    /// Returns the next report, or nil if there are no more.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    @_lifetime(copy self)
    public mutating func next() -> AdvertisingReport? {
        guard left > 0 else { return nil }
        left &-= 1
        let layout = AdvertisingReport.Layout(isExtended: isExtended)
        // The initialiser has checked that the report is complete.
        let start = offset
        offset = start &+ layout.fixed &+ Int(bytes[start &+ layout.fixed &- 1]) &+ layout.trailer
        return AdvertisingReport(checked: bytes.extracting(start..<offset), isExtended: isExtended)
    }
}

extension AdvertisingReportReader {
    @usableFromInline
    enum Fault: Error {
        case truncated, eventType, addressType, dataLength, trailing
    }

    /// Checks the report at `start`, which may be the end of `bytes`; returns the end of the report.
    @inlinable @inline(__always)
    static func check(_ bytes: Span<UInt8>, from start: Int, _ isExtended: Bool) throws(Fault) -> Int {
        let layout = AdvertisingReport.Layout(isExtended: isExtended)
        let available = bytes.count &- start
        guard available >= layout.fixed else { throw .truncated }
        let addressType: UInt8
        if isExtended {
            guard AdvertisingDataStatus(eventType: bytes[start]) != nil else { throw .eventType }
            addressType = bytes[start &+ 2]
        } else {
            guard AdvertisingEventType(legacy: bytes[start]) != nil else { throw .eventType }
            addressType = bytes[start &+ 1]
        }
        let isAnonymous = isExtended && addressType == AdvertisingReport.Layout.anonymous
        guard AddressType(hci: addressType) != nil || isAnonymous else { throw .addressType }
        let dataLength = Int(bytes[start &+ layout.fixed &- 1])
        guard dataLength <= layout.mostData else { throw .dataLength }
        let length = layout.fixed &+ dataLength &+ layout.trailer
        guard available >= length else { throw .truncated }
        return start &+ length
    }

    /// Returns the names and lengths (in bytes) of a report's fields, in order; `data` is the length of the data field.
    private static func fields(_ isExtended: Bool, data: Int) -> [(name: String, count: Int)] {
        guard isExtended else {
            return [
                ("Event_Type", 1), ("Address_Type", 1), ("Address", 6), ("Data_Length", 1), ("Data", data), ("RSSI", 1),
            ]
        }
        return [
            ("Event_Type", 2), ("Address_Type", 1), ("Address", 6), ("Primary_PHY", 1), ("Secondary_PHY", 1),
            ("Advertising_SID", 1), ("TX_Power", 1), ("RSSI", 1), ("Periodic_Advertising_Interval", 2),
            ("Direct_Address_Type", 1), ("Direct_Address", 6), ("Data_Length", 1), ("Data", data),
        ]
    }

    /// Returns the error for a fault in the report at `start`.
    ///
    /// The offset in the error is counted from the event's parameters, which start one byte before `reports`.
    @usableFromInline @inline(never)
    static func error(_ fault: Fault, in reports: Span<UInt8>, from start: Int, _ isExtended: Bool) -> DecodingError {
        let bytes = reports.extracting(droppingFirst: start)
        let start = start &+ 1
        let last = AdvertisingReport.Layout(isExtended: isExtended).fixed - 1
        let data = bytes.count > last ? Int(bytes[last]) : 0
        var offset = 0
        for field in fields(isExtended, data: data) {
            let available = bytes.count - offset
            let reason: DecodingError.Reason? =
                switch (fault, field.name) {
                case (.truncated, _) where available < field.count:
                    .truncated(needed: field.count, available: available)
                case (.eventType, "Event_Type"), (.addressType, "Address_Type"): .invalidValue(UInt64(bytes[offset]))
                case (.dataLength, "Data_Length"): .invalidLength(data)
                default: nil
                }
            if let reason {
                return DecodingError(
                    packet: name(isExtended),
                    field: field.name,
                    offset: start + offset,
                    reason: reason
                )
            }
            offset += field.count
        }
        // All fields are valid, so there must be excess bytes after the last field.
        return DecodingError(
            packet: name(isExtended),
            field: "end",
            offset: start,
            reason: .trailing(count: bytes.count)
        )
    }

    /// Returns the error for an event with no reports, too many reports, no parameters or an unsupported subevent.
    @usableFromInline @inline(never)
    static func error(_ subevent: LESubevent, count: UInt8?) -> DecodingError {
        guard reads(subevent) else {
            return DecodingError(
                packet: name(false),
                field: "Subevent_Code",
                offset: 0,
                reason: .unexpectedCode(UInt16(subevent.rawValue))
            )
        }
        return DecodingError(
            packet: name(subevent == .extendedAdvertisingReport),
            field: "Num_Reports",
            offset: 0,
            reason: count.map { .invalidValue(UInt64($0)) } ?? .truncated(needed: 1, available: 0)
        )
    }

    private static func name(_ isExtended: Bool) -> String {
        isExtended ? "LE Extended Advertising Report" : "LE Advertising Report"
    }
}
