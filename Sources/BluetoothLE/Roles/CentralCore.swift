// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// The report of a device in a scan: its data, and which of them are new.
public typealias Discovery = DeviceTable.Update

/// The central role on the loop's thread: the scan with its reader, and the known devices.
///
/// Every method is called on the loop's thread.
final class CentralCore {
    /// The scan that is read, with its reader.
    private struct Reading {
        var identifier: UInt64
        var scan: RadioScan
        var source: BoundedSequence<Discovery>.Source
    }

    /// The arbiter of the adapter's radio.
    let radio: RadioArbiter
    private var reading: Reading?
    private var lastIdentifier: UInt64 = 0
    /// The devices that were connected to, tried, or used through a `Peripheral`, by address.
    private(set) var peripherals: [DeviceAddress: PeripheralCore] = [:]

    init(_ radio: RadioArbiter) {
        self.radio = radio
    }

    /// A number for a scan, a connection or a subscription, which no other has.
    func makeIdentifier() -> UInt64 {
        lastIdentifier &+= 1
        return lastIdentifier
    }

    /// The device with this address; it is made at the first call.
    func peripheral(_ device: DeviceAddress) -> PeripheralCore {
        if let known = peripherals[device] { return known }
        let peripheral = PeripheralCore(device, radio)
        peripherals[device] = peripheral
        return peripheral
    }

    // MARK: Scanning

    /// Starts a scan whose reports go to `source`, after ending the scan before it (CB-2).
    ///
    /// Throws `unavailable` without an adapter.
    func start(
        _ scan: RadioScan,
        _ identifier: UInt64,
        _ source: BoundedSequence<Discovery>.Source
    ) throws(BluetoothError) {
        _ = try radio.ready()
        scan.onUpdate = { update in source.send(update) }
        scan.onFailure = { [weak self] error in
            source.finish(error == .adapterGone ? self?.radio.absence ?? BluetoothError(error) : BluetoothError(error))
            if self?.reading?.identifier == identifier { self?.reading = nil }
        }
        radio.together {
            stopScan()
            reading = Reading(identifier: identifier, scan: scan, source: source)
            radio.start(scan)
        }
    }

    /// Ends the scan with this number, or any scan without one.
    ///
    /// Does nothing if another scan has replaced it.
    func stopScan(_ identifier: UInt64? = nil) {
        guard let reading, identifier == nil || reading.identifier == identifier else { return }
        reading.source.finish()
        self.reading = nil
        radio.stop(reading.scan)
    }

    // MARK: Connecting

    /// Connects to a device without a time limit (CB-6), or joins the attempt under way.
    ///
    /// Returns the number for `cancel`; throws `unavailable` without an adapter.
    func connect(_ device: DeviceAddress, _ reply: Reply<Void>) throws(BluetoothError) -> UInt64 {
        _ = try radio.ready()
        let identifier = makeIdentifier()
        peripheral(device).connect(identifier, reply)
        return identifier
    }

    /// Closes every connection, after the adapter was lost.
    func adapterLost(_ reason: String) {
        for peripheral in peripherals.values { peripheral.closed(.adapterLost(reason)) }
    }
}
