// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import HIDReports

/// Parser of the text that `HIDDevice.record` produces.
struct HIDRecordParser {
    private typealias Fault = HIDRecordFault

    private(set) var device = HIDDevice(services: [])
    /// Service that was begun; nil before the first one.
    private var service: HIDDevice.Service?
    /// Last handle of a report so far.
    private var last = AttributeHandle.invalid
    /// Position of the current word in bytes.
    private var offset = 0

    mutating func parse(_ record: String) throws(HIDRecordFault) {
        guard record.utf8.count <= HIDDevice.longestRecord else { throw fault(.tooLong) }
        var isFirst = true
        for word in record.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
            if isFirst {
                guard word.elementsEqual(HIDDevice.recordVersion.utf8) else { throw fault(.unknownVersion) }
                isFirst = false
            } else {
                try accept(Substring(word))
            }
            offset += word.count + 1
        }
        offset -= 1
        try endService()
        guard !device.services.isEmpty else { throw fault(.noService) }
    }

    private func fault(_ reason: HIDRecordFault.Reason) -> HIDRecordFault {
        HIDRecordFault(offset: offset, reason: reason)
    }

    private mutating func accept(_ word: Substring) throws(HIDRecordFault) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw fault(.unknownWord) }
        let value = parts[1]
        switch parts[0] {
        case "service": try beginService(value)
        case "map":
            guard let bytes = Hexadecimal.bytes(value) else { throw fault(.invalidNumbers) }
            do throws(ReportMapError) { _ = try ReportMap(bytes) } catch { throw fault(.map(error)) }
            service?.map = bytes
        case "mode":
            let handle = AttributeHandle(try numbers(value, [4])[0])
            guard service?.range.contains(handle) == true else { throw fault(.handleOutOfOrder) }
            service?.protocolMode = handle
        case "boot":
            let (handles, _) = try handles(value, [])
            try check(handles, after: .invalid)
            service?.bootInput = HIDDevice.Report(
                value: handles.value,
                configuration: handles.configuration,
                id: 0,
                kind: .input
            )
        case "report": try addReport(value)
        case "hash":
            guard let bytes = Hexadecimal.bytes(value), bytes.count == HIDDevice.hashLength else {
                throw fault(.invalidNumbers)
            }
            device.databaseHash = bytes
        case "changed": device.serviceChanged = try handles(value, []).handles
        case "battery": device.battery = try handles(value, []).handles
        case "pnp":
            let numbers = try numbers(value, [2, 4, 4, 4])
            device.pnp = HIDDevice.PnPID(
                vendorSource: UInt8(truncatingIfNeeded: numbers[0]),
                vendor: numbers[1],
                product: numbers[2],
                version: numbers[3]
            )
        default: throw fault(.unknownWord)
        }
    }

    private mutating func beginService(_ value: Substring) throws(HIDRecordFault) {
        try endService()
        guard device.services.count < HIDDevice.mostServices else { throw fault(.tooManyServices) }
        let numbers = try numbers(value, [4, 4, 4, 2, 2])
        let range = AttributeHandleRange(start: AttributeHandle(numbers[0]), end: AttributeHandle(numbers[1]))
        guard range.isValid, range.start > device.services.last?.range.end ?? .invalid else {
            throw fault(.handleOutOfOrder)
        }
        var service = HIDDevice.Service(range: range, map: [])
        service.version = numbers[2]
        service.country = UInt8(truncatingIfNeeded: numbers[3])
        service.flags = UInt8(truncatingIfNeeded: numbers[4])
        self.service = service
    }

    private mutating func endService() throws(HIDRecordFault) {
        guard let service else { return }
        guard !service.map.isEmpty else { throw fault(.noMap) }
        device.services.append(service)
        self.service = nil
    }

    private mutating func addReport(_ value: Substring) throws(HIDRecordFault) {
        let (handles, numbers) = try handles(value, [2, 2])
        guard let kind = ReportKind(rawValue: UInt8(truncatingIfNeeded: numbers[1])) else {
            throw fault(.invalidNumbers)
        }
        try check(handles, after: last)
        guard let count = service?.reports.count, count < HIDDevice.mostReports else { throw fault(.tooManyReports) }
        guard kind == .input || handles.configuration == nil else { throw fault(.misplacedConfiguration) }
        last = handles.configuration ?? handles.value
        service?.reports.append(
            HIDDevice.Report(
                value: handles.value,
                configuration: handles.configuration,
                id: UInt8(truncatingIfNeeded: numbers[0]),
                kind: kind
            )
        )
    }

    /// Throws unless the handles belong to the current service, and are above `last`.
    private func check(_ handles: HIDDevice.Value, after last: AttributeHandle) throws(HIDRecordFault) {
        guard let range = service?.range, range.contains(handles.value), handles.value > last,
            range.contains(handles.configuration ?? handles.value)
        else { throw fault(.handleOutOfOrder) }
    }

    /// Parses the handle of a value, that of its configuration descriptor or `-`, and a number for each of `digits`.
    private func handles(
        _ text: Substring,
        _ digits: [Int]
    ) throws(HIDRecordFault) -> (handles: HIDDevice.Value, numbers: [UInt16]) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count >= 2 else { throw fault(.invalidNumbers) }
        let value = AttributeHandle(try numbers(words[0], [4])[0])
        var configuration: AttributeHandle?
        if words[1] != "-" { configuration = AttributeHandle(try numbers(words[1], [4])[0]) }
        guard value.isValid, configuration.map({ $0 > value }) ?? true else { throw fault(.handleOutOfOrder) }
        let numbers = digits.isEmpty && words.count == 2 ? [] : try numbers(words[2...].joined(separator: ","), digits)
        return (HIDDevice.Value(value: value, configuration: configuration), numbers)
    }

    /// Parses hexadecimal numbers that are separated by commas; each has the number of digits given for it, 2 or 4.
    private func numbers(_ text: some StringProtocol, _ digits: [Int]) throws(HIDRecordFault) -> [UInt16] {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count == digits.count else { throw fault(.invalidNumbers) }
        var numbers: [UInt16] = []
        for (word, digits) in zip(words, digits) {
            guard word.utf8.count == digits, let number = UInt16(word, radix: 16) else { throw fault(.invalidNumbers) }
            numbers.append(number)
        }
        return numbers
    }
}
