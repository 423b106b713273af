// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO

/// An adapter that hears nobody.
final class QuietRadio: LowEnergyAdapter {
    let name = "quiet0"
    let address = BluetoothAddress(rawValue: 0xC0FF_EE00_0009)
    var onLoss: ((String) -> Void)?
    /// How many scanners listen.
    private(set) var listening = 0

    private final class Attempt: ConnectionAttempt {
        func cancel() {}
    }

    private final class Listener: DeviceScanner {
        var onUpdate: ((DeviceTable.Update) -> Void)?
        var onStarted: (() -> Void)?
        var onFailure: ((ScanError) -> Void)?
        private(set) var devices = DeviceTable(filter: ScanFilter(), reportsDuplicates: false)
        let droppedReports: UInt32 = 0
        private let radio: QuietRadio
        private var isOn = false

        init(_ radio: QuietRadio) { self.radio = radio }

        func start(_: ScanParameters, devices _: DeviceTable) { turn(true) }
        func stop(completion: @escaping () -> Void) {
            turn(false)
            completion()
        }
        func close() { turn(false) }
        func expireDevices() {}

        private func turn(_ on: Bool) {
            if on != isOn { radio.listening += on ? 1 : -1 }
            isOn = on
        }
    }

    func makeScanner() throws(ScanError) -> any DeviceScanner { Listener(self) }
    func connect(
        to _: DeviceAddress,
        timeout _: Duration,
        completion _: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt { Attempt() }
    func disconnect(_: DeviceAddress, completion: @escaping () -> Void) { completion() }
    func advertise(
        _: Advertisement,
        onConnection _: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    ) { completion(.success(())) }
    func close() {}
    func stopAdvertising(completion: @escaping () -> Void) { completion() }
}
