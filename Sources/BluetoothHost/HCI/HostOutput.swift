// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The parts of a host that its other parts use.
struct HostCore: Sendable {
    var controller: HostController
    var links = ConnectionTable()
    var scanner = HostScanner()
    var output = HostOutput()

    /// Puts a frame of the host's own at the end; where there is no room for it, it is counted.
    mutating func answer(_ channel: L2CAPChannel, _ payload: [UInt8], on handle: UInt16) {
        links[handle]?.answer(channel, payload, &output.counters)
    }
}

/// The results of a host's parts: events for the caller, commands for the controller, counts, and the end of it all.
struct HostOutput: Sendable {
    /// The most events that wait for the caller.
    static let eventCapacity = 1024

    var counters = LowEnergyHost.Counters()
    var commands = HostCommands()
    /// The reason why the host has given up; no event and no command follows.
    private(set) var failure: HostFailure?
    private var events: [LowEnergyHost.Event] = []

    var hasEvents: Bool { !events.isEmpty }

    var storedBytes: Int {
        events.reduce(commands.storedBytes) {
            if case .received(_, let pdu) = $1 { $0 &+ pdu.count } else { $0 &+ 16 }
        }
    }

    mutating func nextEvent() -> LowEnergyHost.Event? { events.isEmpty ? nil : events.removeFirst() }

    /// Keeps an event for the caller; data is dropped when the caller takes no events.
    mutating func emit(_ event: LowEnergyHost.Event) {
        guard failure == nil else { return }
        switch event {
        case .received, .scanned:
            guard events.count < Self.eventCapacity else {
                counters.dropped &+= 1
                return
            }
        default: break
        }
        events.append(event)
    }

    /// Puts a command at the end; one that only answers a peer is dropped when too many wait.
    mutating func request(_ command: HCICommand, _ purpose: HostCommands.Purpose) {
        if purpose == .reply, commands.isCrowded {
            counters.dropped &+= 1
        } else if failure == nil, !commands.enqueue(command, purpose) {
            fail(.overrun)
        }
    }

    /// Gives the controller up.
    mutating func fail(_ reason: HostFailure) {
        guard failure == nil else { return }
        failure = reason
        events.append(.failed(reason))
    }
}
