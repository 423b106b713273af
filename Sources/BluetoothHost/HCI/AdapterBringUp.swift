// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Criterion by which an adapter is selected.
public enum AdapterSelector: Hashable, Sendable, CustomStringConvertible {
    /// Adapter with the lowest index that supports Low Energy.
    case any
    /// Adapter with this index in the kernel: 0 is hci0.
    case index(ControllerIndex)
    /// Adapter with this public address, regardless of its index.
    case address(BluetoothAddress)

    /// Parses `hci0` or an address; returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        if text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), number != ControllerIndex.none.rawValue {
            self = .index(ControllerIndex(rawValue: number))
        } else if let address = BluetoothAddress(text) {
            self = .address(address)
        } else {
            return nil
        }
    }

    /// The selector as text: `hci0`, an address, or `any adapter`.
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
    /// The kernel does not know the selected adapter.
    case notFound(AdapterSelector, available: [String])
    /// The adapter supports only BR/EDR.
    case lowEnergyUnsupported(ControllerIndex)
    /// The radio is blocked by rfkill.
    case blocked(ControllerIndex)
    /// This process does not have permission to change the adapter.
    case notPermitted(ControllerIndex)
    case refused(ManagementOpcode, ManagementStatus)
    /// The kernel's answer is malformed.
    case malformed(DecodingError)
}

/// Finds an adapter and prepares it for Low Energy, using the kernel's management protocol.
///
/// It is a pure state machine: its inputs are replies, and its outputs are steps. The commands are sent in an order
/// that works with all kernels: read the index list, read the information of each adapter until the selected one is
/// found, Set Low Energy, Set Powered. Without Set Low Energy, an adapter that is already powered on refuses LE
/// connections.
public struct AdapterBringUp: Sendable {
    /// Next action that the caller must perform.
    public enum Step: Equatable, Sendable {
        /// Send the command, then pass its reply to `handle`.
        case send(ManagementCommand)
        /// Send the command after the delay, because the kernel is busy with the adapter.
        case sendLater(ManagementCommand, after: Duration)
        case ready(ControllerIndex, ControllerInformation)
        case failed(AdapterFailure)
    }

    /// Maximum number of retries while the kernel is busy, and the interval between two retries.
    private static let busyLimit = 20
    private static let busyInterval = Duration.milliseconds(250)

    private let selector: AdapterSelector
    /// Address of the adapter that was used before; nil if there is none.
    private let known: BluetoothAddress?
    /// First adapter that matches the selector; remembered while the known adapter may still be found.
    private var other: (index: ControllerIndex, information: ControllerInformation)?
    private var candidates: [ControllerIndex] = []
    private var seen: [String] = []
    /// First adapter that matches the selector but supports only BR/EDR.
    private var classic: ControllerIndex?
    private var current: (index: ControllerIndex, information: ControllerInformation)?
    private var busyCount = 0

    /// Creates a search, which `begin` starts.
    ///
    /// `known` is the address of the adapter that was used before: that adapter is preferred, regardless of its index.
    /// If it is not present, the selector decides. A `known` address of zero is treated as nil.
    public init(for selector: AdapterSelector, known: BluetoothAddress? = nil) {
        self.selector = selector
        self.known = known?.rawValue == 0 ? nil : known
    }

    /// Starts the search and returns its first step.
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
                // The kernel lists the newest adapter first.
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
