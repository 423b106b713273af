// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// The user of this host in a pairing: what can be shown, and what can be asked (Core 6.0, Vol 3, Part H, 2.3.2).
///
/// The functions are called outside the adapter's thread. A question that is not answered before the pairing's time is over
/// ends it.
public enum PairingUser: Sendable {
    /// Shows the number, 0 … 999,999, that is to be entered at the other device.
    public typealias Show = @Sendable (UInt32) async -> Void
    /// Answers if both devices show this number.
    public typealias Compare = @Sendable (UInt32) async -> Bool
    /// Answers with the number that the other device shows; nil declines.
    public typealias Enter = @Sendable () async -> UInt32?

    /// Nobody is asked, and nothing is authenticated (Just Works).
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

    /// An answer to a question; a number is nil for a user who declines, or has no keys.
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
    /// Pairs with a device that advertises and is ready to pair, and returns their bond, which the application keeps: the
    /// adapter knows it until it is closed, and `BluetoothAdapter.use` makes it known to a later one.
    ///
    /// The bond has the `required` security and a key of 16 bytes, or there is none. Throws `pairingFailed`, `unavailable`,
    /// or `cancelled`, after which nothing is left of the pairing. A device that is connected must be disconnected before.
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

    /// Makes the adapter know these bonds, and no others; those of other adapters are left out.
    ///
    /// It knows them again when it comes back after a loss.
    public func use(_ bonds: [Bond]) { roles.value.pairings.use(bonds) }

    /// Lets one central that asks for it pair with this host, the peripheral, and returns their bond, as `Central.pair` does.
    ///
    /// Throws `timedOut` if none has paired within the time; a central that fails may try again.
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
