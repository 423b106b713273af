// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import SystemPackage

extension CommandFailure {
    /// The adapter cannot be used.
    package init(_ error: AdapterError) {
        let status: ExitStatus =
            switch error {
            case .notPermitted: .permission
            case .system(_, .permissionDenied), .system(_, .notPermitted), .stream(_, .permissionDenied): .permission
            case .noBluetoothInKernel, .noAdapter, .notFound, .lowEnergyUnsupported, .blocked, .refused, .silent,
                .system, .stream, .controller:
                .unavailable
            }
        self.init(status, error.cause, remedy: error.remedy)
    }

    /// Listening failed.
    package init(_ error: ScanError) {
        let status: ExitStatus =
            switch error {
            case .notPermitted: .permission
            case .system: .inputOutput
            case .unsupported, .controller, .adapterGone: .unavailable
            }
        self.init(status, error.cause, remedy: error.remedy)
    }
}
