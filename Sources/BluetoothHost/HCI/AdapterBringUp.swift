// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Selection of an adapter.
public enum AdapterSelector: Hashable, Sendable, CustomStringConvertible {
    /// Adapter with the lowest index among those with Low Energy.
    case any
    /// Adapter with this number in the kernel: 0 is hci0.
    case index(ControllerIndex)
    /// Adapter with this public address, regardless of its number.
    case address(BluetoothAddress)

    /// Parses `hci0` or an address; returns nil for other text.
    public init?(_ text: some StringProtocol) {
        if text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), number != ControllerIndex.none.rawValue {
            self = .index(ControllerIndex(rawValue: number))
        } else if let address = BluetoothAddress(text) {
            self = .address(address)
        } else {
            return nil
        }
    }

    /// Selection as text: `hci0`, or an address.
    public var description: String {
        switch self {
        case .any: "any adapter"
        case .index(let index): "hci\(index.rawValue)"
        case .address(let address): "\(address)"
        }
    }
}

/// Reason why an adapter cannot be used.
public enum AdapterFailure: Error, Equatable, Sendable {
    case noAdapter
    /// Selected adapter that the kernel does not know.
    case notFound(AdapterSelector, available: [String])
    /// Adapter with BR/EDR only.
    case lowEnergyUnsupported(ControllerIndex)
    /// Radio blocked by rfkill.
    case blocked(ControllerIndex)
    /// Missing permission of this process to change the adapter.
    case notPermitted(ControllerIndex)
    case refused(ManagementOpcode, ManagementStatus)
    /// Malformed answer of the kernel.
    case malformed(DecodingError)
}

/// Search for an adapter and its preparation for Low Energy, through the kernel's management protocol.
///
/// A pure state machine: its inputs are replies, its outputs are steps. All kernels accept this order: read the index
/// list, read the information of each adapter until the selected one is found, Set Low Energy, Set Powered. Without Set
/// Low Energy, an adapter that is up refuses LE connections.
public struct AdapterBringUp: Sendable {
    /// Next action of the caller.
    public enum Step: Equatable, Sendable {
        /// Send the command and pass its reply to `handle`.
        case send(ManagementCommand)
        /// Send the command after a delay, because the kernel is busy with the adapter.
        case sendLater(ManagementCommand, after: Duration)
        case ready(ControllerIndex, ControllerInformation)
        case failed(AdapterFailure)
    }

    /// Maximum number of retries while the kernel is busy, and the interval between them.
    private static let busyLimit = 20
    private static let busyInterval = Duration.milliseconds(250)

    private let selector: AdapterSelector
    /// Address of the adapter used before; nil for none.
    private let known: BluetoothAddress?
    /// First adapter that matches the selector, kept while the known one may still follow.
    private var other: (index: ControllerIndex, information: ControllerInformation)?
    private var candidates: [ControllerIndex] = []
    private var seen: [String] = []
    /// First adapter that matches the selector but has BR/EDR only.
    private var classic: ControllerIndex?
    private var current: (index: ControllerIndex, information: ControllerInformation)?
    private var busyCount = 0

    /// Creates a search that has not started.
    ///
    /// The adapter with the `known` address, which was used before, is preferred under any number; without it, the
    /// selector decides. An address of zero counts as nil.
    public init(for selector: AdapterSelector, known: BluetoothAddress? = nil) {
        self.selector = selector
        self.known = known?.rawValue == 0 ? nil : known
    }

    /// Returns the first step.
    public func begin() -> Step { .send(.readIndexList) }

    /// Processes the reply to the last command and returns the next step.
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
