// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Fault that affects a command.
public enum CommandFault: Hashable, Sendable {
    /// The command is executed immediately, but its answer is delayed and occupies a command credit until it is sent.
    case delay(Duration)
    /// The command is executed, but its answer (Command Complete or Command Status) is lost.
    case drop
    /// The command is executed, but the answer's byte at `offset` (modulo the packet's length) is XORed with `mask`.
    case corrupt(offset: Int, mask: UInt8)
    /// The command is not executed, and is answered with this status.
    case refuse(HCIStatus)
    /// The command is not executed; a Hardware Error event with this code replaces its answer.
    case hardwareError(code: UInt8)
}

/// Fault that affects an event other than the answer to a command.
public enum EventFault: Hashable, Sendable {
    /// The event is delayed by this time.
    case delay(Duration)
    case drop
    /// The event's byte at `offset` (modulo the packet's length) is XORed with `mask`.
    case corrupt(offset: Int, mask: UInt8)
    case duplicate
}

/// Fault that affects an ACL data packet.
public enum DataFault: Hashable, Sendable {
    /// The packet is lost; the buffer that it occupied is freed as usual.
    case drop
    /// The data byte at `offset` (modulo the length of the data) is XORed with `mask`.
    case corrupt(offset: Int, mask: UInt8)
    case duplicate
}

/// Direction of an ACL data packet.
public enum DataDirection: Hashable, Sendable {
    /// From the controller's host to the radio.
    case fromHost
    /// From the radio to the controller's host.
    case toHost
}

/// Fault that spares the first `skipping` occurrences and then affects the next `times` occurrences.
struct ArmedFault<Fault: Hashable & Sendable>: Sendable {
    let fault: Fault
    var skipping: Int
    var times: Int

    mutating func strike() -> Fault? {
        if skipping > 0 {
            skipping -= 1
            return nil
        }
        guard times > 0 else { return nil }
        times -= 1
        return fault
    }
}

struct FaultPlan: Sendable {
    var commands: [HCIOpcode: ArmedFault<CommandFault>] = [:]
    var events: [UInt8: ArmedFault<EventFault>] = [:]
    var subevents: [LESubevent: ArmedFault<EventFault>] = [:]
    var data: [DataDirection: ArmedFault<DataFault>] = [:]

    static func corrupted(_ bytes: [UInt8], _ offset: Int, _ mask: UInt8) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var bytes = bytes
        bytes[Int(offset.magnitude % UInt(bytes.count))] ^= mask
        return bytes
    }

    mutating func strike(_ event: ControllerEvent) -> EventFault? {
        if let subevent = event.subevent { return subevents[subevent]?.strike() }
        return events[event.code]?.strike()
    }

    /// Applies the injected faults to a payload; returns the payloads to pass on, of which there can be none, one or
    /// two.
    mutating func strike(_ payload: [UInt8], _ direction: DataDirection) -> [[UInt8]] {
        switch data[direction]?.strike() {
        case nil: [payload]
        case .drop: []
        case .corrupt(let offset, let mask): [Self.corrupted(payload, offset, mask)]
        case .duplicate: [payload, payload]
        }
    }
}

extension VirtualController {
    /// Injects a fault into a command; nil removes the fault.
    ///
    /// The fault spares the first `skipping` executions of the command and affects the next `times` executions. Reset
    /// does not remove faults.
    public func inject(_ fault: CommandFault?, into opcode: HCIOpcode, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.commands[opcode] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Injects a fault into the events with this code, which must not be that of Command Complete, Command Status or LE
    /// Meta.
    public func inject(_ fault: EventFault?, intoEvent code: UInt8, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.events[code] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Injects a fault into the LE Meta events with this subevent code.
    public func inject(_ fault: EventFault?, into subevent: LESubevent, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.subevents[subevent] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Injects a fault into the ACL data packets in one direction.
    public func inject(_ fault: DataFault?, intoData direction: DataDirection, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.data[direction] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Removes all faults.
    public func removeFaults() {
        parts.output.faults = FaultPlan()
    }

    /// Reports a hardware error to the host, as a controller does after an internal failure (Core 6.0, Vol 4, Part E,
    /// 7.7.16).
    public func reportHardwareError(code: UInt8) {
        emit(.hardwareError(code), now: radio?.now ?? .zero)
        radio?.dispatch()
    }
}
