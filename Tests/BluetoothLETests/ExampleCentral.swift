// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// Finds a device with a battery, and prints its level whenever it changes, for as long as the device is there.
func watchBattery() async throws(BluetoothError) {
    let adapter = try await BluetoothAdapter.open()
    let central = Central(adapter)
    let battery = BluetoothUUID(UInt16(0x180F))
    let batteryLevel = BluetoothUUID(UInt16(0x2A19))

    // The scan ends with the loop that reads it.
    var found: DeviceAddress?
    for try await report in try await central.scan(ScanFilter(services: [battery])) {
        print("\(report.device.address) \(report.device.name?.printable ?? "without a name")")
        found = report.device.address
        break
    }
    guard let found else { return }

    let peripheral = try await central.connect(to: found)
    for service in try await peripheral.discoverServices(battery) {
        for level in try await peripheral.discoverCharacteristics(of: service, batteryLevel) {
            print("level \(try await peripheral.read(level.value).first ?? 0) %")
            // Values arrive again after each reconnection; those that nobody reads in time are counted.
            for try await value in try await peripheral.subscribe(to: level) {
                print("level \(value.first ?? 0) %")
            }
        }
    }
    await peripheral.disconnect()
}
