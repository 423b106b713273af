// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// What happens one after another, kept for its reader up to a bound; what finds no room is counted.
///
/// It ends when its reader's task is cancelled, and throws why it ended by itself. It is meant for one reader.
public struct BoundedSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// What it throws.
    public typealias Failure = BluetoothError

    /// Which element is dropped when there is no room.
    enum Overflow {
        /// The new one: what is kept has no gap.
        case newest
        /// The one that has waited longest: what is kept is fresh.
        case oldest
    }

    /// The writing end.
    struct Source: Sendable {
        fileprivate let continuation: AsyncThrowingStream<Element, any Error>.Continuation
        fileprivate let drops: Drops

        /// Adds an element, or counts that one was dropped.
        func send(_ element: Element) {
            if case .dropped = continuation.yield(element) { drops.count.add(1, ordering: .relaxed) }
        }

        /// Ends the sequence behind what waits in it; with an error when there is one.
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

    /// A sequence that keeps up to `capacity` elements; `onEnd` is called on any thread when its reader is gone.
    init(capacity: Int, dropping overflow: Overflow, onEnd: @escaping @Sendable () -> Void = {}) {
        let room = Swift.max(1, capacity)
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(
            bufferingPolicy: overflow == .newest ? .bufferingOldest(room) : .bufferingNewest(room)
        )
        self.stream = stream
        continuation.onTermination = { reason in if case .cancelled = reason { onEnd() } }
        source = Source(continuation: continuation, drops: drops)
    }

    /// How many elements were dropped because the reader was too slow.
    public var dropped: UInt64 { drops.count.load(ordering: .relaxed) }

    /// Reads the elements.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncThrowingStream<Element, any Error>.AsyncIterator

        /// The next element; nil at the end.
        public mutating func next() async throws(BluetoothError) -> Element? {
            try await next(isolation: nil)
        }

        /// The next element; nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BluetoothError) -> Element? {
            do {
                return try await base.next(isolation: actor)
            } catch let error as BluetoothError {
                throw error
            } catch {
                throw .cancelled
            }
        }
    }

    /// The reading end.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }
}
