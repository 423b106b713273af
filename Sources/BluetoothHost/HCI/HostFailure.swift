// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The reason why a host has given its controller up; a new host has to begin anew.
public enum HostFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The controller refused a command that nothing works without.
    case refused(HCIOpcode, HCIStatus)
    /// The controller did not answer a command in time.
    case noAnswer(HCIOpcode)
    /// The controller was silent for this time while it was in use, and answered nothing when it was asked.
    case silent(Duration)
    /// The controller answered with something that cannot be read, or not be used.
    case badAnswer(HCIOpcode)
    /// The controller has no Low Energy.
    case lowEnergyUnsupported
    /// The controller reported a fault of its own, with the vendor's code.
    case hardwareError(UInt8)
    /// The controller kept data of a connection for too long.
    case lostCompletions(handle: UInt16)
    /// The controller did not end a connection that it was told to end.
    case lostDisconnection(handle: UInt16)
    /// The controller reports more than it takes answers to.
    case overrun

    /// One line for people.
    public var description: String {
        switch self {
        case .refused(let opcode, let status): "\(opcode) was refused: \(status)"
        case .noAnswer(.reset):
            "\(HCIOpcode.reset) was not answered within "
                + "\(HCICommandQueue.resetTimeout * LowEnergyHost.resetAttempts), sent \(LowEnergyHost.resetAttempts) times"
        case .noAnswer(let opcode): "\(opcode) was not answered within \(HCICommandQueue.timeout)"
        case .silent(let time): "the controller has fallen silent: for \(time) it sent nothing, and answers nothing"
        case .badAnswer(let opcode): "the answer to \(opcode) makes no sense"
        case .lowEnergyUnsupported: "the controller has no Low Energy"
        case .hardwareError(let code):
            "the controller reported a hardware error (0x\(Hexadecimal.text(UInt64(code), digits: 2)))"
        case .lostCompletions(let handle):
            "the controller does not send the data of connection \(handle), nor ends it"
        case .lostDisconnection(let handle): "the controller does not end connection \(handle)"
        case .overrun: "the controller tells of more connections than it lets be ended"
        }
    }
}
