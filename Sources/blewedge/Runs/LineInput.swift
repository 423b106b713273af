// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import LinuxIO
import SystemPackage

/// Lines of a file, a pipe or a terminal, read only when they are asked for; to be used on the loop's thread.
final class LineInput {
    private static let pieceSize = 1 << 14

    private let descriptor: Descriptor
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    /// True for what is always ready and cannot be waited for: a regular file.
    private(set) var isAlwaysReady = false
    private var lines = LineSplitter()
    private var buffer = [UInt8](repeating: 0, count: pieceSize)

    /// True when all that there is has been read.
    private(set) var isAtEnd = false
    /// Called when there may be a line again for who has got none.
    var onLines: (() -> Void)?
    /// Called once when reading has failed.
    var onFailure: ((Errno) -> Void)?

    init(_ descriptor: consuming Descriptor, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit { unwatch() }

    /// The next line, or part of a long one; nil when none has come yet, or no more will come.
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
                // Not watched until a line is missing again: what is not read holds up who writes it.
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
