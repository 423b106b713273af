// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Link
import LinuxIO
import VirtualAdapters
import VirtualRadio

/// Creates the simulated devices, with their names, services, signal strengths and the text that they send.
struct Stage {
    /// Number of devices in the simulated crowd.
    private static let crowdCount = 50
    /// Beacon identity of the simulated badge; the UUID is a random one.
    static let badge = BeaconIdentity(
        BluetoothUUID(high: 0x6C61_9B5E_0C1D_4C2F, low: 0x9A51_6E0C_9F4D_7B20),
        major: 1,
        minor: 7
    )

    private let radio: MemoryRadio
    /// Controller of the adapter that this program uses.
    private let listener: VirtualController
    private let loop: EventLoop

    init(_ radio: MemoryRadio, around listener: VirtualController, _ loop: EventLoop) {
        self.radio = radio
        self.listener = listener
        self.loop = loop
    }

    /// Creates and starts a device, or the devices of a crowd.
    func start(_ device: SimulatedCast.Device) -> [any SimulatedDevice] {
        let devices = devices(device)
        for device in devices { device.start() }
        return devices
    }

    private func devices(_ device: SimulatedCast.Device) -> [any SimulatedDevice] {
        switch device {
        case .linble:
            [
                serial(.linble, "LINBLE-Z1", at: 1, every: .seconds(3), dBm: -48) { number in
                    Barcodes.samples[number % Barcodes.samples.count] + "\r"
                }
            ]
        case .nordic:
            [
                serial(.nordic, "Nordic Reader", at: 2, every: .seconds(4), dBm: -57) { number in
                    Barcodes.numbered(number) + "\r\n"
                }
            ]
        case .scale:
            [
                serial(.microchip, "SCALE-15K", at: 3, every: .seconds(5), dBm: -75) { number in
                    Self.weight(number) + "\r\n"
                }
            ]
        case .hid:
            [
                HIDKeyboardDevice(
                    name: SimulatedKeyboard.usualName,
                    every: .seconds(4),
                    on: core(at: 4, SimulatedKeyboard.usualName, dBm: -66)
                ) { number in
                    Barcodes.samples[number % Barcodes.samples.count] + "\r"
                }
            ]
        case .badge:
            BeaconFrame(.iBeacon, Self.badge, measuredPower: -59)
                .map { [advertiser($0.content(), isConnectable: false, at: 5, dBm: -84)] } ?? []
        case .bathroom:
            [
                AdvertisingDevice(
                    isConnectable: false,
                    changing: .milliseconds(500),
                    on: core(at: 6, "BATH-SCALE", dBm: -70)
                ) {
                    number in BathroomScale.content(number)
                }
            ]
        case .crowd:
            (0..<Self.crowdCount).map { number in
                advertiser(
                    .init(localName: "Crowd \(number + 1)"),
                    isConnectable: false,
                    at: 0x100 + UInt64(number),
                    dBm: -70 - Int8(number % 20)
                )
            }
        }
    }

    /// Returns a weight in kg, marked as stable, in the format that many scales print.
    private static func weight(_ number: Int) -> String {
        let grams = [1250, 980, 2415, 335, 7020, 1505][number % 6]
        let thousandths = String(1000 + grams % 1000).dropFirst()
        return "ST,GS,\(grams / 1000).\(thousandths)kg"
    }

    private func serial(
        _ profile: Profile,
        _ name: String,
        at number: UInt64,
        every period: Duration,
        dBm: Int8,
        line: @escaping (_ number: Int) -> String
    ) -> SerialDevice {
        SerialDevice(profile, name: name, every: period, on: core(at: number, name, dBm: dBm), line: line)
    }

    private func advertiser(
        _ content: AdvertisementLayout.Content,
        isConnectable: Bool,
        at number: UInt64,
        dBm: Int8
    ) -> AdvertisingDevice {
        let core = core(at: number, content.localName ?? "badge", dBm: dBm)
        let interval: Duration = isConnectable ? .milliseconds(100) : .milliseconds(500)
        return AdvertisingDevice(isConnectable: isConnectable, every: interval, on: core) { _ in content }
    }

    /// Creates a device's adapter; this program's adapter receives its signals with a strength of `dBm`.
    private func core(at number: UInt64, _ name: String, dBm: Int8) -> AdapterCore {
        let transport = radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE01_0000 + number))
        radio.radio.setSignalStrength(dBm, listener, transport.controller)
        return AdapterCore(loop, starting: HostAdapter(name: name, transport: transport, on: loop))
    }
}
