// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
import SystemPackage

/// Whether Bluetooth can be used.
public enum BluetoothState: Hashable, Sendable {
    /// Not known yet.
    case unknown
    /// It does not answer, or was lost a moment ago; it is looked for again.
    case resetting
    /// There is no adapter, or none with Low Energy.
    case unsupported
    /// This process may not use it.
    case unauthorized
    /// It is switched off.
    case poweredOff
    /// It can be used.
    case poweredOn
}

/// Why a connection ended, or did not come about.
public enum DisconnectReason: Hashable, Sendable, CustomStringConvertible {
    /// This side ended it.
    case requested
    /// The peer ended it.
    case byPeer
    /// Nothing was heard of the peer in time.
    case outOfReach
    /// The peer broke the Attribute Protocol's rules, or did not answer.
    case protocolFault(String)
    /// The adapter is gone or switched off.
    case adapterLost(String)
    /// The system refused or broke it.
    case system(String)

    init(_ failure: LinkFailure) {
        self =
            switch failure {
            case .system(.connectionReset), .closedByPeer: .byPeer
            case .system(.timedOut), .timedOut: .outOfReach
            case .bearer: .protocolFault("\(failure)")
            case .adapterLost(let reason): .adapterLost(reason)
            case .system(let error): .system("\(error)")
            }
    }

    /// A few words for people.
    public var description: String {
        switch self {
        case .requested: "ended by this side"
        case .byPeer: "ended by the device"
        case .outOfReach: LinkSentence.outOfReach
        case .protocolFault(let text), .adapterLost(let text), .system(let text): text
        }
    }
}

/// Why something of this library did not work.
public enum BluetoothError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Bluetooth cannot be used: what is wrong, and what mends it.
    case unavailable(BluetoothState, cause: String, remedy: String?)
    /// The scan ended by itself.
    case scanFailed(cause: String, remedy: String?)
    /// The connection could not be made, and trying again would not help.
    case connectionFailed(DisconnectReason)
    /// The connection ended while something was waited for.
    case disconnected(DisconnectReason)
    /// There is no connection.
    case notConnected
    /// The procedure failed.
    case procedure(GATTError)
    /// Advertising could not begin.
    case advertisingFailed(cause: String)
    /// The advertisement does not fit.
    case advertisementTooLong(AdvertisementLayout.Failure)
    /// The server's part cannot be done.
    case server(GATTServerError)
    /// Another server serves on this adapter.
    case serverExists
    /// The task was cancelled.
    case cancelled

    init(_ error: AdapterError) {
        let state: BluetoothState =
            switch error {
            case .noBluetoothInKernel, .noAdapter, .notFound, .lowEnergyUnsupported: .unsupported
            case .blocked: .poweredOff
            case .notPermitted, .system(_, .permissionDenied), .system(_, .notPermitted), .stream(_, .permissionDenied):
                .unauthorized
            case .refused, .silent, .system, .stream, .controller: .resetting
            }
        self = .unavailable(state, cause: error.cause, remedy: error.remedy)
    }

    init(_ error: ScanError) {
        self = .scanFailed(cause: error.cause, remedy: error.remedy)
    }

    /// One line for people.
    public var description: String {
        switch self {
        case .unavailable(_, let cause, let remedy), .scanFailed(let cause, let remedy):
            cause + (remedy.map { "; \($0)" } ?? "")
        case .connectionFailed(let reason): "no connection: \(reason)"
        case .disconnected(let reason): "the connection is no more: \(reason)"
        case .notConnected: "there is no connection"
        case .procedure(let error): "\(error)"
        case .advertisingFailed(let cause): "advertising failed: \(cause)"
        case .advertisementTooLong(let failure): "\(failure)"
        case .server(let error): "\(error)"
        case .serverExists: "another server serves on this adapter"
        case .cancelled: "cancelled"
        }
    }
}
