// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// What a procedure is told, each time of one thing.
enum GATTProcedureInput: Sendable {
    /// It begins.
    case beginning
    /// The answer to its request has come.
    case response(ATTPDU)
    /// Its request was refused.
    case refusal(GATTRefusal)
}

extension GATTProcedure {
    /// The step after an input.
    mutating func step(_ input: GATTProcedureInput, mtu: Int) throws(GATTError) -> GATTStep {
        switch input {
        case .beginning: return try begin(mtu: mtu)
        case .response(let response): return try receive(response, mtu: mtu)
        case .refusal(let refusal):
            if refusal.named != refusal.request, !isSearch { throw refusal.asError }
            return try receive(refusal, mtu: mtu)
        }
    }
}

/// One of the client's procedures, as a value that stands in a list with others.
enum GATTAnyProcedure: Sendable {
    case mtuExchange(GATTMTUExchange)
    case read(GATTRead)
    case longRead(GATTLongRead)
    case readByUUID(GATTReadByUUID)
    case primaryServiceDiscovery(GATTPrimaryServiceDiscovery)
    case serviceSearch(GATTServiceSearch)
    case includedServiceDiscovery(GATTIncludedServiceDiscovery)
    case characteristicDiscovery(GATTCharacteristicDiscovery)
    case descriptorDiscovery(GATTDescriptorDiscovery)
    case configuration(GATTConfiguration)
    case write(GATTWrite)
    case preparedWrite(GATTPreparedWrite)
    case nothing(GATTNothing)

    /// The procedure's step after an input.
    mutating func step(_ input: GATTProcedureInput, mtu: Int) throws(GATTError) -> GATTStep {
        switch self {
        case .mtuExchange(var procedure):
            defer { self = .mtuExchange(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .read(var procedure):
            defer { self = .read(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .longRead(var procedure):
            defer { self = .longRead(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .readByUUID(var procedure):
            defer { self = .readByUUID(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .primaryServiceDiscovery(var procedure):
            defer { self = .primaryServiceDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .serviceSearch(var procedure):
            defer { self = .serviceSearch(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .includedServiceDiscovery(var procedure):
            defer { self = .includedServiceDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .characteristicDiscovery(var procedure):
            defer { self = .characteristicDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .descriptorDiscovery(var procedure):
            defer { self = .descriptorDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .configuration(var procedure):
            defer { self = .configuration(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .write(var procedure):
            defer { self = .write(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .preparedWrite(var procedure):
            defer { self = .preparedWrite(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .nothing(var procedure):
            defer { self = .nothing(procedure) }
            return try procedure.step(input, mtu: mtu)
        }
    }
}
