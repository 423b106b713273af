// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// An attempt to connect that the host stack of this library makes.
final class HostAttempt: ConnectionAttempt {
    let device: DeviceAddress
    let timeout: Duration
    private weak var adapter: HostAdapter?
    private var completion: ((Result<any ATTChannel, LinkFailure>) -> Void)?

    init(
        _ device: DeviceAddress,
        _ timeout: Duration,
        _ adapter: HostAdapter,
        _ completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) {
        self.device = device
        self.timeout = timeout
        self.adapter = adapter
        self.completion = completion
    }

    package func cancel() {
        completion = nil
        adapter?.cancel(self)
    }

    func finish(_ result: Result<any ATTChannel, LinkFailure>) {
        let handler = completion
        completion = nil
        handler?(result)
    }
}
