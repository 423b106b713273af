// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The choice of an adapter.
public enum AdapterSelector: Hashable, Sendable, CustomStringConvertible {
    /// The adapter with the lowest index of those that speak Low Energy.
    case any
    /// The adapter with this number in the kernel: 0 is hci0.
    case index(ControllerIndex)
    /// The adapter with this public address, whatever its number.
    case address(BluetoothAddress)

    /// Reads `hci0`, or an address; nil for anything else.
    public init?(_ text: some StringProtocol) {
        if text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), number != ControllerIndex.none.rawValue {
            self = .index(ControllerIndex(rawValue: number))
        } else if let address = BluetoothAddress(text) {
            self = .address(address)
        } else {
            return nil
        }
    }

    /// The choice as text: `hci0`, or an address.
    public var description: String {
        switch self {
        case .any: "any adapter"
        case .index(let index): "hci\(index.rawValue)"
        case .address(let address): "\(address)"
        }
    }
}

/// The reason why an adapter cannot be used.
public enum AdapterFailure: Error, Equatable, Sendable {
    case noAdapter
    /// The kernel does not know the adapter that was asked for.
    case notFound(AdapterSelector, available: [String])
    /// The adapter speaks BR/EDR only.
    case lowEnergyUnsupported(ControllerIndex)
    /// rfkill blocks its radio.
    case blocked(ControllerIndex)
    /// The kernel does not let this process change the adapter.
    case notPermitted(ControllerIndex)
    case refused(ManagementOpcode, ManagementStatus)
    /// The kernel's answer could not be read.
    case malformed(DecodingError)
}

/// Finds an adapter and makes it ready for Low Energy, through the kernel's management protocol.
///
/// A pure state machine: replies in, steps out. The order is the one that every kernel accepts: read the list, read
/// each adapter until it is the one meant, Set Low Energy, Set Powered. Without Set Low Energy an adapter that is up
/// refuses LE connections.
public struct AdapterBringUp: Sendable {
    /// The next action of the caller.
    public enum Step: Equatable, Sendable {
        /// Send the command, and bring back its reply.
        case send(ManagementCommand)
        /// Send the command after a while: the kernel is busy with the adapter.
        case sendLater(ManagementCommand, after: Duration)
        case ready(ControllerIndex, ControllerInformation)
        case failed(AdapterFailure)
    }

    /// The number of times that a busy kernel is asked again, and the time between them.
    private static let busyLimit = 20
    private static let busyInterval = Duration.milliseconds(250)

    private let selector: AdapterSelector
    /// The address of the adapter that was used before; nil for none.
    private let known: BluetoothAddress?
    /// The first adapter that the selector means, while the known one may follow.
    private var other: (index: ControllerIndex, information: ControllerInformation)?
    private var candidates: [ControllerIndex] = []
    private var seen: [String] = []
    /// The first of the adapters that were meant and speak BR/EDR only.
    private var classic: ControllerIndex?
    private var current: (index: ControllerIndex, information: ControllerInformation)?
    private var busyCount = 0

    /// A search that has not begun.
    ///
    /// The adapter with the `known` address, which was used before, is taken under whatever number it has come back; only
    /// without it the one that the selector means. An address of zero is nobody's.
    public init(for selector: AdapterSelector, known: BluetoothAddress? = nil) {
        self.selector = selector
        self.known = known?.rawValue == 0 ? nil : known
    }

    /// The first step.
    public func begin() -> Step { .send(.readIndexList) }

    /// Takes the reply to the command sent last.
    public mutating func handle(
        replyTo command: ManagementCommand,
        status: ManagementStatus,
        returnParameters: Span<UInt8>
    ) -> Step {
        do throws(DecodingError) {
            guard status == .success else { return refused(command, status) }
            busyCount = 0
            switch command.opcode {
            case .readIndexList:
                // The kernel lists the newest first.
                candidates = try ManagementReturn.indexList(returnParameters).sorted { $0.rawValue > $1.rawValue }
                return candidates.isEmpty ? .failed(.noAdapter) : next()
            case .readControllerInformation:
                return choose(command.index, try ControllerInformation(returnParameters: returnParameters))
            default:
                current?.information.currentSettings = try ManagementReturn.settings(returnParameters)
                return advance()
            }
        } catch {
            return .failed(.malformed(error))
        }
    }

    private mutating func refused(_ command: ManagementCommand, _ status: ManagementStatus) -> Step {
        switch status {
        case .busy where busyCount < Self.busyLimit:
            busyCount += 1
            return .sendLater(command, after: Self.busyInterval)
        case .invalidIndex where command.opcode == .readControllerInformation: return next()
        case .rfkilled: return .failed(.blocked(command.index))
        case .permissionDenied: return .failed(.notPermitted(command.index))
        default: return .failed(.refused(command.opcode, status))
        }
    }

    private mutating func next() -> Step {
        guard let index = candidates.popLast() else {
            if let (index, information) = other { return take(index, information) }
            return .failed(classic.map { .lowEnergyUnsupported($0) } ?? .notFound(selector, available: seen))
        }
        return .send(.readControllerInformation(index))
    }

    private mutating func choose(_ index: ControllerIndex, _ information: ControllerInformation) -> Step {
        seen.append("hci\(index.rawValue) \(information.address)")
        let isMeant =
            switch selector {
            case .any: true
            case .index(let wanted): wanted == index
            case .address(let wanted): wanted == information.address
            }
        guard isMeant || information.address == known else { return next() }
        guard information.supportedSettings.contains(.lowEnergy) else {
            classic = classic ?? index
            return next()
        }
        if information.address == known { return take(index, information) }
        guard known != nil else { return take(index, information) }
        if other == nil { other = (index, information) }
        return next()
    }

    private mutating func take(_ index: ControllerIndex, _ information: ControllerInformation) -> Step {
        current = (index, information)
        return advance()
    }

    private func advance() -> Step {
        guard let (index, information) = current else { return .failed(.noAdapter) }
        if !information.currentSettings.contains(.lowEnergy) { return .send(.setLowEnergy(index, true)) }
        if !information.currentSettings.contains(.powered) { return .send(.setPowered(index, true)) }
        return .ready(index, information)
    }
}
