// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// A scan by this library's host stack.
///
/// An adapter runs one scan at a time: the one that was started last.
package final class HostScanner: DeviceScanner {
    private let adapter: HostAdapter
    private var onStopped: (() -> Void)?
    private var isClosed = false

    package var onUpdate: ((DeviceTable.Update) -> Void)?
    package var onStarted: (() -> Void)?
    package var onFailure: ((ScanError) -> Void)?
    /// Never called: only this process uses the controller.
    package var onDisturbed: (() -> Void)?
    package var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)?

    init(_ adapter: HostAdapter) {
        self.adapter = adapter
    }

    package func start(_ parameters: ScanParameters, devices: DeviceTable) {
        guard !isClosed else { return }
        onStopped = nil
        adapter.activeScanner = self
        guard adapter.perform({ $0.startScanning(parameters, devices: devices) }) else {
            adapter.later { [weak self] in self?.noteFailure(.unsupported) }
            return
        }
    }

    package func stop(completion: @escaping () -> Void) {
        let isIdle = adapter.perform { $0.isScanIdle }
        guard !isClosed, !isIdle, adapter.activeScanner === self else {
            adapter.later(completion)
            return
        }
        onStopped = completion
        adapter.perform { $0.stopScanning() }
    }

    package func close() {
        guard !isClosed else { return }
        isClosed = true
        onStopped = nil
        guard adapter.activeScanner === self else { return }
        adapter.activeScanner = nil
        adapter.perform { $0.stopScanning() }
    }

    /// Devices heard since the scan was started.
    package var devices: DeviceTable { adapter.perform { $0.scannedDevices } ?? DeviceTable() }

    package func expireDevices() {
        adapter.perform { $0.expireDevices(now: MonotonicClock.now) }
    }

    package var droppedReports: UInt32 { UInt32(clamping: adapter.counters.dropped) }

    func noteStart() {
        guard !isClosed else { return }
        onStarted?()
    }

    func noteStop() {
        let handler = onStopped
        onStopped = nil
        handler?()
    }

    func noteFailure(_ error: ScanError) {
        guard !isClosed else { return }
        let stopped = onStopped
        onStopped = nil
        if let stopped { stopped() } else { onFailure?(error) }
    }
}
