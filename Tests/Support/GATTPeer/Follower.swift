// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothLE
import BluetoothPackets
import Synchronization

/// Central that counts the numbered values of one characteristic of one device.
final class Follower: Sendable {
    private let central: Central
    private let peripheral = Mutex<Peripheral?>(nil)
    private let counts = Mutex<(values: UInt32, wrong: Int)>((0, 0))

    init(_ central: Central) {
        self.central = central
    }

    /// Connects, and starts counting.
    func follow(_ address: String, _ uuid: String) async throws {
        guard let address = BluetoothAddress(address), let uuid = BluetoothUUID(uuid) else {
            fail("connect wants an address and a UUID")
        }
        let peripheral = try await central.connect(to: DeviceAddress(address, .random))
        self.peripheral.withLock { $0 = peripheral }
        for service in try await peripheral.discoverServices() {
            for found in try await peripheral.discoverCharacteristics(of: service, uuid) {
                try await peripheral.subscribe(to: found) { [self] value in take([UInt8](copying: value)) }
                say(#"{"event":"following","mtu":\#(await peripheral.mtu ?? 0)}"#)
                return
            }
        }
        fail("the device has no such characteristic")
    }

    private func take(_ value: [UInt8]) {
        let (values, wrong) = counts.withLock { counts in
            if value != Sender.value(counts.values) { counts.wrong += 1 }
            counts.values += 1
            return counts
        }
        if values.isMultiple(of: 50) { say(#"{"event":"values","count":\#(values),"wrong":\#(wrong)}"#) }
    }

    /// Disconnects if connected.
    func leave() async {
        await peripheral.withLock { $0 }?.disconnect()
    }
}

/// Value that is stored only by this program.
actor DynamicValue {
    private(set) var value: [UInt8] = Array("dynamic".utf8)

    func write(_ writes: [GATTServer.Write]) throws(ATTError) {
        for write in writes {
            guard write.offset <= value.count else { throw .invalidOffset }
            value = Array(value.prefix(write.offset)) + write.value
        }
    }
}
