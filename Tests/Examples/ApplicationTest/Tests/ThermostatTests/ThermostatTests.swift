// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Testing
import Thermostat
import VirtualTransport

@Test("The heating is on below the wanted temperature, and off above", arguments: [(1950, true), (2050, false)])
func heating(hundredths: Int, isCold: Bool) async throws {
    let radio = try SimulatedRadio()
    let thermometer = BluetoothAddress(rawValue: 0xC0FF_EE00_0001)
    let room = try await radio.adapter(thermometer)
    var builder = try GATTDatabaseBuilder(deviceName: "Thermometer")
    let value = GATTValueSource.constant([UInt8(hundredths & 0xFF), UInt8(hundredths >> 8)])
    let temperature = GATTCharacteristicDefinition(uuid: .temperature, properties: .read, value: value)
    try builder.add(GATTServiceDefinition(uuid: .environmentalSensing, characteristics: [temperature]))
    let server = PeripheralServer(room, database: builder.database)
    try await server.advertise(.init(localName: "Thermometer"))

    let hall = try await radio.adapter(BluetoothAddress(rawValue: 0xC0FF_EE00_0002))
    let thermostat = Thermostat(hall, wanted: 20)
    #expect(try await thermostat.isColdAt(DeviceAddress(thermometer, .public)) == isCold)
}
