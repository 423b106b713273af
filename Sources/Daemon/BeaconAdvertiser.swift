// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import BluetoothAdapters
import BluetoothHost
package import Texts

/// Advertiser that sends the advertisements of a beacon (SW-13).
///
/// The advertisements are not connectable. The arbiter schedules them together with scanning and connecting.
package final class BeaconAdvertiser {
    package enum State: String, Sendable {
        case off
        /// Advertising is starting, or there is no adapter yet.
        case starting
        case on
        /// Advertising failed, for example because the controller or the kernel refused it.
        case failed
    }

    /// Advertising interval, which is that of iBeacons.
    private static let interval = Duration.milliseconds(100)

    /// Beacon to advertise; nil if none is requested.
    package private(set) var frame: BeaconFrame?
    package private(set) var state = State.off
    /// Reason for the state `failed`; nil in all other states.
    package private(set) var failure: CommandFailure?
    package var onChange: (() -> Void)?

    private let radio: RadioArbiter
    private var server: ServerCore?

    /// Creates an advertiser; advertising begins with `start`.
    package init(on radio: RadioArbiter) {
        self.radio = radio
    }

    /// Advertises this beacon in place of the previous one.
    package func start(_ frame: BeaconFrame) {
        self.frame = frame
        begin()
    }

    /// Starts advertising the requested beacon, if any, on the current adapter.
    package func begin() {
        guard let frame else { return }
        enter(.starting, nil)
        do {
            let server = try self.server ?? makeServer()
            self.server = server
            let layout = try AdvertisementLayout(frame.content(), canBeAsked: false)
            let advertisement = Advertisement(data: layout.data, isConnectable: false, interval: Self.interval)
            try server.advertise(advertisement) { [weak self] result in
                guard let self, self.frame == frame else { return }
                switch result {
                case .success: enter(.on, nil)
                case .failure(let error): fail(error)
                }
            }
        } catch let error as BluetoothError {
            fail(error)
        } catch {
            enter(.failed, CommandFailure(.internal, BeaconFaultText.notAdvertised, "\(error)"))
        }
    }

    /// Records the loss of the adapter, which ends advertising; `begin` restarts advertising.
    package func adapterLost() {
        if frame != nil { enter(.starting, nil) }
    }

    /// Stops advertising; returns false if no beacon was advertised.
    ///
    /// `completion` is called when the controller has stopped advertising.
    @discardableResult
    package func stop(completion: @escaping () -> Void = {}) -> Bool {
        guard frame != nil else {
            completion()
            return false
        }
        frame = nil
        enter(.off, nil)
        // Release the server, so that another one may use the adapter.
        let server = server.take()
        guard let server else {
            completion()
            return true
        }
        server.stopAdvertising {
            server.close()
            completion()
        }
        return true
    }

    private func makeServer() throws -> ServerCore {
        ServerCore(
            radio,
            try GATTDatabaseBuilder(deviceName: "").database,
            onEvent: { _, _ in },
            onConnection: { _, _, _ in }
        )
    }

    private func fail(_ error: BluetoothError) {
        enter(.failed, CommandFailure(.unavailable, BeaconFaultText.notAdvertised, "\(error)"))
    }

    private func enter(_ state: State, _ failure: CommandFailure?) {
        self.state = state
        self.failure = failure
        onChange?()
    }
}
