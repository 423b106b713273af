// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Control
import Devices
package import Texts

/// Availability of beacons on this machine, with the reason if they cannot be watched (SW-2).
package struct BeaconAvailability: Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case possible
        case starting
        case unconfigured
        case noAdapter = "no-adapter"
        case off
        case forbidden
        /// The adapter or the kernel does not support beacons.
        case unsupported
        /// The adapter or its scan has failed; a retry follows.
        case failed
    }

    package let state: State
    /// Cause and remedy; nil if beacons can be watched.
    package let reason: Reason?

    private init(_ state: State, _ reason: Reason?) {
        self.state = state
        self.reason = reason
    }

    private init(_ state: State, _ text: BeaconFaultText) {
        self.init(state, Reason(CommandFailure(.unavailable, text)))
    }

    /// Conditions for beacons (SW-22): the device supports them, its settings permit them, and Bluetooth is on.
    ///
    /// Each condition is nil if it is unknown.
    package var conditions: (device: Bool?, settings: Bool?, isOn: Bool?) {
        switch state {
        case .possible: (true, true, true)
        case .off: (true, true, false)
        case .forbidden: (true, false, nil)
        case .noAdapter, .unsupported: (false, false, false)
        case .starting, .unconfigured, .failed: (nil, nil, nil)
        }
    }

    package static let possible = BeaconAvailability(.possible, nil)
    static let starting = BeaconAvailability(.starting, .adapterAwaited)
    static let unconfigured = BeaconAvailability(.unconfigured, .unconfigured)

    package init(_ error: AdapterError) {
        let failure = CommandFailure(error)
        let state: State =
            switch error {
            case .blocked: .off
            case .noBluetoothInKernel, .noAdapter, .notFound: .noAdapter
            case .lowEnergyUnsupported: .unsupported
            default: failure.status == .permission ? .forbidden : .failed
            }
        self.init(state, Reason(failure))
    }

    package init(_ loss: AdapterLoss) {
        let state: State =
            switch loss {
            case .removed: .noAdapter
            case .switchedOff: .off
            case .failed: .failed
            }
        self.init(state, Reason(loss))
    }

    /// Creates the availability for an adapter that this process may not use.
    package init(refused refusal: CommandFailure) {
        self.init(refusal.status == .permission ? .forbidden : .noAdapter, Reason(refusal))
    }

    /// Creates the availability after a failed scan.
    ///
    /// Returns nil if the adapter was lost, because that is reported separately.
    package init?(_ error: ScanError) {
        let state: State
        switch error {
        case .adapterGone: return nil
        case .notPermitted: state = .forbidden
        case .unsupported, .controller(.refused(_, .unknownHCICommand)): state = .unsupported
        case .system, .controller: state = .failed
        }
        self.init(state, Reason(CommandFailure(error)))
    }

    /// Translatable texts of the members, for clients that use another language.
    var forms: [(name: String, message: Message?)] {
        [("availabilityCause", reason?.cause), ("availabilityRemedy", reason?.remedy)]
    }

    var members: JSONObject {
        var object = JSONObject()
        object.add("available", state == .possible)
        object.add("availability", state.rawValue)
        for (name, message) in forms { object.add(name, message) }
        return object
    }
}
