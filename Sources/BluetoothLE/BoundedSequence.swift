// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Synchronization

/// An asynchronous sequence that buffers a limited number of elements for one consumer, and counts the elements that it
/// discards.
///
/// It ends when the consumer's task is cancelled. If its source ends with an error, the sequence throws that error
/// after the buffered elements.
public struct BoundedSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// The type of the errors that the sequence throws.
    public typealias Failure = BluetoothError

    /// Policy that selects the element to discard when the buffer is full.
    enum Overflow {
        /// Discard the new element, so that the buffered elements have no gap.
        case newest
        /// Discard the oldest buffered element, so that the buffered elements are the latest.
        case oldest
    }

    /// The writing end.
    struct Source: Sendable {
        fileprivate let continuation: AsyncThrowingStream<Element, any Error>.Continuation
        fileprivate let drops: Drops

        /// Adds an element; if the buffer is full, the new or the oldest element is discarded and counted.
        func send(_ element: Element) {
            if case .dropped = continuation.yield(element) { drops.count.add(1, ordering: .relaxed) }
        }

        /// Ends the sequence after the buffered elements, with an error if one is given.
        func finish(_ error: BluetoothError? = nil) {
            continuation.finish(throwing: error)
        }
    }

    fileprivate final class Drops: Sendable {
        let count = Atomic<UInt64>(0)
    }

    private let stream: AsyncThrowingStream<Element, any Error>
    private let drops = Drops()
    let source: Source

    /// Creates a sequence that buffers up to `capacity` elements, at least 1.
    ///
    /// `onEnd` is called on any thread when the consumer is cancelled or releases the sequence.
    init(capacity: Int, dropping overflow: Overflow, onEnd: @escaping @Sendable () -> Void = {}) {
        let room = Swift.max(1, capacity)
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(
            bufferingPolicy: overflow == .newest ? .bufferingOldest(room) : .bufferingNewest(room)
        )
        self.stream = stream
        continuation.onTermination = { reason in if case .cancelled = reason { onEnd() } }
        source = Source(continuation: continuation, drops: drops)
    }

    /// Number of elements discarded because the buffer was full.
    public var dropped: UInt64 { drops.count.load(ordering: .relaxed) }

    /// The iterator of the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncThrowingStream<Element, any Error>.AsyncIterator

        /// Returns the next element; nil at the end, and when the task is cancelled.
        ///
        /// Throws the source's error.
        public mutating func next() async throws(BluetoothError) -> Element? {
            try await next(isolation: nil)
        }

        /// Returns the next element; nil at the end, and when the task is cancelled.
        ///
        /// Throws the source's error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BluetoothError) -> Element? {
            do {
                return try await base.next(isolation: actor)
            } catch let error as BluetoothError {
                throw error
            } catch {
                throw .cancelled
            }
        }
    }

    /// Returns an iterator over the elements; use only one iterator per sequence.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }
}

/// A result that one task waits for; it is set once, by the loop's thread or by the task's cancellation.
final class Reply<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, BluetoothError>

    private enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case given(Outcome)
        case taken
    }

    private let state = Mutex(State.open)

    /// Sets the result; only the first call has an effect.
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

    /// Waits for the result; throws `cancelled` immediately if the task is cancelled.
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
