// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A scan for all devices in range, with a time limit.
package final class TimedScan {
    private let radio: RadioArbiter
    private let scan: RadioScan
    private let timer = LoopTimer()

    /// Starts the scan.
    ///
    /// `completion` is called once, unless the scan is abandoned. Its argument is the table with all devices heard, in
    /// addition to the initial devices, or the error.
    package init(
        at devices: DeviceTable,
        for duration: Duration,
        on radio: RadioArbiter,
        completion: @escaping (Result<DeviceTable, ScanError>) -> Void
    ) {
        self.radio = radio
        scan = RadioScan(.discovery, devices: devices)
        scan.onFailure = { [unowned self] error in
            timer.cancel()
            completion(.failure(error))
        }
        timer.set(on: radio.loop, after: duration) { [unowned self] in
            scan.onFailure = nil
            scan.expireDevices()
            let heard = scan.devices
            radio.stop(scan) { completion(.success(heard)) }
        }
        radio.start(scan)
    }

    /// Stops the scan immediately, without calling `completion`.
    package func abandon() {
        timer.cancel()
        radio.stop(scan)
    }
}
