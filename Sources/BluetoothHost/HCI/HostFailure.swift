// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Reason why a host failed; a new host must be created to continue.
public enum HostFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The controller rejected a command that the host cannot work without.
    case refused(HCIOpcode, HCIStatus)
    case noAnswer(HCIOpcode)
    /// The controller was silent for this time while in use, and did not answer the liveness probe.
    case silent(Duration)
    /// The controller's answer cannot be parsed or used.
    case badAnswer(HCIOpcode)
    case lowEnergyUnsupported
    /// The controller reported a hardware error; the value is the vendor's code.
    case hardwareError(UInt8)
    /// The controller did not send a connection's data in time.
    case lostCompletions(handle: UInt16)
    /// The controller did not end a connection when requested.
    case lostDisconnection(handle: UInt16)
    /// The controller sent so many events that the commands in response to them exceeded the queue's limit.
    case overrun

    /// Human-readable description in one line.
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
