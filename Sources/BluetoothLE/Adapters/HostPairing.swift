// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A pairing that the user has begun, by the Security Manager of this library.
///
/// It is used on the loop's thread.
final class HostPairing: DevicePairing {
    private let adapter: HostAdapter
    private let wish: PairingWish
    private let usual: PairingPolicy
    private var attempt: (any ConnectionAttempt)?
    private var channel: HostChannel?
    private let timer = LoopTimer()
    private var isOver = false
    /// The reason that this side has given for the end.
    private var reason: ManagedPairing.Failure?

    var onNews: ((ManagedPairing.News) -> Void)?

    init(_ wish: PairingWish, on adapter: HostAdapter) {
        self.adapter = adapter
        self.wish = wish
        usual = adapter.host.pairingPolicy
        var policy = usual
        policy.ioCapability = PairingFeatures.IOCapability(rawValue: wish.capability.rawValue) ?? .noInputNoOutput
        policy.requiresAuthentication = wish.required >= .authenticated
        // A device that knows nothing better is paired where no number is demanded; its keys have 16 bytes, or there is no
        // bond.
        policy.allowsLegacy = true
        adapter.perform { $0.pairingPolicy = policy }
    }

    func begin() {
        adapter.pairing = self
        timer.set(on: adapter.loop, after: wish.limit) { [unowned self] in
            cancel()
        }
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
        // Without a pairing under way no news follows.
        adapter.later { [weak self] in self?.finish(.failure(.cancelled)) }
    }

    private func instruct(_ body: (inout LowEnergyHost, UInt16, Duration) -> Void) {
        guard let handle = channel?.connection.handle, !isOver else { return }
        adapter.perform { host in body(&host, handle, MonotonicClock.now) }
    }

    func take(_ news: LowEnergyHost.SecurityNews, of handle: UInt16) {
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
        cancelTimer()
        onNews?(.ended(result))
    }

    private func cancelTimer() {
        timer.cancel()
    }

    func close(forgetting: Bool, completion: @escaping () -> Void) {
        isOver = true
        onNews = nil
        cancelTimer()
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
    /// The same in the kernel's words.
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
