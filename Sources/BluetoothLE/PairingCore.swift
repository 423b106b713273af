// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import LinuxIO

/// The pairings of both roles on the loop's thread, and the bonds that the application has passed in or created.
///
/// Every method is called on the loop's thread.
final class PairingCore {
    private enum Running {
        /// A pairing started by this host.
        case own(RadioPairing)
        /// A pairable mode, in which a central may pair.
        case window(any PairableMode, Reply<Bond>)
    }

    /// A function that passes the user's answer for the pairing with this identifier to the loop's thread.
    ///
    /// It may be called on any thread.
    typealias Deliver = @Sendable (UInt64, PairingUser.Answer) -> Void

    private let radio: RadioArbiter
    private var running: [UInt64: Running] = [:]
    private var lastIdentifier: UInt64 = 0
    /// The application's bonds; nil until it has passed in or created any, so that other programs' bonds are kept.
    private var bonds: [Bond]?

    init(_ radio: RadioArbiter) { self.radio = radio }

    /// Passes the bonds to an adapter that has just been opened.
    func use(on adapter: any LowEnergyAdapter) { if let bonds { adapter.use(bonds) } }

    func use(_ bonds: [Bond]) {
        self.bonds = bonds
        radio.adapter?.use(bonds)
    }

    /// Starts a pairing, and returns the identifier for `cancel`; throws `unavailable` if there is no adapter.
    func begin(
        _ wish: PairingOptions,
        _ user: PairingUser,
        _ deliver: @escaping Deliver,
        _ reply: Reply<Bond>
    ) throws(BluetoothError) -> UInt64 {
        try check()
        let pairing = RadioPairing(wish)
        let identifier = add(.own(pairing))
        let deadline = MonotonicClock.now + wish.limit
        pairing.onNews = { [weak self] news in
            guard let self else { return }
            switch news {
            case .ask(let question): Task { deliver(identifier, await user.answer(question)) }
            case .show(let passkey): Task { await user.show(passkey) }
            case .ended(.success(let bond)):
                running[identifier] = nil
                radio.end(pairing, forgetting: false) { [weak self] in
                    self?.keep(bond)
                    reply.give(.success(bond))
                }
            case .ended(.failure(let failure)):
                running[identifier] = nil
                // At the time-out, the adapter cancels the pairing or gives up the connection.
                let isLate = failure.mayBeTimeout && MonotonicClock.now >= deadline
                let error: BluetoothError = isLate ? .timedOut : .pairingFailed(failure)
                radio.end(pairing, forgetting: false) { reply.give(.failure(error)) }
            }
        }
        pairing.onLoss = { [weak self] _ in
            guard let self else { return }
            running[identifier] = nil
            reply.give(.failure(radio.absence))
        }
        radio.start(pairing)
        return identifier
    }

    /// Starts a pairable mode, and returns the identifier for `cancel`; throws `unavailable` if there is no adapter.
    ///
    /// The adapter closes an earlier pairable mode without an event, so its caller receives `cancelled` here.
    func accept(
        _ offer: PairableOptions,
        _ user: PairingUser,
        _ deliver: @escaping Deliver,
        _ reply: Reply<Bond>
    ) throws(BluetoothError) -> UInt64 {
        let window = try check().makePairableMode(offer)
        endPairableModes(.cancelled)
        let identifier = add(.window(window, reply))
        window.onNews = { [weak self] news in
            guard let self else { return }
            switch news {
            case .ask(let question, _): Task { deliver(identifier, await user.answer(question)) }
            case .show(let passkey, _): Task { await user.show(passkey) }
            case .failed: break
            case .refused(let opcode, let status):
                running[identifier] = nil
                reply.give(.failure(.pairingFailed(.refused(opcode, status))))
            case .ended(let bond):
                running[identifier] = nil
                if let bond { keep(bond) }
                reply.give(bond.map { .success($0) } ?? .failure(.timedOut))
            }
        }
        window.open()
        return identifier
    }

    /// Cancels a pairing and deletes its keys; does nothing if the pairing has ended.
    func cancel(_ identifier: UInt64) {
        switch running.removeValue(forKey: identifier) {
        case .own(let pairing): radio.end(pairing, forgetting: true) {}
        case .window(let window, _): window.close()
        case nil: break
        }
    }

    /// Passes on the user's answer; does nothing if the pairing has ended.
    func answer(_ identifier: UInt64, _ answer: PairingUser.Answer) {
        switch (running[identifier], answer) {
        case (.own(let pairing), .isSame(let isSame)): pairing.answer(isSame)
        case (.own(let pairing), .passkey(let passkey)): pairing.answer(passkey: passkey)
        case (.window(let window, _), .isSame(let isSame)): window.answer(isSame)
        case (.window(let window, _), .passkey(let passkey)): window.answer(passkey: passkey)
        case (nil, _): break
        }
    }

    /// Ends the pairable modes of a lost adapter.
    func adapterLost() { endPairableModes(radio.absence) }

    private func endPairableModes(_ error: BluetoothError) {
        for (identifier, one) in running {
            guard case .window(_, let reply) = one else { continue }
            running[identifier] = nil
            reply.give(.failure(error))
        }
    }

    /// Returns the adapter; throws if there is none, or if the adapter's address changes each time it starts.
    @discardableResult
    private func check() throws(BluetoothError) -> any LowEnergyAdapter {
        let adapter = try radio.ready()
        guard adapter.keepsAddress else {
            throw .unavailable(.poweredOn, cause: AdapterErrorDescription.noKeptAddress(adapter.name), remedy: nil)
        }
        return adapter
    }

    private func add(_ one: Running) -> UInt64 {
        lastIdentifier &+= 1
        running[lastIdentifier] = one
        return lastIdentifier
    }

    private func keep(_ bond: Bond) { use((bonds ?? []) + [bond]) }
}

extension ManagedPairing.Failure {
    /// True if an adapter may report this failure for a pairing that has timed out.
    fileprivate var mayBeTimeout: Bool {
        switch self {
        case .cancelled, .notReached: true
        default: false
        }
    }
}
