// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// An event of a controller (Core 6.0, Vol 4, Part E, 5.4.4 and 7.7).
struct ControllerEvent {
    let code: UInt8
    /// Subevent of LE Meta; nil for all other events.
    let subevent: LESubevent?
    private let parameters: [UInt8]

    init(_ code: UInt8, _ parameters: [UInt8]) {
        self.code = code
        subevent = nil
        self.parameters = parameters
    }

    init(_ subevent: LESubevent, _ parameters: [UInt8]) {
        code = HCIEvent.Code.leMeta
        self.subevent = subevent
        self.parameters = [subevent.rawValue] + parameters
    }

    /// Complete packet, including the packet indicator.
    var packet: [UInt8] { [HCIPacketType.event.rawValue, code, UInt8(clamping: parameters.count)] + parameters }

    static func commandComplete(_ opcode: HCIOpcode, credits: UInt8, _ returned: [UInt8]) -> Self {
        Self(HCIEvent.Code.commandComplete, ByteWriter.bytes(credits, opcode.rawValue, returned))
    }

    static func commandStatus(_ status: HCIStatus, _ opcode: HCIOpcode, credits: UInt8) -> Self {
        Self(HCIEvent.Code.commandStatus, ByteWriter.bytes(status.rawValue, credits, opcode.rawValue))
    }

    static func hardwareError(_ code: UInt8) -> Self { Self(HCIEvent.Code.hardwareError, [code]) }

    /// Data Buffer Overflow for an ACL link (7.7.26).
    static let dataBufferOverflow = Self(HCIEvent.Code.dataBufferOverflow, [0x01])

    /// Creates Number Of Completed Packets (7.7.19).
    static func completedPackets(_ handle: UInt16, _ count: Int) -> Self {
        Self(HCIEvent.Code.numberOfCompletedPackets, ByteWriter.bytes(UInt8(1), handle, UInt16(clamping: count)))
    }

    /// Creates Disconnection Complete (7.7.5).
    static func disconnectionComplete(_ handle: UInt16, _ reason: HCIStatus) -> Self {
        let parameters = ByteWriter.bytes(HCIStatus.success.rawValue, handle, reason.rawValue)
        return Self(HCIEvent.Code.disconnectionComplete, parameters)
    }

    /// Creates LE Connection Update Complete (7.7.65.3).
    static func updateComplete(_ handle: UInt16, _ status: HCIStatus, _ parameters: ConnectionParameters) -> Self {
        Self(.connectionUpdateComplete, ByteWriter.bytes(status.rawValue, handle, parameters.timing))
    }

    /// Creates LE Remote Connection Parameter Request (7.7.65.6).
    static func parameterRequest(_ handle: UInt16, _ parameters: ConnectionParameters) -> Self {
        Self(.remoteConnectionParameterRequest, ByteWriter.bytes(handle, parameters))
    }

    /// Creates LE Read Remote Features Complete (7.7.65.4).
    static func remoteFeatures(_ handle: UInt16, _ peer: VirtualController.Generation) -> Self {
        let features = ControllerIdentity.lowEnergyFeatures(peer)
        return Self(.readRemoteFeaturesComplete, ByteWriter.bytes(HCIStatus.success.rawValue, handle, features))
    }

    /// Creates Read Remote Version Information Complete (7.7.12).
    static func remoteVersion(_ handle: UInt16, _ peer: VirtualController.Generation) -> Self {
        let version = ControllerIdentity.version(peer)
        let company = ControllerIdentity.company
        return Self(0x0C, ByteWriter.bytes(HCIStatus.success.rawValue, handle, version, company, UInt16(0)))
    }

    /// Creates LE Long Term Key Request (7.7.65.5).
    static func keyRequest(_ handle: UInt16, random: UInt64, diversifier: UInt16) -> Self {
        Self(.longTermKeyRequest, ByteWriter.bytes(handle, random, diversifier))
    }

    /// Creates Encryption Change, or Encryption Key Refresh Complete (7.7.8 and 7.7.39).
    static func encryption(_ handle: UInt16, _ status: HCIStatus, isRefresh: Bool) -> Self {
        let isOn: [UInt8] = isRefresh ? [] : [status == .success ? 1 : 0]
        let code = isRefresh ? HCIEvent.Code.encryptionKeyRefreshComplete : HCIEvent.Code.encryptionChange
        return Self(code, ByteWriter.bytes(status.rawValue, handle, isOn))
    }

    /// Creates LE Advertising Set Terminated (7.7.65.18).
    static func setTerminated(_ status: HCIStatus, _ set: UInt8, connection: UInt16, events: UInt8) -> Self {
        Self(.advertisingSetTerminated, ByteWriter.bytes(status.rawValue, set, connection, events))
    }

    /// Creates LE Scan Request Received (7.7.65.19).
    static func scanRequest(_ set: UInt8, from scanner: DeviceAddress) -> Self {
        Self(LESubevent(rawValue: 0x13), ByteWriter.bytes(set, scanner.type.rawValue, scanner.address))
    }
}

/// Outcome of a connection attempt; if the attempt failed, all fields except the status and the role are zero.
struct ConnectionCompletion {
    var status = HCIStatus.success
    var handle: UInt16 = 0
    var role: ConnectionRole
    var peer = DeviceAddress(BluetoothAddress(rawValue: 0), .public)
    var parameters = ConnectionParameters(minimumInterval: 0, maximumInterval: 0, latency: 0, supervisionTimeout: 0)

    /// Creates LE Enhanced Connection Complete [v1], or LE Connection Complete (Core 6.0, Vol 4, Part E, 7.7.65.10 and
    /// 7.7.65.1).
    func event(isEnhanced: Bool) -> ControllerEvent {
        // Neither side generated a resolvable private address.
        let generated = [UInt8](repeating: 0, count: isEnhanced ? 12 : 0)
        let peer = ByteWriter.bytes(role.rawValue, peer.type.rawValue, peer.address, generated)
        // The central's clock accuracy is 50 ppm; the field has no meaning in the central's own event.
        let clockAccuracy: UInt8 = status == .success && role == .peripheral ? 0x05 : 0x00
        return ControllerEvent(
            isEnhanced ? .enhancedConnectionComplete : .connectionComplete,
            ByteWriter.bytes(status.rawValue, handle, peer, parameters.timing, clockAccuracy)
        )
    }
}

extension ConnectionParameters {
    /// Conn_Interval, Peripheral_Latency and Supervision_Timeout as event parameters.
    fileprivate var timing: [UInt8] { ByteWriter.bytes(maximumInterval, latency, supervisionTimeout) }
}
