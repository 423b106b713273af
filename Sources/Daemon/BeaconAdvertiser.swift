// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import BluetoothLE
package import Texts

/// Being a beacon (SW-13): an advertisement that nobody can connect to, through the arbiter, beside both other roles.
package final class BeaconAdvertiser {
    package enum State: String, Sendable {
        case off
        /// Beginning, or waiting for an adapter.
        case starting
        case on
        /// The controller, or the kernel, does not.
        case failed
    }

    /// How often a second the frame is sent: as iBeacons do.
    private static let interval = Duration.milliseconds(100)

    /// The beacon that is wanted; nil for none.
    package private(set) var frame: BeaconFrame?
    package private(set) var state = State.off
    /// Why it does not advertise; nil where it does, or is off.
    package private(set) var failure: CommandFailure?
    package var onChange: (() -> Void)?

    private let radio: RadioArbiter
    private var server: ServerCore?

    /// Advertises nothing yet.
    package init(on radio: RadioArbiter) {
        self.radio = radio
    }

    /// Advertises a beacon from now on, in the place of the one before.
    package func start(_ frame: BeaconFrame) {
        self.frame = frame
        begin()
    }

    /// Begins, or begins again, where a beacon is wanted: an adapter has come.
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

    /// The adapter is gone, and the advertisement with it; `begin` begins again.
    package func adapterLost() {
        if frame != nil { enter(.starting, nil) }
    }

    /// Advertises no more; false where nothing was advertised.
    ///
    /// `completion` is called when the controller has stopped.
    @discardableResult
    package func stop(completion: @escaping () -> Void = {}) -> Bool {
        guard frame != nil else {
            completion()
            return false
        }
        frame = nil
        enter(.off, nil)
        // Whoever else serves on the adapter may, from now on.
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
