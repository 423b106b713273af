// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Devices

/// Receiver of the values that a device advertises, in place of a connection.
///
/// Used on the event loop's thread.
final class AdvertisementListener {
    /// Handler of each advertised value, including repeated ones.
    var onValue: ((Span<UInt8>) -> Void)?
    /// Handler for the end of the scan because it failed.
    var onFailure: ((ScanError) -> Void)?

    private let radio: RadioArbiter
    private let scan: RadioScan

    init(_ device: DeviceAddress, _ field: AdvertisedField, on radio: RadioArbiter) {
        self.radio = radio
        let filter = ScanFilter(identity: .init(device.address, device.type, advertisedAt: nil))
        scan = RadioScan(.background, devices: DeviceTable(filter: filter, reportsDuplicates: true))
        scan.onUpdate = { [unowned self] update in
            // The data of a known device contains fields of its scan response, which does not change the value.
            if let value = field.value(in: update.device.data) { onValue?(value.span) }
        }
        scan.onFailure = { [unowned self] error in onFailure?(error) }
    }

    func start() { radio.start(scan) }

    /// Stops the scan; `completion` is called when the controller has stopped, or scans only for others.
    func stop(completion: @escaping () -> Void) {
        (onValue, onFailure) = (nil, nil)
        radio.stop(scan, completion: completion)
    }
}
