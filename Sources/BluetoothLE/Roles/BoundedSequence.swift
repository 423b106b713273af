// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// An asynchronous sequence that buffers a limited number of elements for one reader, and counts those it dropped.
///
/// It ends when the reader's task is cancelled. When its source ends with an error, it throws that error after the
/// buffered elements.
public struct BoundedSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// The type of the errors that the sequence throws.
    public typealias Failure = BluetoothError

    /// The element that is dropped when the buffer is full.
    enum Overflow {
        /// The new element: the buffered ones have no gap between them.
        case newest
        /// The oldest buffered element: the buffered ones are the latest.
        case oldest
    }

    /// The writing end.
    struct Source: Sendable {
        fileprivate let continuation: AsyncThrowingStream<Element, any Error>.Continuation
        fileprivate let drops: Drops

        /// Adds an element; counts a drop if the buffer is full.
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

    /// Makes a sequence that buffers up to `capacity` elements, at least 1.
    ///
    /// `onEnd` is called on any thread when the reader is cancelled or gone.
    init(capacity: Int, dropping overflow: Overflow, onEnd: @escaping @Sendable () -> Void = {}) {
        let room = Swift.max(1, capacity)
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(
            bufferingPolicy: overflow == .newest ? .bufferingOldest(room) : .bufferingNewest(room)
        )
        self.stream = stream
        continuation.onTermination = { reason in if case .cancelled = reason { onEnd() } }
        source = Source(continuation: continuation, drops: drops)
    }

    /// The number of elements that were dropped because the buffer was full.
    public var dropped: UInt64 { drops.count.load(ordering: .relaxed) }

    /// The iterator of the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncThrowingStream<Element, any Error>.AsyncIterator

        /// The next element; nil at the end.
        ///
        /// Throws the source's error, or `cancelled`.
        public mutating func next() async throws(BluetoothError) -> Element? {
            try await next(isolation: nil)
        }

        /// The next element; nil at the end.
        ///
        /// Throws the source's error, or `cancelled`.
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

    /// An iterator over the elements; the sequence is meant for one.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }
}
