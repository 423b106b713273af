// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

extension KernelAdapter {
    /// How long the kernel may take from its answer to the end of the discovery.
    private static let discoveryTimeout = Duration.seconds(2)

    /// Makes the kernel end the active scan that runs, if it takes it for a discovery of its own; then it connects.
    ///
    /// `completion` is called with true when the kernel has switched the scan off, with false where that is still to be done.
    ///
    /// Kernels from 6.12 on take a raw active scan for a discovery, and begin no connection while it lasts. The scan must
    /// still be on: a kernel that need not send a command to end a discovery may be done before it notes that it has begun
    /// to, and then takes it for ending, and begins no connection, until another active scan has ended (on a busy machine 18
    /// of 3,561 times). It answers before the discovery has ended, so the event that ends it is waited for. Older kernels
    /// refuse the command, which does no harm.
    ///
    /// The corresponding C functions are `le_set_scan_enable_complete`, `stop_discovery` and `stop_discovery_complete`.
    func endDiscovery(completion: @escaping (_ isScanOff: Bool) -> Void) {
        management.send(.stopDiscovery(index, types: discoveryTypes)) { [weak self] reply in
            guard let self, case .status(.success, _) = reply else { return completion(false) }
            let timer = loop.schedule(at: MonotonicClock.now + Self.discoveryTimeout) { [weak self] in
                self?.onDiscoveryEnd = nil
                completion(false)
            }
            onDiscoveryEnd = { [weak self] in
                self?.onDiscoveryEnd = nil
                self?.loop.cancel(timer)
                completion(true)
            }
        }
    }
}
