// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Texts

/// Has the kernel, where it is the host, forget the keys of a device, beside whoever uses the adapter.
final class UnpairRun {
    private let foreground: ForegroundRun
    private let devices: [DeviceAddress]
    private var hadKeys = false

    /// For a device by its address, of one type or of either.
    init(_ devices: [DeviceAddress], through transport: AdapterTransport) throws(CommandFailure) {
        self.devices = devices
        foreground = try ForegroundRun(transport)
    }

    /// True where the kernel had keys; false too where there is no adapter that could have.
    func run() throws -> Bool {
        do {
            try foreground.run { [unowned self] radio in
                if let adapter = radio.adapter {
                    unpair(devices[...], adapter)
                } else {
                    foreground.finish(.success(.success))
                }
            }
        } catch let failure as CommandFailure where failure.status == .unavailable {
            return false
        }
        return hadKeys
    }

    private func unpair(_ rest: ArraySlice<DeviceAddress>, _ adapter: any LowEnergyAdapter) {
        guard let device = rest.first else { return foreground.finish(.success(.success)) }
        adapter.unpair(device) { [unowned self] had in
            if had { hadKeys = true }
            unpair(rest.dropFirst(), adapter)
        }
    }
}
