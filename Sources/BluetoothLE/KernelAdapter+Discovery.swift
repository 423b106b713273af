// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

extension KernelAdapter {
    /// How long the kernel may take from its answer to the end of the discovery.
    private static let discoveryTimeout = Duration.seconds(2)

    /// How often, and how soon again, a kernel is asked that is busy with the end of the scan.
    private static let discoveryAttempts = 20
    private static let discoveryInterval = Duration.milliseconds(50)

    /// Makes the kernel believe no more that a discovery runs, after a raw active scan; then it connects.
    ///
    /// Kernels from 6.12 on take a raw active scan for a discovery of their own, and would not connect while it lasts. They
    /// answer Stop Discovery before the discovery has ended, and a connection asked for in between is never begun: so the
    /// event that ends it is waited for. A kernel that has not yet taken note of the scan's own end tries to end it again,
    /// which the controller refuses, and answers Busy: it is asked again. Older kernels refuse the command, which does no
    /// harm, and send no event.
    func endDiscovery(completion: @escaping () -> Void) {
        var isDone = false
        let finish = { [weak self] in
            guard !isDone else { return }
            isDone = true
            self?.onDiscoveryEnd = nil
            completion()
        }
        onDiscoveryEnd = finish
        askToEndDiscovery(attempts: Self.discoveryAttempts, finish)
    }

    private func askToEndDiscovery(attempts: Int, _ finish: @escaping () -> Void) {
        management.send(.stopDiscovery(index, types: [])) { [weak self] reply in
            guard let self else { return finish() }
            switch reply {
            case .status(.success, _):
                _ = loop.schedule(at: MonotonicClock.now + Self.discoveryTimeout, handler: finish)
            case .status(.busy, _) where attempts > 1:
                _ = loop.schedule(at: MonotonicClock.now + Self.discoveryInterval) { [weak self] in
                    guard let self else { return finish() }
                    askToEndDiscovery(attempts: attempts - 1, finish)
                }
            case .status, .timedOut: finish()
            }
        }
    }
}
