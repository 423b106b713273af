// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
import SystemPackage

/// Somebody's wish to be connected to a device, which an arbiter fulfils when the radio is free for it.
///
/// To be used on the loop's thread.
package final class RadioAttempt {
    /// How long a device is tried.
    package enum Patience: Equatable, Sendable {
        /// Once, for so long.
        case once(Duration)
        /// Again and again, in turn with the other devices that are tried, until it succeeds, is cancelled, or fails in a way
        /// that trying again would not change (CB-6).
        case forever
    }

    /// How long one turn of a device that is tried again and again takes.
    private static let turn = Duration.seconds(10)

    /// The device.
    package let device: DeviceAddress
    let patience: Patience
    /// The connection that is being made for it; nil while it waits for its turn.
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

    /// How long the connection that is begun now may take.
    var timeout: Duration {
        switch patience {
        case .once(let timeout): timeout
        case .forever: Self.turn
        }
    }

    /// Whether another try may bring what this one did not.
    func isWorthTryingAgain(after failure: LinkFailure) -> Bool {
        patience == .forever && failure.isPassing
    }

    /// Tells how it ended, once.
    func finish(_ result: Result<ATTLink, LinkFailure>) {
        connection = nil
        let handler = completion
        completion = nil
        handler?(result)
    }

    /// Gives it up; nothing is told any more.
    func abandon() {
        completion = nil
        connection?.cancel()
        connection = nil
    }
}

extension LinkFailure {
    /// True where the device may only be away, or the controller busy.
    fileprivate var isPassing: Bool {
        switch self {
        case .timedOut, .closedByPeer: true
        case .system(let error):
            switch error {
            case .timedOut, .connectionRefused, .connectionReset, .connectionAbort, .hostIsDown, .noRouteToHost,
                .resourceBusy, .alreadyInProcess:
                true
            default: false
            }
        case .bearer, .adapterLost: false
        }
    }
}
