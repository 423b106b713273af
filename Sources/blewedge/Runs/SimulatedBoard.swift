// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import HIDReports
import Link
import LinuxIO
import Rehearsal

/// Device that `blewedge simulate` runs: sends lines to the centrals that have subscribed.
protocol SimulatedBoard: AnyObject {
    /// Number of lines sent completely.
    var lines: Int { get }
    /// Number of notifications sent, and the number of bytes in them.
    var sent: (notifications: Int, bytes: Int) { get }
    /// Number of characters omitted because they have no key.
    var omitted: Int { get }

    /// Advertises until `stop`; throws if the name does not fit into the advertisement.
    func start(completion: @escaping (Result<Void, BluetoothError>) -> Void) throws(SimulationFailure)
    /// Sends all lines that can be sent now.
    func pump()
    /// Stops advertising, and disconnects the centrals; calls `completion` when all are disconnected.
    func stop(completion: @escaping () -> Void)
}

/// Event of a simulated device.
enum SimulatedEvent {
    case connected(DeviceAddress)
    case disconnected(DeviceAddress, DisconnectReason)
    case subscribed(Bool)
    case received([UInt8])
    /// A central has written the byte of a keyboard's LEDs.
    case lights(UInt8)
}

/// Serial device with the service of a profile.
final class SerialBoard: SimulatedBoard {
    private let module: SimulatedModule
    private let sender: LineSender

    init(
        _ profile: Profile,
        name: String,
        access: GATTAccess,
        every period: Duration,
        on radio: RadioArbiter,
        next: @escaping () -> [UInt8]?,
        onEvent: @escaping (SimulatedEvent) -> Void
    ) throws(GATTDatabaseError) {
        module = try SimulatedModule(profile, name: name, access: access, on: radio) { event in
            switch event {
            case .connected(let device): onEvent(.connected(device))
            case .disconnected(let device, let reason): onEvent(.disconnected(device, reason))
            case .subscribed(let isOn): onEvent(.subscribed(isOn))
            case .received(let value): onEvent(.received(value))
            }
        }
        sender = LineSender(module, every: period, on: radio.loop, next: next)
    }

    var lines: Int { sender.lines }
    var sent: (notifications: Int, bytes: Int) { (module.counts.values, module.counts.bytes) }
    /// Always 0: a serial device sends every byte.
    var omitted: Int { 0 }

    func start(completion: @escaping (Result<Void, BluetoothError>) -> Void) throws(SimulationFailure) {
        try module.start(completion: completion)
    }

    func pump() { sender.pump() }
    func stop(completion: @escaping () -> Void) { module.stop(completion: completion) }
}

/// Keyboard scanner, which types the lines on a US keyboard.
final class KeyboardBoard: SimulatedBoard {
    private let keyboard: SimulatedKeyboard
    private let sender: KeyReportSender

    init(
        name: String,
        access: GATTAccess,
        faults: Set<KeyboardFault>,
        every period: Duration,
        on radio: RadioArbiter,
        next: @escaping () -> [UInt8]?,
        onEvent: @escaping (SimulatedEvent) -> Void
    ) throws(GATTDatabaseError) {
        keyboard = try SimulatedKeyboard(name: name, access: access, faults: faults, on: radio) { event in
            switch event {
            case .connected(let device): onEvent(.connected(device))
            case .disconnected(let device, let reason): onEvent(.disconnected(device, reason))
            case .subscribed: onEvent(.subscribed(true))
            case .unsubscribed: onEvent(.subscribed(false))
            case .lights(let lights): onEvent(.lights(lights))
            }
        }
        let keepsKeysDown = faults.contains(.keepKeyDown)
        sender = KeyReportSender(keyboard, every: period, keepsKeysDown: keepsKeysDown, on: radio.loop) {
            next().map { String(decoding: $0, as: UTF8.self) }
        }
    }

    var lines: Int { sender.lines }
    var sent: (notifications: Int, bytes: Int) {
        (keyboard.counts.reports, keyboard.counts.reports * KeyReportEncoder.reportLength)
    }
    var omitted: Int { sender.omitted }

    func start(completion: @escaping (Result<Void, BluetoothError>) -> Void) throws(SimulationFailure) {
        try keyboard.start(completion: completion)
    }

    func pump() { sender.pump() }
    func stop(completion: @escaping () -> Void) { keyboard.stop(completion: completion) }
}
