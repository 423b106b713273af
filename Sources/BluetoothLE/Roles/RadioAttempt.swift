// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
import SystemPackage

/// An attempt to connect to a device, which waits in a `RadioArbiter` for its turn on the radio.
///
/// It is used on the loop's thread.
package final class RadioAttempt {
    /// The limit of an attempt.
    package enum Patience: Equatable, Sendable {
        /// One connection, with this timeout.
        case once(Duration)
        /// Connections one after another, in turn with the attempts for other devices, until one succeeds, the
        /// attempt is cancelled, or a connection fails for a reason that another would not change (CB-6).
        case forever
    }

    /// The timeout of each connection under `Patience.forever`.
    private static let turn = Duration.seconds(10)

    /// The address of the device.
    package let device: DeviceAddress
    /// The limit of the attempt.
    let patience: Patience
    /// The connection being made; nil while the attempt waits for its turn.
    var connection: (any ConnectionAttempt)?
    private var completion: ((Result<ATTLink, LinkFailure>) -> Void)?

    init(
        _ device: DeviceAddress,
        _ patience: Patience,
        _ completion: @escaping (Result<ATTLink, LinkFailure>) -> Void
    ) {
        self.device = device
        self.patience = patience
        self.completion = completion
    }

    /// The timeout of the next connection.
    var timeout: Duration {
        switch patience {
        case .once(let timeout): timeout
        case .forever: Self.turn
        }
    }

    /// True if the attempt is to be repeated after this failure.
    func isWorthTryingAgain(after failure: LinkFailure) -> Bool {
        patience == .forever && failure.isPassing
    }

    /// Calls the completion handler with the result; calls after the first do nothing.
    func finish(_ result: Result<ATTLink, LinkFailure>) {
        connection = nil
        let handler = completion
        completion = nil
        handler?(result)
    }

    /// Cancels the attempt.
    ///
    /// The completion handler is not called.
    func abandon() {
        completion = nil
        connection?.cancel()
        connection = nil
    }
}

extension LinkFailure {
    /// True for a failure that may pass: the device may be out of reach, or the controller busy.
    fileprivate var isPassing: Bool {
        switch self {
        case .timedOut, .closedByPeer, .notEstablished, .refused: true
        case .system(let error):
            switch error {
            case .timedOut, .connectionRefused, .connectionReset, .connectionAbort, .hostIsDown, .noRouteToHost,
                .resourceBusy, .alreadyInProcess:
                true
            default: false
            }
        case .bearer, .adapterLost, .notSecured: false
        }
    }
}
