// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
package import Devices
import LinuxIO
import SystemPackage
package import Texts

extension SystemFacts.Daemon {
    /// The longest time for the status answer of a daemon that works.
    private static let patience = Duration.seconds(3)

    /// Asks the first of these places where a daemon listens.
    package init(at places: [DaemonPaths]) {
        var process: Int32?
        do throws(CommandFailure) {
            var client = try ControlClient(at: places.map(\.controlSocket.string), patience: Self.patience)
            process = client.process
            let answer = try client.ask(.status, patience: Self.patience)
            guard var status = SystemFacts.Status(answer: answer.value) else {
                self = .silent(pid: process)
                return
            }
            if let answer = try? client.ask(.beacons(.status), patience: Self.patience) {
                status.beacons = SystemFacts.Beacons(answer: answer.value)
            }
            self = .running(status)
        } catch {
            let silent = process ?? Self.holder(places)
            switch error.status {
            case .permission: self = .hidden
            case .unavailable: self = silent.map { .silent(pid: $0) } ?? .none
            default: self = .silent(pid: silent)
            }
        }
    }

    /// The daemon's status; nil if it gave none.
    var status: SystemFacts.Status? {
        guard case .running(let status) = self else { return nil }
        return status
    }

    /// The daemon that holds the lock of an adapter; nil where none does.
    ///
    /// Other commands hold such a lock too: `simulate`, `scan`, `gatt`.
    private static func holder(_ places: [DaemonPaths]) -> Int32? {
        places.lazy.flatMap { place in
            FileSystem.names(in: place.runtime.string).filter { $0.hasSuffix(".lock") }.compactMap {
                LockFile.holder(place.runtime.appending($0))
            }
        }.first { ProcessEntry.arguments(of: $0).dropFirst().first == "run" }
    }
}

extension SystemFacts.Status {
    /// Reads the answer to `status`; nil for an answer without a state or a process id.
    package init?(answer: JSONValue) {
        guard let name = answer["state"]?.string, let state = Session.State(rawValue: name),
            let pid = answer["pid"]?.integer.flatMap({ Int32(exactly: $0) })
        else { return nil }
        self.init(state: state, pid: pid)
        reason = answer.message("reason")
        remedy = answer.message("remedy")
        transport = answer["adapter"]?.string.flatMap { try? AdapterTransport($0) }
        hasOtherOutput = answer["readers"] != nil
        device = answer["device"]?.string
        layout = answer["layout"]?.string
        eventNode = answer["keyboard"]?.string
        choiceFault = answer.message("selectionFault")
        allows = answer.message("allows")
        if answer["gate"]?.string == "closed" {
            pause = answer.message("gateReason") ?? ReasonText.gateClosed.message()
        }
        let count = { (name: String) in answer["counts"]?[name]?.integer.flatMap { UInt64(exactly: $0) } ?? 0 }
        received = count("received")
        typed = count("typed")
        discarded = count("discarded").addingWithoutOverflow(count("rejected"))
        for loss in SystemFacts.Status.losses { lost = lost.addingWithoutOverflow(count(loss)) }
    }
}

extension SystemFacts.Beacons {
    /// Reads the answer to `beacons status`.
    package init(answer: JSONValue) {
        watched = answer["watched"]?.array?.count ?? 0
        fault = answer.message("availabilityCause")
        advertisingFault = answer.message("advertisingFault")
    }
}

extension UInt64 {
    /// The sum, or `UInt64.max` if it overflows.
    fileprivate func addingWithoutOverflow(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
