// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

struct BondsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "List the paired devices.",
        discussion: """
            The command does not print any keys. A damaged record in the bonds file is skipped and reported.

            EXAMPLES:
              blewedge bonds
              blewedge bonds --json
            """
    )

    @Flag(help: "Print each device as a JSON object on its own line.")
    var json = false

    func run() throws {
        let bonds = try BondStore(try DaemonPaths.current().bonds).found().bonds
        if json {
            for bond in bonds { try StandardStream.output.write(BondFacts(bond).object.text + "\n") }
            return
        }
        guard !bonds.isEmpty else { return Console.note(BondText.noBonds.message()) }
        let rows =
            [[BondText.columnDevice, .columnAdapter, .columnSecurity].map { $0.text(.current) }]
            + bonds.map { bond in
                let security = BondFacts(bond).security.text(.current)
                return ["\(bond.identityAddress)", "\(bond.localAddress)", security]
            }
        for line in DisplayWidth.table(rows) { try StandardStream.output.write(line + "\n") }
    }
}

extension BondStore {
    /// Reads the bond file, and prints messages about its faults.
    func found() throws(CommandFailure) -> Contents {
        let contents = try reporting(read)
        for note in contents.notes(path) { Console.note(note) }
        return contents
    }
}

/// Removes a device's keys from the kernel, if the kernel is the Bluetooth host.
///
/// Another process may be using the adapter at the same time.
final class UnpairRun {
    private let foreground: ForegroundRun
    private let devices: [DeviceAddress]
    private var hadKeys = false

    /// Prepares to remove the keys of one device.
    ///
    /// `devices` are its addresses, which are of one type or of both types.
    init(_ devices: [DeviceAddress], through transport: AdapterTransport) throws(CommandFailure) {
        self.devices = devices
        foreground = try ForegroundRun(transport)
    }

    /// Removes the keys; returns false if the kernel had no keys, or if there is no adapter.
    func run() throws -> Bool {
        do {
            try foreground.run { [unowned self] radio in
                if let adapter = radio.adapter {
                    unpair(devices[...], adapter)
                } else {
                    foreground.finish(.success(.success))
                }
            }
        } catch let failure as CommandFailure where failure.status == .unavailable {
            return false
        }
        return hadKeys
    }

    private func unpair(_ rest: ArraySlice<DeviceAddress>, _ adapter: any LowEnergyAdapter) {
        guard let device = rest.first else { return foreground.finish(.success(.success)) }
        adapter.unpair(device) { [unowned self] had in
            if had { hadKeys = true }
            unpair(rest.dropFirst(), adapter)
        }
    }
}
