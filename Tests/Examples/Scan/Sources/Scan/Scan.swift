// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Foundation

/// Prints each received device, and prints it again when its data change, until Ctrl-C.
@main
struct Scan {
    static func main() async {
        do {
            try await printDevices()
        } catch {
            // An error that `main` throws would end the program with a stack trace.
            FileHandle.standardError.write(Data("Scan: \(error)\n".utf8))
            exit(1)
        }
    }

    static func printDevices() async throws(BluetoothError) {
        let central = Central(try await BluetoothAdapter.open())
        for try await report in try await central.scan() {
            let device = report.device
            print("\(device.address)  \(device.rssi.map { "\($0) dBm" } ?? "?")  \(device.name?.printable ?? "")")
        }
    }
}
