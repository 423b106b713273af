// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A device was heard: what it says, and what of that is new.
public typealias Discovery = DeviceTable.Update

/// The central's part of an adapter: the scan that somebody reads, and the devices with those who wait for a connection.
///
/// To be used on the loop's thread.
final class CentralCore {
    private struct Reading {
        var identifier: UInt64
        var scan: RadioScan
        var source: BoundedSequence<Discovery>.Source
    }

    private struct Waiting {
        var attempt: RadioAttempt
        var replies: [UInt64: Reply<Void>]
    }

    let radio: RadioArbiter
    private var reading: Reading?
    private var waiting: [DeviceAddress: Waiting] = [:]
    private var lastIdentifier: UInt64 = 0
    private(set) var peripherals: [DeviceAddress: PeripheralCore] = [:]

    init(_ radio: RadioArbiter) {
        self.radio = radio
    }

    func makeIdentifier() -> UInt64 {
        lastIdentifier &+= 1
        return lastIdentifier
    }

    /// A device as it is known, connected or not.
    func peripheral(_ device: DeviceAddress) -> PeripheralCore {
        if let known = peripherals[device] { return known }
        let peripheral = PeripheralCore(device, radio)
        peripherals[device] = peripheral
        return peripheral
    }

    // MARK: Scanning

    /// Begins a scan, which ends the one before (CB-2).
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

    /// Ends a scan, unless another has taken its place.
    func stopScan(_ identifier: UInt64? = nil) {
        guard let reading, identifier == nil || reading.identifier == identifier else { return }
        reading.source.finish()
        self.reading = nil
        radio.stop(reading.scan)
    }

    // MARK: Connecting

    /// Connects for as long as it takes (CB-6); the number is for `cancel`.
    func connect(_ device: DeviceAddress, _ reply: Reply<Void>) throws(BluetoothError) -> UInt64 {
        _ = try radio.ready()
        let identifier = makeIdentifier()
        if peripheral(device).isConnected {
            reply.give(.success(()))
        } else if waiting[device] != nil {
            waiting[device]?.replies[identifier] = reply
        } else {
            radio.together {
                let attempt = radio.connect(to: device, .forever) { [weak self] result in
                    self?.connected(device, result)
                }
                waiting[device] = Waiting(attempt: attempt, replies: [identifier: reply])
            }
        }
        return identifier
    }

    /// Gives up waiting for a connection; the attempt ends with the last one who waits for it.
    func cancel(_ identifier: UInt64) {
        guard let (device, others) = waiting.first(where: { $0.value.replies[identifier] != nil }) else { return }
        waiting[device]?.replies[identifier] = nil
        guard others.replies.count == 1 else { return }
        waiting[device] = nil
        radio.cancel(others.attempt)
    }

    private func connected(_ device: DeviceAddress, _ result: Result<ATTLink, LinkFailure>) {
        guard let replies = waiting.removeValue(forKey: device)?.replies.values else { return }
        switch result {
        case .success(let link): peripheral(device).connected(link, Array(replies))
        case .failure(.adapterLost): for reply in replies { reply.give(.failure(radio.absence)) }
        case .failure(let failure):
            for reply in replies { reply.give(.failure(.connectionFailed(DisconnectReason(failure)))) }
        }
    }

    /// The adapter is gone, and every connection with it.
    func adapterLost(_ reason: String) {
        for peripheral in peripherals.values { peripheral.closed(.adapterLost(reason)) }
    }
}
