// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A time in which a central may pair, by the Security Manager of this library.
///
/// It is used on the loop's thread.
final class HostPairingWindow: PairingWindow {
    private let adapter: HostAdapter
    private let offer: PairingOffer
    private let timer = LoopTimer()
    private var isOpen = false
    /// The connection of the central about which the user was asked or shown something.
    private var asked: LowEnergyHost.Connection?
    /// True where the user has said no.
    private var isDeclined = false

    var onNews: ((PairingWindowNews) -> Void)?

    init(_ offer: PairingOffer, on adapter: HostAdapter) {
        self.adapter = adapter
        self.offer = offer
    }

    deinit { close() }

    func open() {
        adapter.window?.close()
        adapter.window = self
        isOpen = true
        timer.set(on: adapter.loop, after: offer.limit) { [unowned self] in
            end(nil)
        }
        adapter.perform { host in
            var policy = host.pairingPolicy
            policy.ioCapability = PairingFeatures.IOCapability(rawValue: offer.capability.rawValue) ?? .noInputNoOutput
            policy.requiresAuthentication = offer.required >= .authenticated
            // A central that knows nothing better is paired where no number is demanded, as a device is.
            policy.allowsLegacy = true
            policy.acceptsRequests = true
            host.acceptance = policy
        }
    }

    func answer(_ isSame: Bool) {
        if !isSame { isDeclined = true }
        instruct { host, handle, now in host.compare(isSame: isSame, of: handle, now: now) }
    }

    func answer(passkey: UInt32?) {
        if passkey == nil { isDeclined = true }
        instruct { host, handle, now in host.enter(passkey: passkey, of: handle, now: now) }
    }

    private func instruct(_ body: (inout LowEnergyHost, UInt16, Duration) -> Void) {
        guard let handle = asked?.handle else { return }
        adapter.perform { host in body(&host, handle, MonotonicClock.now) }
    }

    /// Takes the news of a connection.
    func take(_ news: LowEnergyHost.SecurityNews, of connection: LowEnergyHost.Connection) {
        guard connection.role == .peripheral else { return }
        switch news {
        case .changed: break
        case .showPasskey(let passkey):
            asked = connection
            onNews?(.show(passkey: passkey, at: connection.peer))
        case .askPasskey: ask(.enter, connection)
        case .compareNumber(let number): ask(.compare(number), connection)
        case .paired(nil): fail(.notBonded, connection)
        case .paired(let bond?): end(bond)
        case .pairingFailed(let failure):
            fail(isDeclined ? .declined : ManagedPairing.Failure(failure), connection)
        }
    }

    private func ask(_ question: ManagedPairing.Question, _ connection: LowEnergyHost.Connection) {
        asked = connection
        onNews?(.ask(question, of: connection.peer))
    }

    /// Takes the end of a connection, which settles what the user was asked about its central.
    func noteEnd(of connection: LowEnergyHost.Connection) {
        if asked == connection { fail(.notReached(.disconnected), connection) }
    }

    private func fail(_ failure: ManagedPairing.Failure, _ connection: LowEnergyHost.Connection) {
        asked = nil
        isDeclined = false
        onNews?(.failed(connection.peer, failure))
    }

    private func end(_ bond: Bond?) {
        let handler = onNews
        close()
        handler?(.ended(bond))
    }

    func close() {
        onNews = nil
        guard isOpen else { return }
        isOpen = false
        asked = nil
        timer.cancel()
        if adapter.window === self { adapter.window = nil }
        adapter.perform { host in
            host.acceptance = nil
            host.cancelAcceptedPairings(now: MonotonicClock.now)
        }
    }
}
