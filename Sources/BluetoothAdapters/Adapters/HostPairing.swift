// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A pairing started by the user, over this library's Security Manager; used on the loop's thread.
final class HostPairing: DevicePairing {
    private let adapter: HostAdapter
    private let wish: PairingOptions
    private let usual: PairingPolicy
    private var attempt: (any ConnectionAttempt)?
    private var channel: HostChannel?
    private let timer = LoopTimer()
    private var isOver = false
    /// The reason why this host ended the pairing; nil if it did not end the pairing.
    private var reason: ManagedPairing.Failure?

    var onNews: ((ManagedPairing.News) -> Void)?

    init(_ wish: PairingOptions, on adapter: HostAdapter) {
        self.adapter = adapter
        self.wish = wish
        usual = adapter.host.pairingPolicy
        var policy = usual
        policy.ioCapability = PairingFeatures.IOCapability(rawValue: wish.capability.rawValue) ?? .noInputNoOutput
        policy.requiresAuthentication = wish.required >= .authenticated
        // Legacy pairing is allowed if no authentication is required; keys shorter than 16 bytes create no bond.
        policy.allowsLegacy = true
        adapter.perform { $0.pairingPolicy = policy }
    }

    func begin() {
        adapter.pairing = self
        timer.set(on: adapter.loop, after: wish.limit) { [unowned self] in cancel() }
        do throws(LinkFailure) {
            attempt = try adapter.connect(to: wish.device, timeout: wish.limit) { [weak self] result in
                self?.connected(result)
            }
        } catch {
            finish(.failure(.notReached(.connectFailed)))
        }
    }

    private func connected(_ result: Result<any ATTChannel, LinkFailure>) {
        attempt = nil
        guard !isOver, case .success(let channel as HostChannel) = result else {
            return finish(.failure(.notReached(.connectFailed)))
        }
        self.channel = channel
        channel.onClosed = { [weak self] _ in self?.finish(.failure(.notReached(.disconnected))) }
        do throws(SecurityManager.Refusal) {
            try adapter.perform { host throws(SecurityManager.Refusal) in
                try host.pair(channel.connection.handle, now: MonotonicClock.now)
            }
        } catch {
            switch error {
            case .bonded: finish(.failure(.alreadyPaired))
            case .busy, .tooEarly: finish(.failure(.refused(.pairDevice, .busy)))
            case .ended: finish(.failure(.refused(.pairDevice, .notSupported)))
            }
        }
    }

    func answer(_ isSame: Bool) {
        if !isSame { reason = .declined }
        instruct { host, handle, now in host.compare(isSame: isSame, of: handle, now: now) }
    }

    func answer(passkey: UInt32?) {
        if passkey == nil { reason = .declined }
        instruct { host, handle, now in host.enter(passkey: passkey, of: handle, now: now) }
    }

    func cancel() {
        guard !isOver else { return }
        reason = .cancelled
        instruct { host, handle, now in host.cancelPairing(of: handle, now: now) }
        // If no pairing is in progress, the host stack will not report an end event, so report one here.
        adapter.later { [weak self] in self?.finish(.failure(.cancelled)) }
    }

    private func instruct(_ body: (inout LowEnergyHost, UInt16, Duration) -> Void) {
        guard let handle = channel?.connection.handle, !isOver else { return }
        adapter.perform { host in body(&host, handle, MonotonicClock.now) }
    }

    func take(_ news: LowEnergyHost.SecurityEvent, of handle: UInt16) {
        guard !isOver, handle == channel?.connection.handle else { return }
        switch news {
        case .changed: break
        case .showPasskey(let passkey): onNews?(.show(passkey: passkey))
        case .askPasskey: onNews?(.ask(.enter))
        case .compareNumber(let number): onNews?(.ask(.compare(number)))
        case .paired(nil): finish(.failure(.notBonded))
        case .paired(let bond?):
            let security = bond.security
            guard security.suffices(for: max(wish.required, .encrypted)) else {
                return finish(.failure(bond.isLegacy ? .legacy : .tooWeak(security)))
            }
            finish(.success(bond))
        case .pairingFailed(let failure): finish(.failure(reason ?? ManagedPairing.Failure(failure)))
        }
    }

    private func finish(_ result: Result<Bond, ManagedPairing.Failure>) {
        guard !isOver else { return }
        isOver = true
        timer.cancel()
        onNews?(.ended(result))
    }

    func close(forgetting: Bool, completion: @escaping () -> Void) {
        isOver = true
        onNews = nil
        timer.cancel()
        attempt?.cancel()
        attempt = nil
        if adapter.pairing === self { adapter.pairing = nil }
        adapter.perform { host in
            host.pairingPolicy = usual
            if forgetting { host.bonds.removeAll { $0.identityAddress == wish.device } }
        }
        guard let channel else { return adapter.later(completion) }
        adapter.disconnect(wish.device, completion: completion)
        channel.close()
    }
}

extension ManagedPairing.Failure {
    /// Converts a Security Manager failure to the failure that the kernel would report in the same situation.
    init(_ failure: SecurityManager.Failure) {
        switch failure {
        case .refused(.authenticationRequirements): self = .tooWeak(GATTLinkSecurity(level: .encrypted))
        case .refused(.encryptionKeySize): self = .keyTooShort
        case .legacy: self = .legacy
        case .refused, .refusedByPeer, .notEncrypted: self = .disagreed
        case .timedOut: self = .notReached(.timeout)
        }
    }
}

/// The pairable mode of this library's Security Manager; used on the loop's thread.
final class HostPairableMode: PairableMode {
    private let adapter: HostAdapter
    private let offer: PairableOptions
    private let timer = LoopTimer()
    private var isOpen = false
    /// The connection to the central whose pairing has asked the user a question or shown a passkey; nil if there is
    /// none.
    private var asked: LowEnergyHost.Connection?
    private var isDeclined = false

    var onNews: ((PairableEvent) -> Void)?

    init(_ offer: PairableOptions, on adapter: HostAdapter) {
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
            // Legacy pairing is allowed if no authentication is required, as in `HostPairing`.
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

    func take(_ news: LowEnergyHost.SecurityEvent, of connection: LowEnergyHost.Connection) {
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

    /// Handles the end of a connection; if its central is pairing, the pairing fails.
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
        adapter.window = nil
        adapter.perform { host in
            host.acceptance = nil
            host.cancelAcceptedPairings(now: MonotonicClock.now)
        }
    }
}

extension HostAdapter {
    /// Replaces the host stack's bonds with those for its controller; an existing link keeps using its bond.
    package func use(_ bonds: [Bond]) {
        perform { host in host.bonds = bonds.filter { $0.localAddress == host.ownAddress?.address } }
    }

    package var keepsAddress: Bool { deviceAddress?.type == .public }

    package func makePairing(_ wish: PairingOptions) -> any DevicePairing { HostPairing(wish, on: self) }

    package func makePairableMode(_ offer: PairableOptions) -> any PairableMode { HostPairableMode(offer, on: self) }
}
