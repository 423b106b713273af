// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// The host with a controller: the user's actions, the controller's answers and data, and the time come from the input.
struct HostEntry {
    private static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF000_0000_0001), .random)
    /// Maximum number of bytes that may be stored on behalf of other devices.
    private static let storage = 64 << 10

    private var host = LowEnergyHost(randomAddress: BluetoothAddress(rawValue: 1))
    private let isExtended: Bool
    private let dataLength: UInt8
    private let packetCount: UInt8
    private var now = Duration.zero
    private var connected: [UInt16] = []
    private var failure: HostFailure?
    private var broken: String?
    /// Number of further commands whose answers come from the input; later ones are answered correctly.
    private var hostile = 0

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var entry = HostEntry(input.byte(), input.byte())
        entry.exchange(&input)
        while !input.isAtEnd, entry.broken == nil, entry.failure == nil { entry.turn(&input) }
        return entry.broken ?? entry.finish(&input)
    }

    private init(_ kind: UInt8, _ hostile: UInt8) {
        isExtended = kind & 1 == 0
        dataLength = kind & 2 == 0 ? 27 : 251
        packetCount = kind & 4 == 0 ? 1 : 8
        self.hostile = hostile < 16 ? Int(hostile) : 0
    }

    private mutating func turn(_ input: inout FuzzInput) {
        let handle = connected.first ?? 1
        switch input.below(20) {
        case 0: host.connect(to: Self.peer, timeout: .seconds(input.below(30)), now: now)
        case 1: host.cancelConnection(to: Self.peer, now: now)
        case 2:
            _ = host.advertise(
                AdvertisingParameters(kind: .connectable, interval: 160),
                data: [2, 1, 6],
                scanResponse: []
            )
        case 3: host.stopAdvertising()
        case 4: _ = host.startScanning(ScanParameters(type: .active), devices: DeviceTable())
        case 5: host.stopScanning()
        case 6: host.disconnect(handle, now: now)
        case 7:
            for _ in 0...input.below(40) {
                _ = host.send([UInt8](repeating: 1, count: 1 + input.below(200)), on: handle)
            }
        case 8: hostile = input.below(16)
        case 9, 10: pass(&input)
        case 11: receive(connection(role: input.byte() & 1, handle: 1 + UInt16(input.below(20))))
        case 12: receive([4, 5, 4, 0, UInt8(handle & 0xFF), UInt8(handle >> 8), 0x13])
        case 13: receive([4, 0x13, 5, 1, UInt8(handle & 0xFF), UInt8(handle >> 8), input.byte(), 0])
        case 14: receive([4, 0x3E] + counted(input.bytes(80)))
        case 15: receive(input.bytes(80))
        default:
            let boundary = input.below(4)
            let piece = input.bytes(60)
            receive(
                [2, UInt8(handle & 0xFF), UInt8(handle >> 8 & 0x0F) | UInt8(boundary << 4)] + [UInt8(piece.count), 0]
                    + piece
            )
        }
        exchange(&input)
    }

    private func counted(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes }

    private func connection(role: UInt8, handle: UInt16) -> [UInt8] {
        let peer: [UInt8] = [1, 1, 0, 0, 0, 0, 0xF0]
        return [4, 0x3E, 19, 1, 0, UInt8(handle), 0, role] + peer + [0x18, 0, 0, 0, 0x90, 1, 0]
    }

    private mutating func receive(_ packet: [UInt8]) { host.receive(packet.span, now: now) }

    private mutating func pass(_ input: inout FuzzInput) {
        now += .milliseconds(Int(input.byte()) * 40)
        if let deadline = host.deadline, deadline <= now { host.handleDeadline(now: now) }
    }

    /// Transfers packets in both directions until the host has nothing more to send.
    private mutating func exchange(_ input: inout FuzzInput) {
        for _ in 0..<400 {
            take()
            guard failure == nil, broken == nil, let packet = host.nextOutgoing(now: now) else { return }
            check(packet)
            guard packet[0] == 1 else {
                receive([4, 0x13, 5, 1, packet[1], packet[2] & 0x0F, 1, 0])
                continue
            }
            if hostile > 0, !input.isAtEnd {
                hostile -= 1
                lie(packet, &input)
            } else {
                receive(answer(packet))
            }
        }
        broken = broken ?? "no end of commands"
    }

    private mutating func lie(_ packet: [UInt8], _ input: inout FuzzInput) {
        var honest = answer(packet)
        switch input.below(6) {
        case 0: break
        case 1: receive([4, 0x0F, 4, input.byte(), input.byte(), packet[1], packet[2]])
        case 2: receive([4, 0x0E] + counted([1, packet[1], packet[2]] + input.bytes(70)))
        case 3:
            honest[input.below(honest.count)] = input.byte()
            receive(honest)
        case 4:
            receive(honest)
            receive(honest)
        default: receive(honest)
        }
    }

    /// Returns the controller's answer to a command.
    private func answer(_ packet: [UInt8]) -> [UInt8] {
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        switch opcode {
        case .leCreateConnection, .leExtendedCreateConnection, .disconnect, .leConnectionUpdate:
            return [4, 0x0F, 4, 0, 1, packet[1], packet[2]]
        default: return [4, 0x0E] + counted([1, packet[1], packet[2], 0] + returns(opcode))
        }
    }

    private func returns(_ opcode: HCIOpcode) -> [UInt8] {
        switch opcode {
        case .readLocalSupportedCommands: (isExtended ? Self.allCommands : Self.legacyCommands).octets
        case .readLocalSupportedFeatures: [0, 0, 0, 0, 0x40, 0, 0, 0]
        case .readBDADDR: [1, 2, 3, 4, 5, 6]
        case .leReadBufferSize: [dataLength, 0, packetCount]
        case .leReadLocalSupportedFeatures: [2, 0, 0, 0, 0, 0, 0, 0]
        default: []
        }
    }

    private static let legacy: Set<SupportedCommands.Bit> = [
        .readLocalSupportedFeatures, .leSetScanParameters, .leSetScanEnable, .leSetAdvertisingEnable,
        .leCreateConnection,
    ]
    private static let legacyCommands = SupportedCommands(legacy)
    private static let allCommands = SupportedCommands(
        legacy.union([
            .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
            .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable,
        ])
    )

    private mutating func check(_ packet: [UInt8]) {
        switch packet.first {
        case 1 where packet.count >= 4 && packet.count == 4 + Int(packet[3]): break
        case 2 where packet.count >= 5 && packet.count == 5 + Int(packet[3]) + Int(packet[4]) << 8:
            if packet.count - 5 > Int(host.buffers?.dataLength ?? 0) { broken = "\(packet.count - 5) bytes of data" }
        default: broken = "sent what no controller reads: \(packet)"
        }
        let free = host.freeBufferCount
        if free < 0 || free > Int(host.buffers?.packetCount ?? 0) { broken = "\(free) free buffers" }
    }

    private mutating func take() {
        if host.storedBytes > Self.storage { broken = "\(host.storedBytes) bytes kept" }
        while let event = host.nextEvent() {
            if failure != nil { broken = "\(event) after the end" }
            switch event {
            case .failed(let reason): failure = reason
            case .connected(let connection): connected.append(connection.handle)
            case .disconnected(let connection, _):
                guard let index = connected.firstIndex(of: connection.handle) else {
                    return broken = "the end of a connection that nobody heard of"
                }
                connected.remove(at: index)
            default: break
            }
        }
        if connected.count > LowEnergyHost.maximumConnections { broken = "\(connected.count) connections" }
    }

    /// Checks that all pending operations end with a well-behaved controller, or that the host gives up.
    ///
    /// A host in use continues to probe its controller, at increasing intervals.
    private mutating func finish(_ input: inout FuzzInput) -> String? {
        var late = 0
        for _ in 0..<200 {
            exchange(&input)
            guard failure == nil, broken == nil, let deadline = host.deadline else { return broken }
            late = deadline > now ? 0 : late + 1
            if late > 20 { return "a deadline that has passed and stays" }
            now = max(now, deadline)
            host.handleDeadline(now: now)
        }
        return host.isInUse ? nil : "deadlines for ever"
    }
}
