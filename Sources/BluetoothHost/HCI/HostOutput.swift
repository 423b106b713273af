// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Parts of a host that the other parts have in common.
struct HostCore: Sendable {
    var controller: HostController
    var links = ConnectionTable()
    var scanner = HostScanner()
    var output = HostOutput()

    /// Queues a response frame that the host itself sends; counts it as dropped if there is no room.
    mutating func answer(_ channel: L2CAPChannel, _ payload: [UInt8], on handle: UInt16) {
        links[handle]?.answer(channel, payload, &output.counters)
    }
}

/// Output of all parts of a host: events for the caller, commands for the controller, counters, and the failure.
struct HostOutput: Sendable {
    /// Length of the event queue from which data events are discarded.
    static let eventCapacity = 1024

    var counters = LowEnergyHost.Counters()
    var commands = HostCommands()
    /// Reason why the host failed; a failed host produces no more events or commands.
    private(set) var failure: HostFailure?
    private var events: [LowEnergyHost.Event] = []

    var hasEvents: Bool { !events.isEmpty }

    var storedBytes: Int {
        events.reduce(commands.storedBytes) {
            if case .received(_, let pdu) = $1 { $0 &+ pdu.count } else { $0 &+ 16 }
        }
    }

    mutating func nextEvent() -> LowEnergyHost.Event? { events.isEmpty ? nil : events.removeFirst() }

    /// Queues an event for the caller; discards data events and scan reports if the queue is full.
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

    /// Queues a command; discards a reply to a peer if too many commands are queued.
    mutating func request(_ command: HCICommand, _ purpose: HostCommands.Purpose) {
        if purpose == .reply, commands.isCrowded {
            counters.dropped &+= 1
        } else if failure == nil, !commands.enqueue(command, purpose) {
            fail(.overrun)
        }
    }

    /// Fails the host and reports the failure; does nothing if the host has already failed.
    mutating func fail(_ reason: HostFailure) {
        guard failure == nil else { return }
        failure = reason
        events.append(.failed(reason))
    }
}
