// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets
package import HIDReports

/// Discovers the HID services of a connected, encrypted device, and the attributes that belong to them.
///
/// It is a pure state machine that uses the `GATTClient` of one connection. It always ends, whatever the device does,
/// because the number of attributes and the time are limited. HOGP 1.1, 4.5 to 4.7.
package struct HIDDiscovery: Sendable {
    package enum Progress: Equatable, Sendable {
        /// A procedure is running.
        case underWay
        /// The device has a keyboard.
        case found(HIDDevice)
        /// The device answers, but has no keyboard that can be used.
        case unusable(Lack)
        /// A procedure failed; with Insufficient Authentication or Encryption, the devices must first be paired.
        case failed(GATTError)
    }

    /// Reason why a device is not used as a keyboard; services are counted from 0, in ascending order of handles.
    package enum Lack: Equatable, Sendable {
        case noService
        /// The report maps are valid but declare no keys; the kinds are those of their application collections.
        case noKeyboard([HIDDeviceKind])
        /// The map of a service declares keys, but the service has no such input report.
        case noInputReport
        case badMap(ReportMapError, service: Int)
        /// The map could not be read to its end; the error is nil if the device ended it early.
        case incompleteMap(GATTError?, service: Int)
        case noMap(service: Int)
    }

    private enum Task: Sendable {
        case characteristics(GATTService, Owner)
        case descriptors(GATTCharacteristic, Owner)
        case databaseHash
        case information(AttributeHandle, service: Int)
        case map(AttributeHandle, service: Int)
        /// External Report Reference: read, because HOGP demands it, and then ignored.
        case externalReference(AttributeHandle)
        case reference(AttributeHandle, service: Int, report: Int)
        case productID(AttributeHandle)
    }

    /// Service to which a task belongs.
    private enum Owner: Equatable, Sendable {
        case hid(Int)
        /// Service without which the device can be used.
        case optional
    }

    /// Maximum number of characteristics and descriptors of all services.
    package static let attributeLimit = 4096
    package static let timeLimit = Duration.seconds(120)

    /// Number of HID services, report maps and reports that were ignored: too many, out of order, repeated, or reports
    /// without a known id.
    package private(set) var ignored = 0

    private var drafts: [HIDServiceDraft] = []
    private var device = HIDDevice(services: [])
    private var tasks: ArraySlice<Task>
    private var task: Task?
    private var procedure: GATTClient.ProcedureID?
    private var started = Duration.zero
    private var attributes = 0

    /// Creates a discovery; `services` are all primary services of the device.
    ///
    /// The HID services and the first Generic Attribute, Battery and Device Information services are used.
    package init(_ services: [GATTService]) {
        var tasks: [Task] = []
        func addFirst(_ uuid: BluetoothUUID) {
            if let service = services.first(where: { $0.uuid == uuid && $0.handles.isValid }) {
                tasks.append(.characteristics(service, .optional))
            }
        }
        // The hash precedes the other attributes, so that a change during the discovery is noticed.
        addFirst(.genericAttribute)
        var end = AttributeHandle.invalid
        for service in services where service.uuid == HIDAttributeType.service {
            guard service.handles.isValid, service.handles.start > end, drafts.count < HIDDevice.mostServices else {
                ignored &+= 1
                continue
            }
            end = service.handles.end
            tasks.append(.characteristics(service, .hid(drafts.count)))
            drafts.append(HIDServiceDraft(service.handles))
        }
        addFirst(HIDAttributeType.batteryService)
        addFirst(HIDAttributeType.deviceInformation)
        self.tasks = tasks[...]
    }

    package mutating func begin(_ client: inout GATTClient, now: Duration) -> Progress {
        started = now
        guard !drafts.isEmpty else { return .unusable(.noService) }
        return next(&client, now)
    }

    /// Handles the end of a procedure, and begins the next procedure.
    package mutating func handle(_ event: GATTClient.Event, _ client: inout GATTClient, now: Duration) -> Progress {
        guard let current = task, event.procedure == procedure else { return .underWay }
        (task, procedure) = (nil, nil)
        guard now - started <= Self.timeLimit else { return .failed(.tookTooLong(limit: Self.timeLimit)) }
        switch event.result {
        case .success(let outcome):
            guard accept(outcome, of: current, mtu: Int(client.mtu)) else {
                return .failed(.tooManyAttributes(limit: Self.attributeLimit))
            }
        case .failure(let error):
            guard tolerate(error, of: current) else { return .failed(error) }
        }
        return next(&client, now)
    }

    // MARK: Procedures

    private mutating func next(_ client: inout GATTClient, _ now: Duration) -> Progress {
        task = tasks.popFirst()
        guard let task else { return finish() }
        do throws(GATTError) {
            procedure =
                switch task {
                case .characteristics(let service, _): try client.discoverCharacteristics(of: service, now: now)
                case .descriptors(let characteristic, _):
                    try client.discoverDescriptors(of: characteristic, now: now)
                // Core 6.0, Vol 3, Part G, 7.3: the hash is read only by its type.
                case .databaseHash: try client.read(HIDAttributeType.databaseHash, now: now)
                case .map(let handle, _): try client.readLong(handle, now: now)
                case .information(let handle, _), .externalReference(let handle), .reference(let handle, _, _),
                    .productID(let handle):
                    try client.read(handle, now: now)
                }
            return .underWay
        } catch {
            return .failed(error)
        }
    }

    /// Returns true if the discovery can go on without the result of a task; records the failure to read a map.
    private mutating func tolerate(_ error: GATTError, of task: Task) -> Bool {
        switch error {
        case .bearer, .tookTooLong, .queueFull, .errorResponse(_, _, .databaseOutOfSync): return false
        default: break
        }
        switch task {
        case .characteristics(_, .optional), .descriptors(_, .optional), .databaseHash, .productID, .externalReference:
            return true
        case .characteristics(_, .hid), .descriptors(_, .hid): return false
        case .information, .reference: return error.isRefusal && !error.isLackOfSecurity
        case .map(_, let service):
            drafts[service].map = .failed(error)
            return !error.isLackOfSecurity
        }
    }

    /// Records the result of a task, and adds the tasks that follow from it; returns false if there are too many
    /// attributes.
    private mutating func accept(_ outcome: GATTClient.Outcome, of task: Task, mtu: Int) -> Bool {
        switch (task, outcome) {
        case (.characteristics(_, let owner), .characteristics(let found)):
            attributes &+= found.count
            tasks = (found.flatMap { accept($0, owner) } + tasks)[...]
        case (.descriptors(let characteristic, let owner), .descriptors(let found)):
            attributes &+= found.count
            tasks = (found.compactMap { accept($0, of: characteristic, owner) } + tasks)[...]
        case (.databaseHash, .values(let values)):
            device.databaseHash = values.first.map(\.value).flatMap { $0.count == HIDDevice.hashLength ? $0 : nil }
        case (.information(_, let service), .value(let value)): drafts[service].setInformation(value)
        case (.map(_, let service), .value(let value)):
            let isFull = !value.isEmpty && value.count % max(1, mtu &- 1) == 0
            drafts[service].map = .read(value, isFull: isFull)
        case (.reference(_, let service, let report), .value(let value)):
            drafts[service].setReference(value, ofReport: report)
        case (.productID, .value(let value)): device.pnp = Self.productID(value)
        default: break
        }
        return attributes <= Self.attributeLimit
    }

    /// Records a characteristic; returns the tasks for its descriptors and its value.
    private mutating func accept(_ found: GATTCharacteristic, _ owner: Owner) -> [Task] {
        guard case .hid(let service) = owner else {
            switch found.uuid {
            case .serviceChanged where device.serviceChanged == nil:
                device.serviceChanged = HIDDevice.Value(value: found.valueHandle, configuration: nil)
                return [.descriptors(found, owner)]
            case HIDAttributeType.batteryLevel where device.battery == nil:
                device.battery = HIDDevice.Value(value: found.valueHandle, configuration: nil)
                return [.descriptors(found, owner)]
            case HIDAttributeType.databaseHash: return [.databaseHash]
            case HIDAttributeType.productID: return [.productID(found.valueHandle)]
            default: return []
            }
        }
        switch found.uuid {
        case HIDAttributeType.report where drafts[service].reports.count < HIDDevice.mostReports:
            drafts[service].reports.append(HIDServiceDraft.Report(found))
            return [.descriptors(found, owner)]
        case HIDAttributeType.reportMap where !drafts[service].hasMap:
            drafts[service].hasMap = true
            return [.map(found.valueHandle, service: service), .descriptors(found, owner)]
        case HIDAttributeType.report, HIDAttributeType.reportMap: ignored &+= 1
        case HIDAttributeType.bootKeyboardInput where drafts[service].bootInput == nil:
            drafts[service].bootInput = HIDServiceDraft.Report(found)
            return [.descriptors(found, owner)]
        case HIDAttributeType.bootKeyboardOutput where drafts[service].bootOutput == nil:
            drafts[service].bootOutput = found.valueHandle
        case HIDAttributeType.protocolMode: drafts[service].protocolMode = found.valueHandle
        case HIDAttributeType.information: return [.information(found.valueHandle, service: service)]
        default: break
        }
        return []
    }

    /// Records a descriptor; returns the task for its value, or nil.
    private mutating func accept(
        _ found: GATTDescriptor,
        of characteristic: GATTCharacteristic,
        _ owner: Owner
    ) -> Task? {
        let isConfiguration = found.uuid == GATTAttributeType.clientConfiguration
        guard case .hid(let service) = owner else {
            guard isConfiguration else { return nil }
            if characteristic.uuid == .serviceChanged {
                device.serviceChanged?.configuration = found.handle
            } else {
                device.battery?.configuration = found.handle
            }
            return nil
        }
        switch characteristic.uuid {
        case HIDAttributeType.report:
            guard let report = drafts[service].reports.lastIndex(where: { $0.value == characteristic.valueHandle })
            else { return nil }
            if isConfiguration { drafts[service].reports[report].configuration = found.handle }
            guard found.uuid == HIDAttributeType.reportReference else { return nil }
            return .reference(found.handle, service: service, report: report)
        case HIDAttributeType.bootKeyboardInput where isConfiguration:
            drafts[service].bootInput?.configuration = found.handle
        case HIDAttributeType.reportMap where found.uuid == HIDAttributeType.externalReportReference:
            return .externalReference(found.handle)
        default: break
        }
        return nil
    }

    /// Parses a PnP ID of 7 bytes; returns nil for any other length.
    private static func productID(_ value: [UInt8]) -> HIDDevice.PnPID? {
        guard value.count == 7 else { return nil }
        func number(_ index: Int) -> UInt16 { UInt16(value[index]) | UInt16(value[index + 1]) &<< 8 }
        return HIDDevice.PnPID(vendorSource: value[0], vendor: number(1), product: number(3), version: number(5))
    }
}

