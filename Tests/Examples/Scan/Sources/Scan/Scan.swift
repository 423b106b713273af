// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// Prints each received device, and prints it again when its data change, until Ctrl-C.
@main
struct Scan {
    static func main() async throws {
        let central = Central(try await BluetoothAdapter.open())
        for try await report in try await central.scan() {
            let device = report.device
            print("\(device.address)  \(device.rssi.map { "\($0) dBm" } ?? "?")  \(device.name?.printable ?? "")")
        }
    }
}
