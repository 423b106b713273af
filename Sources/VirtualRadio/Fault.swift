// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A fault in the handling of a command.
public enum CommandFault: Hashable, Sendable {
    /// It is carried out at once and answered so much later; the controller takes no further command meanwhile.
    case delay(Duration)
    /// It is carried out, and its answer (Command Complete or Command Status) is lost.
    case drop
    /// It is carried out, and one byte of the answer's packet (taken modulo its length) is exclusive-or'ed with `mask`.
    case corrupt(offset: Int, mask: UInt8)
    /// It is not carried out, and answered with this status.
    case refuse(HCIStatus)
    /// It is not carried out, and a Hardware Error event with this code comes in place of its answer.
    case hardwareError(code: UInt8)
}

/// A fault in an event that is no answer to a command.
public enum EventFault: Hashable, Sendable {
    /// It comes so much later.
    case delay(Duration)
    case drop
    /// One byte of its packet (taken modulo its length) is exclusive-or'ed with `mask`.
    case corrupt(offset: Int, mask: UInt8)
    case duplicate
}

/// A fault in an ACL data packet.
public enum DataFault: Hashable, Sendable {
    /// It is lost; a buffer it occupied is freed all the same.
    case drop
    /// One byte of its data (taken modulo its length) is exclusive-or'ed with `mask`.
    case corrupt(offset: Int, mask: UInt8)
    case duplicate
}

/// The direction of an ACL data packet.
public enum DataDirection: Hashable, Sendable {
    /// From the controller's own host into the air.
    case fromHost
    /// From the air to the controller's own host.
    case toHost
}

/// A fault and its occurrences: not the first `skipping` times, then `times` times, then never again.
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

    /// The data after its faults: none, one or two copies of it.
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
    /// Lets a command go wrong.
    ///
    /// Not the first `skipping` times it comes, but the next `times` times. Nil takes the fault away. Faults stay
    /// through Reset.
    public func inject(_ fault: CommandFault?, into opcode: HCIOpcode, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.commands[opcode] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Lets the events with a code go wrong, other than Command Complete, Command Status and LE Meta.
    public func inject(_ fault: EventFault?, intoEvent code: UInt8, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.events[code] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Lets the LE Meta events with a subevent's code go wrong.
    public func inject(_ fault: EventFault?, into subevent: LESubevent, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.subevents[subevent] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Lets ACL data packets go wrong.
    public func inject(_ fault: DataFault?, intoData direction: DataDirection, skipping: Int = 0, times: Int = .max) {
        parts.output.faults.data[direction] = fault.map { ArmedFault(fault: $0, skipping: skipping, times: times) }
    }

    /// Takes all faults away.
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
