// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import LinuxIO
import SystemPackage

/// Reads lines of a file, a pipe or a terminal, only on demand; use it on the event loop's thread.
final class LineInput {
    private static let pieceSize = 1 << 14

    private let descriptor: Descriptor
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    /// True if the input is a regular file, which is always ready and cannot be watched.
    private(set) var isAlwaysReady = false
    private var lines = LineSplitter()
    private var buffer = [UInt8](repeating: 0, count: pieceSize)

    /// True once the end of the input is reached, or reading has failed.
    private(set) var isAtEnd = false
    /// Handler called when a line may be available after `next` has returned nil.
    var onLines: (() -> Void)?
    /// Handler called once, if reading fails.
    var onFailure: ((Errno) -> Void)?

    init(_ descriptor: consuming Descriptor, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit { unwatch() }

    /// Returns the next line, or part of a long line; nil if none is available yet, or at the end of the input.
    func next() -> LineSplitter.Piece? {
        while true {
            if let piece = lines.next() ?? (isAtEnd ? lines.finish() : nil) { return piece }
            guard !isAtEnd else { return nil }
            watch()
            guard isAlwaysReady else { return nil }
            read()
        }
    }

    private func watch() {
        guard registration == nil, !isAlwaysReady else { return }
        do throws(Errno) {
            registration = try loop.watch(descriptor, for: .readable) { [weak self] _ in
                guard let self else { return }
                // Watch the input again only when no line is left, so that its writer is blocked while input is unread.
                unwatch()
                read()
                onLines?()
            }
        } catch .notPermitted {
            isAlwaysReady = true
        } catch {
            fail(error)
        }
    }

    private func unwatch() {
        if let registration { loop.unwatch(registration, descriptor) }
        registration = nil
    }

    private func read() {
        do throws(Errno) {
            guard case .done(let count) = try descriptor.read(into: &buffer) else { return }
            if count == 0 { isAtEnd = true } else { lines.append(buffer.prefix(count)) }
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: Errno) {
        isAtEnd = true
        let handler = onFailure
        onFailure = nil
        handler?(error)
    }
}
