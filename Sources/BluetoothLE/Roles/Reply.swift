// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// A result for one waiting task.
///
/// It is given once, from the loop's thread or by the cancellation of the task.
final class Reply<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, BluetoothError>

    private enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case given(Outcome)
        case taken
    }

    private let state = Mutex(State.open)

    /// Gives the result.
    ///
    /// Calls after the first do nothing.
    func give(_ outcome: Outcome) {
        let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(outcome)
                return nil
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .given, .taken: return nil
            }
        }
        continuation?.resume(returning: outcome)
    }

    /// Waits for the result.
    ///
    /// Throws `cancelled` at once when the task is cancelled.
    func value(isolation: isolated (any Actor)? = #isolation) async throws(BluetoothError) -> Value {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early: Outcome? = state.withLock { state in
                    guard case .given(let outcome) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return outcome
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            give(.failure(.cancelled))
        }
        return try outcome.get()
    }
}
