// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Foundation

/// Advertises a thermometer, and sends its value to all subscribers every second until Ctrl-C.
@main
struct Thermometer {
    static func main() async {
        do {
            try await serve()
        } catch {
            // An error that `main` throws would end the program with a stack trace.
            FileHandle.standardError.write(Data("Peripheral: \(error)\n".utf8))
            exit(1)
        }
    }

    static func serve() async throws {
        var builder = try GATTDatabaseBuilder(deviceName: "Thermometer")
        let temperature = GATTCharacteristicDefinition(
            uuid: .temperature,
            properties: [.read, .notify],
            value: .stored([0, 0], lengths: 2...2)
        )
        let service = try builder.add(
            GATTServiceDefinition(uuid: .environmentalSensing, characteristics: [temperature])
        )
        guard let handle = service.value(of: .temperature) else { return }

        let server = PeripheralServer(try await BluetoothAdapter.open(), database: builder.database)
        try await server.advertise(.init(localName: "Thermometer", services: [.environmentalSensing]))
        // In hundredths of a degree; the least significant byte is sent first.
        for hundredths in 2000... {
            try await server.updateValue([UInt8(hundredths & 0xFF), UInt8(hundredths >> 8 & 0xFF)], of: handle)
            try await Task.sleep(for: .seconds(1))
        }
    }
}
