// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDReports

/// Attributes of one HID service that are known so far.
struct HIDServiceDraft: Sendable {
    /// Report characteristic whose id may be unknown.
    struct Report: Sendable {
        var value: AttributeHandle
        var properties: GATTCharacteristicProperties
        var configuration: AttributeHandle?
        /// Contents of the Report Reference descriptor; nil if it is missing or cannot be read.
        var reference: (id: UInt8, kind: ReportKind)?

        init(_ characteristic: GATTCharacteristic) {
            value = characteristic.valueHandle
            properties = characteristic.properties
        }

        /// Kind according to the reference or, without one, to the properties (HID Service 1.0, table 2.4).
        var kind: ReportKind {
            if let reference { return reference.kind }
            if properties.contains(.notify) || properties.contains(.indicate) { return .input }
            return properties.contains(.writeWithoutResponse) ? .output : .feature
        }
    }

    /// Report map, or the reason why it could not be read.
    enum Map: Sendable {
        case missing
        /// If `isFull` is true, the last part filled its response, and the server may have ended the read early.
        case read([UInt8], isFull: Bool)
        case failed(GATTError)
    }

    enum Finding: Sendable {
        case keyboard(HIDDevice.Service)
        /// Service with a valid map but no keyboard.
        case other(HIDDevice.Service, [HIDDeviceKind])
        case lack(HIDDiscovery.Lack)
    }

    let range: AttributeHandleRange
    var hasMap = false
    var map = Map.missing
    var reports: [Report] = []
    var bootInput: Report?
    /// Handle of the Boot Keyboard Output Report.
    var bootOutput: AttributeHandle?
    var protocolMode: AttributeHandle?
    private var information: (version: UInt16, country: UInt8, flags: UInt8) = (0, 0, 0)

    init(_ range: AttributeHandleRange) { self.range = range }

    /// Records the value of a Report Reference descriptor; ignores one of another length or kind.
    mutating func setReference(_ value: [UInt8], ofReport index: Int) {
        guard reports.indices.contains(index), value.count == 2, let kind = ReportKind(rawValue: value[1]) else {
            return
        }
        reports[index].reference = (value[0], kind)
    }

    /// Records the value of HID Information, which has 4 bytes; the upper two flags have a meaning only since HIDS 1.1.
    mutating func setInformation(_ value: [UInt8]) {
        guard value.count >= 4 else { return }
        information = (UInt16(value[0]) | UInt16(value[1]) &<< 8, value[2], value[3])
    }

    /// Evaluates the service, which is at `index`; `ignored` is increased by the number of reports without a known id.
    func finding(at index: Int, ignored: inout Int) -> Finding {
        let bytes: [UInt8]
        let isFull: Bool
        switch map {
        case .missing: return .lack(.noMap(service: index))
        case .failed(let error): return .lack(.incompleteMap(error, service: index))
        case .read(let value, let full): (bytes, isFull) = (value, full)
        }
        let map: ReportMap
        do throws(ReportMapError) {
            map = try ReportMap(bytes)
        } catch {
            let isCut = isFull && error.isAtEnd
            return .lack(isCut ? .incompleteMap(nil, service: index) : .badMap(error, service: index))
        }
        var service = service(map: bytes)
        service.reports = reports.compactMap { Self.report($0, map) }
        ignored &+= reports.count &- service.reports.count
        if HIDDevice.Service.hasKeyboard(map, service.inputs) { return .keyboard(service) }
        return map.hasKeyboardInput ? .lack(.noInputReport) : .other(service, HIDDeviceKind.all(in: map))
    }

    /// Service with the boot protocol; nil if it has no Boot Keyboard Input Report.
    var bootService: HIDDevice.Service? {
        guard let bootInput else { return nil }
        var service = service(map: HIDDevice.bootMap)
        service.bootInput = HIDDevice.Report(
            value: bootInput.value,
            configuration: bootInput.configuration,
            id: 0,
            kind: .input
        )
        service.reports = bootOutput.map { [.init(value: $0, configuration: nil, id: 0, kind: .output)] } ?? []
        return service
    }

    private func service(map: [UInt8]) -> HIDDevice.Service {
        var service = HIDDevice.Service(range: range, map: map)
        (service.version, service.country, service.flags) = information
        service.protocolMode = protocolMode
        return service
    }

    /// Returns a report with its id; without a reference, the id of the only report of its kind in the map, or nil.
    private static func report(_ draft: Report, _ map: ReportMap) -> HIDDevice.Report? {
        let kind = draft.kind
        let id: UInt8
        if let reference = draft.reference {
            id = reference.id
        } else {
            let declared = map.reports.filter { $0.kind == kind }
            guard declared.count == 1 else { return nil }
            id = declared[0].id
        }
        return HIDDevice.Report(
            value: draft.value,
            configuration: kind == .input ? draft.configuration : nil,
            id: id,
            kind: kind
        )
    }
}

extension ReportMapError {
    /// True if more bytes could have made the map valid.
    fileprivate var isAtEnd: Bool {
        switch reason {
        case .truncatedItem, .openCollection, .openDelimiter: true
        default: false
        }
    }
}
