// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

extension Adapter {
    /// How long the kernel may take from its answer to the end of the discovery.
    private static let discoveryTimeout = Duration.seconds(2)

    /// Makes the kernel believe no more that a discovery runs, after a raw active scan; then it connects.
    ///
    /// Kernels from 6.12 on take a raw active scan for a discovery of their own, and would not connect while it lasts. They
    /// answer Stop Discovery before the discovery has ended, and a connection asked for in between is never begun: so the
    /// event that ends it is waited for. Older kernels refuse the command, which does no harm, and send no event.
    func endDiscovery(completion: @escaping () -> Void) {
        var isDone = false
        let finish = { [weak self] in
            guard !isDone else { return }
            isDone = true
            self?.onDiscoveryEnd = nil
            completion()
        }
        onDiscoveryEnd = finish
        management.send(.stopDiscovery(index, types: [])) { [weak self] reply in
            guard case .status(.success, _) = reply, let self else {
                finish()
                return
            }
            _ = loop.schedule(at: MonotonicClock.now + Self.discoveryTimeout, handler: finish)
        }
    }
}
