// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import LinuxIO

/// Adapter that receives only devices that a test lets advertise.
final class QuietRadio: LowEnergyAdapter {
    let name = "quiet0"
    let address = BluetoothAddress(rawValue: 0xC0FF_EE00_0009)
    var onLoss: ((AdapterLoss) -> Void)?
    var onWake: (() -> Void)?
    var onStalledConnection: (() -> Void)?
    let isConnected = false
    /// Number of active scanners.
    private(set) var listening = 0
    /// Number of scans started.
    private(set) var scans = 0
    /// True if the last scan was an active one.
    private(set) var isActive = false
    /// True if the controller reports that it is scanning.
    var saysThatItScans = false
    /// Devices to which a connection was attempted.
    private(set) var attempted: [DeviceAddress] = []
    /// Establishes connections; nil if none succeed.
    var onConnect: ((DeviceAddress, @escaping (Result<any ATTChannel, LinkFailure>) -> Void) -> Void)?
    private weak var listener: Listener?

    private final class Attempt: ConnectionAttempt {
        func cancel() {}
    }

    private final class Listener: DeviceScanner {
        var onUpdate: ((DeviceTable.Update) -> Void)?
        var onStarted: (() -> Void)?
        var onFailure: ((ScanError) -> Void)?
        var onDisturbed: (() -> Void)?
        var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)?
        private var scanner = Scanner(.legacy)
        var devices: DeviceTable { scanner.devices }
        let droppedReports: UInt32 = 0
        private let radio: QuietRadio
        private var isOn = false

        init(_ radio: QuietRadio) { self.radio = radio }

        func start(_ parameters: ScanParameters, devices: DeviceTable) {
            scanner = Scanner(.legacy, devices: devices)
            scanner.start(parameters)
            radio.scans += 1
            radio.isActive = parameters.type == .active
            radio.listener = self
            turn(true)
            if radio.saysThatItScans { onStarted?() }
        }

        /// Delivers an event packet from the controller.
        func hear(_ packet: [UInt8], at time: Duration) {
            guard isOn else { return }
            var updates: [DeviceTable.Update] = []
            scanner.handle(packet.span, now: time) { update in updates.append(update) }
            for update in updates { onUpdate?(update) }
            onPacket?(packet.span, time)
        }

        func stop(completion: @escaping () -> Void) {
            turn(false)
            completion()
        }
        func close() { turn(false) }
        func expireDevices() { _ = scanner.devices.expire(now: MonotonicClock.now) }

        private func turn(_ on: Bool) {
            if on != isOn { radio.listening += on ? 1 : -1 }
            isOn = on
        }
    }

    /// Delivers an advertisement (ADV_IND) from a random address, optionally with an earlier time.
    func advertise(_ address: BluetoothAddress, _ data: [UInt8], ago: Duration = .zero) {
        var writer = ByteWriter()
        // LE Meta event with one legacy report: event type, address type, address, length, data, RSSI.
        writer.write([0x04, 0x3E, UInt8(12 + data.count), 0x02, 0x01, 0x00, 0x01] as [UInt8])
        writer.write(address)
        writer.write([UInt8(data.count)] + data + [0xC8])
        listener?.hear(writer.bytes, at: MonotonicClock.now - ago)
    }

    /// Delivers a directed advertisement (ADV_DIRECT_IND) from a random address, which contains no data.
    func advertiseDirected(_ address: BluetoothAddress) {
        var writer = ByteWriter()
        writer.write([0x04, 0x3E, 0x0C, 0x02, 0x01, 0x01, 0x01] as [UInt8])
        writer.write(address)
        writer.write([0x00, 0xC8] as [UInt8])
        listener?.hear(writer.bytes, at: MonotonicClock.now)
    }

    /// Delivers an extended advertisement from a random address, in as many reports as necessary.
    func advertiseExtended(_ address: BluetoothAddress, _ data: [UInt8]) {
        var rest = data[...]
        repeat {
            let part = rest.prefix(229)
            rest = rest.dropFirst(229)
            var writer = ByteWriter()
            // LE Meta event with one extended report: event type (with the status "more to come" except in the last
            // one), address type, address, PHYs, set, TX power, RSSI, interval, direct address, length, data.
            let more: UInt8 = rest.isEmpty ? 0x01 : 0x21
            writer.write([0x04, 0x3E, UInt8(26 + part.count), 0x0D, 0x01, more, 0x00, 0x01] as [UInt8])
            writer.write(address)
            writer.write([0x01, 0x01, 0x00, 0x7F, 0xC8] + [UInt8](repeating: 0, count: 9) as [UInt8])
            writer.write([UInt8(part.count)] + part)
            listener?.hear(writer.bytes, at: MonotonicClock.now)
        } while !rest.isEmpty
    }

    /// Makes the running scan fail.
    func failScan(_ error: ScanError) { listener?.onFailure?(error) }

    func makeScanner() throws(ScanError) -> any DeviceScanner { Listener(self) }

    /// Pairing whose events are those of the test.
    final class Pairing: DevicePairing {
        let wish: PairingOptions
        var onNews: ((ManagedPairing.News) -> Void)?
        /// Calls in order, as text.
        private(set) var calls: [String] = []

        init(_ wish: PairingOptions) { self.wish = wish }

        func begin() { calls.append("begin") }
        func answer(_ isSame: Bool) { calls.append("answer \(isSame)") }
        func answer(passkey: UInt32?) { calls.append("passkey \(passkey.map { "\($0)" } ?? "none")") }
        func cancel() { calls.append("cancel") }
        func close(forgetting: Bool, completion: @escaping () -> Void) {
            calls.append(forgetting ? "close and forget" : "close")
            completion()
        }
    }

    /// Last pairing that was started.
    private(set) var pairing: Pairing?

    func makePairing(_ wish: PairingOptions) -> any DevicePairing {
        let made = Pairing(wish)
        pairing = made
        return made
    }

    func makePairableMode(_ offer: PairableOptions) -> any PairableMode { preconditionFailure("nobody pairs here") }

    func connections(completion: @escaping ([DeviceAddress]?) -> Void) { completion([]) }

    func connect(
        to device: DeviceAddress,
        timeout _: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt {
        attempted.append(device)
        onConnect?(device, completion)
        return Attempt()
    }
    func disconnect(_: DeviceAddress, completion: @escaping () -> Void) { completion() }
    /// Current advertising data.
    private(set) var advertised: [[UInt8]] = []
    func advertise(
        _ advertisement: Advertisement,
        onConnection _: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    ) {
        advertised = [advertisement.data]
        completion(.success(()))
    }
    func restart(_ cause: String) { onLoss?(.failed(name, cause: cause)) }
    /// Number of calls of `renew`.
    private(set) var renewals = 0
    func renew(completion: @escaping (Bool) -> Void) {
        renewals += 1
        completion(true)
    }
    func close() {}
    func stopAdvertising(completion: @escaping () -> Void) {
        advertised = []
        completion()
    }
}
