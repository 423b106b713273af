// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// State of an application's `BluetoothAdapter` on the loop's thread: the adapter, its central role, and its pairings.
///
/// The daemon uses only `AdapterCore`.
final class AdapterRoles {
    let core: AdapterCore
    /// The central role's state: its scan and its connections.
    let central: CentralCore
    /// The pairings and bonds of both roles.
    let pairings: PairingCore

    init(_ core: AdapterCore) {
        self.core = core
        central = CentralCore(core.radio)
        pairings = PairingCore(core.radio)
        core.onEvent = { [unowned self] event in
            switch event {
            case .ready(let adapter): pairings.use(on: adapter)
            case .failed: break
            case .lost(let loss):
                central.adapterLost(loss.cause)
                pairings.adapterLost()
            }
        }
    }
}
