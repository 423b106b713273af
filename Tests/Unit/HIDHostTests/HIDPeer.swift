// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDHost
import HIDReports

/// Characteristic of a HID service of the tests.
struct HIDCharacteristic {
    var definition: GATTCharacteristicDefinition

    static func map(_ bytes: [UInt8], read: GATTAccess = .open, external: Bool = false) -> Self {
        let reference = GATTDescriptorDefinition(uuid: 0x2907, value: .constant([0x19, 0x2A]), read: read)
        return Self(0x2A4B, .read, bytes, read: read, external ? [reference] : [])
    }

    /// Report with a reference, which is left out if `reference` is nil.
    static func report(
        _ kind: ReportKind = .input,
        reference: [UInt8]?,
        read: GATTAccess = .open,
        subscribe: GATTAccess = .open
    ) -> Self {
        let properties: GATTCharacteristicProperties =
            switch kind {
            case .input: [.read, .notify]
            case .output: [.read, .write, .writeWithoutResponse]
            case .feature: [.read, .write]
            }
        let descriptor = reference.map {
            GATTDescriptorDefinition(uuid: 0x2908, value: .constant($0), read: read)
        }
        var one = Self(0x2A4D, properties, [], read: read, descriptor.map { [$0] } ?? [])
        one.definition.subscribe = subscribe
        return one
    }

    static func input(_ id: UInt8) -> Self { report(reference: [id, 1]) }
    static let information = Self(0x2A4A, .read, [0x11, 0x01, 0x21, 0x03])
    static let protocolMode = Self(0x2A4E, [.read, .writeWithoutResponse], [1])
    static let bootInput = Self(0x2A22, [.read, .notify], [])
    static let bootOutput = Self(0x2A32, [.read, .write, .writeWithoutResponse], [])
    /// Vendor characteristic, which hosts tolerate (HOGP 1.1, 4.6).
    static let unknown = Self(0xFFF1, [.read, .notify], [7])

    init(
        _ uuid: BluetoothUUID,
        _ properties: GATTCharacteristicProperties,
        _ value: [UInt8],
        read: GATTAccess = .open,
        _ descriptors: [GATTDescriptorDefinition] = []
    ) {
        let isConstant = properties.isDisjoint(with: [.write, .writeWithoutResponse])
        // Values longer than 512 bytes are served by `HIDPeer`.
        let stored = value.count > GATTClient.longestValue ? [] : value
        definition = GATTCharacteristicDefinition(
            uuid: uuid,
            properties: properties,
            value: isConstant ? .constant(stored) : .stored(stored, lengths: 0...512),
            read: read,
            descriptors: descriptors
        )
    }
}

/// HID device and its host: a server and a client of the library, with faults that the server does not have.
struct HIDPeer {
    var server: GATTServer
    var client: GATTClient
    var now = Duration.zero
    /// Values by handle that take precedence over those of the server.
    var values: [AttributeHandle: [UInt8]] = [:]
    /// Replaces the response to a request; nil leaves the device silent.
    var change: (_ request: ATTPDU, _ response: [UInt8]) -> [UInt8]? = { $1 }
    /// PDUs that the client has sent.
    var sent: [[UInt8]] = []
    /// Time that passes with each request.
    var delay = Duration.zero
    private let link: GATTServer.PeerID

    /// Creates a device; the services of Generic Access and Generic Attribute have the handles up to 0x0006.
    init(
        _ services: [(uuid: BluetoothUUID, characteristics: [HIDCharacteristic])],
        mtu: UInt16 = 23,
        security: GATTLinkSecurity = GATTLinkSecurity()
    ) throws {
        var builder = try GATTDatabaseBuilder(deviceName: "HID")
        for service in services {
            let definitions = service.characteristics.map(\.definition)
            try builder.add(GATTServiceDefinition(uuid: service.uuid, characteristics: definitions))
        }
        server = GATTServer(builder.database)
        link = server.connect(security: security)
        client = GATTClient(localMTU: mtu)
        if mtu > 23 {
            _ = try client.exchangeMTU(now: .zero)
            change = { _, _ in [0x03, UInt8(truncatingIfNeeded: mtu), UInt8(truncatingIfNeeded: mtu >> 8)] }
            run { _, _, _ in }
            change = { $1 }
            sent = []
        }
    }

    /// Creates a device with one HID service and this map.
    init(map: [UInt8], _ others: [HIDCharacteristic], mtu: UInt16 = 23) throws {
        try self.init([(0x1812, [.map(map)] + others)], mtu: mtu)
        if let handle = server.database.service(0x1812)?.value(of: 0x2A4B) { values[handle] = map }
    }

    /// Primary services in ascending order of handles.
    var services: [GATTService] { server.database.services.map(\.service) }

    /// Value handles of the characteristics with this UUID.
    func handles(_ uuid: BluetoothUUID) -> [AttributeHandle] {
        server.database.services.flatMap(\.characteristics).map(\.characteristic).filter { $0.uuid == uuid }
            .map(\.valueHandle)
    }

    /// Runs a discovery; returns its last progress and the number of ignored parts.
    mutating func discover(_ services: [GATTService]? = nil) -> (progress: HIDDiscovery.Progress, ignored: Int) {
        var discovery = HIDDiscovery(services ?? self.services)
        var progress = discovery.begin(&client, now: now)
        run { event, client, now in
            guard progress == .underWay else { return }
            progress = discovery.handle(event, &client, now: now)
        }
        return (progress, discovery.ignored)
    }

    /// Runs the subscriptions; returns their last progress.
    mutating func subscribe(
        _ device: HIDDevice,
        hasEarlier: Bool = false,
        numLock: Bool = true
    ) -> HIDSubscriptions.Progress {
        var subscriptions = HIDSubscriptions(device, hasEarlier: hasEarlier, numLock: numLock)
        var progress = subscriptions.begin(&client, now: now)
        run { event, client, now in
            guard progress == .underWay else { return }
            progress = subscriptions.handle(event, &client, now: now)
        }
        return progress
    }

    /// Answers requests until the client has no more.
    mutating func run(_ handle: (GATTClient.Event, inout GATTClient, Duration) -> Void) {
        while true {
            while let event = client.nextEvent() { handle(event, &client, now) }
            guard let pdu = client.nextOutgoing() else {
                // The device is silent, or the client has ignored its response.
                guard let deadline = client.deadline else { return }
                now = max(now, deadline)
                client.handleDeadline(now: now)
                continue
            }
            sent.append(pdu)
            now += delay
            guard let request = try? ATTPDU(pdu.span), let response = response(to: request) else { continue }
            _ = client.receive(response.span, now: now)
        }
    }

    private mutating func response(to request: ATTPDU) -> [UInt8]? {
        let room = Int(client.mtu) - 1
        var response: [UInt8]?
        switch request {
        case .readRequest(let handle): response = values[handle].map { [0x0B] + $0.prefix(room) }
        case .readBlobRequest(let handle, let offset):
            response = values[handle].map { [0x0D] + $0.dropFirst(Int(offset)).prefix(room) }
        default: break
        }
        if response == nil {
            server.receive(request, from: link, mtu: Int(client.mtu), now: now)
            response = server.nextOutgoing(for: link, mtu: Int(client.mtu), canIndicate: true)?.encoded
            while server.nextEvent() != nil {}
        }
        guard request.opcode.kind == .request else { return nil }
        return change(request, response ?? [])
    }
}

extension HIDDiscovery.Progress {
    /// Device that was found; nil for any other progress.
    var device: HIDDevice? {
        guard case .found(let device) = self else { return nil }
        return device
    }
}
