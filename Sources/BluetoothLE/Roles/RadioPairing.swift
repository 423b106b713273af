// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost

/// A pairing, which waits in a `RadioArbiter` for its turn on the radio, and has the radio alone until `RadioArbiter.end`.
///
/// It is used on the loop's thread.
package final class RadioPairing {
    /// The device, and what the user wants of its keys.
    package let wish: PairingWish
    /// The handler of questions, numbers and the result, as of `DevicePairing`.
    package var onNews: ((ManagedPairing.News) -> Void)?
    /// The handler that is called once if the adapter is lost, which ends the pairing without a result.
    package var onLoss: ((AdapterLoss) -> Void)?

    /// The adapter's pairing; nil while this one waits for its turn.
    private var pairing: (any DevicePairing)?
    private var onClosed: (() -> Void)?

    /// Makes a pairing, which begins with `RadioArbiter.start`.
    package init(_ wish: PairingWish) { self.wish = wish }

    /// Answers the comparison of two numbers.
    package func answer(_ isSame: Bool) { pairing?.answer(isSame) }

    /// Answers the question for a passkey; nil declines.
    package func answer(passkey: UInt32?) { pairing?.answer(passkey: passkey) }

    /// Begins, on an adapter that neither scans nor connects.
    func begin(on adapter: any LowEnergyAdapter) {
        let pairing = adapter.makePairing(wish)
        self.pairing = pairing
        pairing.onNews = { [weak self] news in self?.onNews?(news) }
        pairing.begin()
    }

    /// Reports the time-out of an adapter that reports no result.
    func giveUp() { onNews?(.ended(.failure(.cancelled))) }

    /// Ends the pairing and its link; `completion` is called once, at the latest by `noteClosed`.
    func close(forgetting: Bool, completion: @escaping () -> Void) {
        (onNews, onLoss) = (nil, nil)
        onClosed = completion
        let ended = pairing
        pairing = nil
        ended?.close(forgetting: forgetting) { [self] in noteClosed() }
        if ended == nil { noteClosed() }
    }

    /// Completes `close`, whether the adapter has answered or not.
    func noteClosed() {
        let completion = onClosed
        onClosed = nil
        completion?()
    }

    /// Ends the pairing with its adapter.
    func lose(_ loss: AdapterLoss) {
        if onClosed != nil { return noteClosed() }
        let handler = onLoss
        close(forgetting: true) {}
        handler?(loss)
    }
}
