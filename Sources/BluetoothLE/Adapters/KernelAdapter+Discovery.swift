// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

extension KernelAdapter {
    /// The longest time from the kernel's answer to the end of the discovery.
    private static let discoveryTimeout = Duration.seconds(2)

    /// Makes the kernel end the discovery for which it takes the running active scan, so that it can connect.
    ///
    /// `completion` is called with true when the kernel has switched the scan off, with false when that is still to
    /// be done.
    ///
    /// Kernels from 6.12 on take a raw active scan for a discovery, and begin no connection while it lasts. The scan
    /// has to be running when the command is sent: a kernel that need not send a command to end a discovery may end
    /// it before it notes that it is ending, and then begins no connection until another active scan has ended (seen
    /// on a busy machine, in 18 of 3,561 cases). The kernel answers before the discovery has ended, so this method
    /// waits for the event of its end. Older kernels refuse the command, which does no harm.
    ///
    /// The corresponding C functions are `le_set_scan_enable_complete`, `stop_discovery` and
    /// `stop_discovery_complete`.
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
