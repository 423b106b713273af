// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// The ways in which the user can take part in a pairing (Core 6.0, Vol 3, Part H, 2.3.2).
///
/// The application's functions are called on threads other than the adapter's. If a question is not answered before the
/// pairing's time-out, the pairing ends.
public enum PairingUser: Sendable {
    /// Displays the number, 0 … 999,999, to be entered on the other device.
    public typealias Show = @Sendable (UInt32) async -> Void
    /// Returns true if both devices display this number.
    public typealias Compare = @Sendable (UInt32) async -> Bool
    /// Returns the number displayed by the other device; nil means that the user declines.
    public typealias Enter = @Sendable () async -> UInt32?

    /// No user interaction, and no authentication (Just Works).
    case none
    case display(Show)
    case displayYesNo(Show, Compare)
    case keyboard(Enter)
    case keyboardDisplay(Show, Compare, Enter)

    var capability: IOCapability {
        switch self {
        case .none: .noInputNoOutput
        case .display: .displayOnly
        case .displayYesNo: .displayYesNo
        case .keyboard: .keyboardOnly
        case .keyboardDisplay: .keyboardDisplay
        }
    }

    /// An answer to a question; the passkey is nil if the user declines or cannot enter one.
    enum Answer: Sendable { case isSame(Bool), passkey(UInt32?) }

    func show(_ number: UInt32) async {
        switch self {
        case .none, .keyboard: break
        case .display(let show), .displayYesNo(let show, _), .keyboardDisplay(let show, _, _): await show(number)
        }
    }

    func answer(_ question: ManagedPairing.Question) async -> Answer {
        switch (question, self) {
        case (.compare(let number), .displayYesNo(_, let compare)),
            (.compare(let number), .keyboardDisplay(_, let compare, _)):
            .isSame(await compare(number))
        case (.compare, _): .isSame(false)
        case (.enter, .keyboard(let enter)), (.enter, .keyboardDisplay(_, _, let enter)): .passkey(await enter())
        case (.enter, _): .passkey(nil)
        }
    }
}

extension Central {
    /// Pairs with an advertising device that is ready to pair, and returns the bond.
    ///
    /// The application must store the bond. This adapter uses the bond as long as the object exists; pass the bond to
    /// `BluetoothAdapter.use` in a later run. A bond with less than the `required` security or with a key shorter than
    /// 16 bytes is not accepted. Throws `timedOut` if the pairing has not succeeded within the time-out, which begins
    /// when the radio is free; otherwise `pairingFailed`, `unavailable` or `cancelled`. A failed pairing leaves no keys.
    /// Disconnect a connected device before pairing.
    public func pair(
        with device: DeviceAddress,
        _ user: PairingUser = .none,
        requiring required: GATTLinkSecurity.Level = .encrypted,
        timeout: Duration = .seconds(60)
    ) async throws(BluetoothError) -> Bond {
        let wish = PairingOptions(device, user.capability, required: required, limit: timeout)
        let reply = Reply<Bond>()
        let pairings = adapter.roles.value.pairings
        let identifier = try pairings.begin(wish, user, adapter.answering, reply)
        do throws(BluetoothError) {
            return try await reply.value()
        } catch {
            pairings.cancel(identifier)
            throw error
        }
    }
}

extension BluetoothAdapter {
    fileprivate nonisolated var answering: PairingCore.Deliver {
        let (roles, executor) = (roles, thread.executor)
        return { [weak roles] identifier, answer in
            executor.submit { [weak roles] in roles?.value.pairings.answer(identifier, answer) }
        }
    }

    /// Replaces the adapter's bonds with `bonds`; bonds with other adapters are ignored.
    ///
    /// The bonds are loaded again when the adapter is reopened after a loss.
    public func use(_ bonds: [Bond]) { roles.value.pairings.use(bonds) }

    /// Accepts a pairing request from one central, and returns the bond, like `Central.pair`.
    ///
    /// This host is the peripheral. Throws `timedOut` if no central has paired within the time-out; a central whose
    /// pairing fails may retry. Throws `pairingFailed` if the kernel does not allow pairing, `unavailable` if the
    /// adapter is lost, and `cancelled` if the task is cancelled or another call of this method replaces this one.
    public func acceptPairing(
        _ user: PairingUser = .none,
        requiring required: GATTLinkSecurity.Level = .encrypted,
        timeout: Duration = .seconds(60)
    ) async throws(BluetoothError) -> Bond {
        let reply = Reply<Bond>()
        let pairings = roles.value.pairings
        let offer = PairableOptions(user.capability, required: required, limit: timeout)
        let identifier = try pairings.accept(offer, user, answering, reply)
        do throws(BluetoothError) {
            return try await reply.value()
        } catch {
            pairings.cancel(identifier)
            throw error
        }
    }
}
