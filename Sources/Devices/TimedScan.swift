// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import LinuxIO

/// One look at all devices around, for a while.
package final class TimedScan {
    private let radio: RadioArbiter
    private let scan: RadioScan
    private let timer = LoopTimer()

    /// Begins; `completion` is called once, unless the look is abandoned, with the table that the look began with and all
    /// that was heard since, or with why there is no look.
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

    /// Ends it at once, and says nothing.
    package func abandon() {
        timer.cancel()
        radio.stop(scan)
    }
}
