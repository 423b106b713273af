// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets
import SystemPackage

/// The availability of Bluetooth on this machine.
public enum BluetoothState: Hashable, Sendable {
    /// No attempt to open an adapter has finished yet.
    case unknown
    /// The adapter does not answer, or was lost; attempts to open it continue.
    case resetting
    /// There is no adapter, or no adapter with Low Energy.
    case unsupported
    /// This process lacks the permission to use the adapter.
    case unauthorized
    /// The adapter is powered off or blocked.
    case poweredOff
    /// The adapter can be used.
    case poweredOn
}

/// The reason why a connection ended or could not be made.
public enum DisconnectReason: Hashable, Sendable, CustomStringConvertible {
    /// This host ended the connection.
    case requested
    /// The peer ended the connection.
    case byPeer
    /// The supervision time-out expired, or the device did not answer the connection request in time.
    case outOfReach
    /// The peer violated the Attribute Protocol, or did not answer within its time-out of 30 s.
    case protocolFault(String)
    /// The adapter was lost or powered off; the text is the cause.
    case adapterLost(String)
    /// A system call failed; the text describes the error.
    case system(String)

    package init(_ failure: LinkFailure) {
        self =
            switch failure {
            case .system(.connectionReset), .closedByPeer: .byPeer
            case .system(.timedOut), .timedOut, .notEstablished: .outOfReach
            case .bearer: .protocolFault("\(failure)")
            case .adapterLost(let reason): .adapterLost(reason)
            case .system(let error): .system("\(error)")
            case .refused, .notSecured: .system("\(failure)")
            }
    }

    /// A short English message.
    public var description: String {
        switch self {
        case .requested: "ended by this side"
        case .byPeer: "ended by the device"
        case .outOfReach: LinkErrorDescription.outOfReach
        case .protocolFault(let text), .adapterLost(let text), .system(let text): text
        }
    }
}

/// An error of this library.
public enum BluetoothError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Bluetooth cannot be used; the values are the state, the cause, and the remedy if one is known.
    case unavailable(BluetoothState, cause: String, remedy: String?)
    case scanFailed(cause: String, remedy: String?)
    /// The connection could not be made, for a permanent reason.
    case connectionFailed(DisconnectReason)
    /// The connection ended before the operation.
    case disconnected(DisconnectReason)
    /// The connection or the pairing did not succeed within the caller's time-out.
    case timedOut
    /// There is no bond, its security is too low, or the device did not prove that it has the bond's keys.
    case notSecured
    case pairingFailed(ManagedPairing.Failure)
    /// The operation requires a connection.
    case notConnected
    /// The device has no characteristic with the first UUID, or not in a service with the second UUID.
    case noCharacteristic(BluetoothUUID, service: BluetoothUUID?)
    case procedure(GATTError)
    /// Advertising could not be started.
    case advertisingFailed(cause: String)
    /// The data does not fit into the advertisement and the scan response, which have 31 bytes each.
    case advertisementTooLong(AdvertisementLayout.Failure)
    /// The GATT server refused the operation.
    case server(GATTServerError)
    /// Another server that has advertised on this adapter still exists.
    case serverExists
    /// The waiting task was cancelled, or another call has replaced the operation.
    case cancelled

    package init(_ error: AdapterError) {
        let state: BluetoothState =
            switch error {
            case .noBluetoothInKernel, .unknownToKernel, .noAdapter, .notFound, .lowEnergyUnsupported: .unsupported
            case .blocked: .poweredOff
            case .notPermitted, .system(_, .permissionDenied), .system(_, .notPermitted), .stream(_, .permissionDenied):
                .unauthorized
            case .refused, .silent, .system, .stream, .controller: .resetting
            }
        self = .unavailable(state, cause: error.cause, remedy: error.remedy)
    }

    package init(_ error: ScanError) {
        self = .scanFailed(cause: error.cause, remedy: error.remedy)
    }

    /// A one-line English message.
    public var description: String {
        switch self {
        case .unavailable(_, let cause, let remedy), .scanFailed(let cause, let remedy):
            cause + (remedy.map { "; \($0)" } ?? "")
        case .connectionFailed(let reason): "cannot connect: \(reason)"
        case .disconnected(let reason): "disconnected: \(reason)"
        case .timedOut: "the connection or the pairing timed out"
        case .notSecured: "there is no bond, the bond is too weak, or the device does not have its keys"
        case .pairingFailed(let failure): "pairing failed: \(failure)"
        case .notConnected: "the device is not connected"
        case .noCharacteristic(let uuid, let service):
            "the device has no characteristic \(uuid)" + (service.map { " in a service \($0)" } ?? "")
        case .procedure(let error): "\(error)"
        case .advertisingFailed(let cause): "advertising failed: \(cause)"
        case .advertisementTooLong(let failure): "\(failure)"
        case .server(let error): "\(error)"
        case .serverExists: "another server uses this adapter"
        case .cancelled: "the operation was cancelled"
        }
    }
}