extension HIDDiscovery {
    // MARK: Result

    /// Returns the device, or the reason why it is not used.
    ///
    /// The boot protocol is used only if no service has a keyboard with a report map.
    private mutating func finish() -> Progress {
        var findings: [HIDServiceDraft.Finding] = []
        for (index, draft) in drafts.enumerated() { findings.append(draft.finding(at: index, ignored: &ignored)) }
        let hasKeyboard = findings.contains { if case .keyboard = $0 { true } else { false } }
        var hasBoot = false
        var lacks: [Lack] = []
        var kinds: [HIDDeviceKind] = []
        for (draft, finding) in zip(drafts, findings) {
            switch finding {
            case .keyboard(let service): device.services.append(service)
            case .other(let service, let found):
                device.services.append(service)
                kinds += found.filter { !kinds.contains($0) }
            case .lack(let lack):
                lacks.append(lack)
                guard !hasKeyboard, !hasBoot, let service = draft.bootService else { continue }
                hasBoot = true
                device.services.append(service)
            }
        }
        if hasKeyboard || hasBoot { return .found(device) }
        return .unusable(lacks.max { $0.importance < $1.importance } ?? .noKeyboard(kinds))
    }
}

extension HIDDiscovery.Lack {
    /// Rank among the reasons of several services.
    fileprivate var importance: Int {
        switch self {
        case .noInputReport: 3
        case .incompleteMap: 2
        case .badMap: 1
        case .noService, .noKeyboard, .noMap: 0
        }
    }
}
