// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Standard input for a program that will be started: a text that is written as fast as the program reads it.
///
/// This process also keeps the read end of the pipe open, so that it can count unread bytes, and so that a program that
/// closes its input causes no error. Used on the loop's thread.
package final class ChildInput {
    private final class End {
        let descriptor: Descriptor

        init(_ number: Int32) { descriptor = Descriptor(owning: number) }
    }

    private let loop: EventLoop
    private let bytes: [UInt8]
    private var written = 0
    private let output: Descriptor
    /// The write end; nil once the whole text is written, so that the program finds the end of its input.
    private var input: End?
    private var registration: EventLoop.Registration?

    /// Creates a pipe, and writes the beginning of the text to it (C: `pipe2`).
    package init(_ bytes: [UInt8], on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.bytes = bytes
        let ends = try Descriptor.pipe()
        output = Descriptor(owning: ends.output)
        input = End(ends.input)
        // The program expects an ordinary, blocking pipe; this process never reads from it.
        _ = try SystemCall.run { fcntl(ends.output, F_SETFL, 0) }
        try write()
    }

    /// Descriptor that becomes the program's standard input.
    var descriptor: Int32 { output.number }

    /// Number of bytes that the program and its children have read so far (C: `ioctl(FIONREAD)`).
    package var read: Int {
        var unread: Int32 = 0
        let number = output.number
        // Sound: the kernel writes an integer to a local variable.
        let isKnown = (try? SystemCall.run { unsafe blewedge_ioctl_pointer(number, UInt(FIONREAD), &unread) }) != nil
        return isKnown ? max(0, written - Int(unread)) : 0
    }

    /// Closes the pipe; bytes that were not written are discarded.
    package func close() {
        if let registration, let input { loop.unwatch(registration, input.descriptor) }
        registration = nil
        input = nil
    }

    private func write() throws(Errno) {
        while written < bytes.count, let input {
            let rest = Array(bytes[written...])
            // Sound: the bytes are not changed during the call.
            guard case .done(let count) = try input.descriptor.write(unsafe rest.span.bytes) else {
                if registration == nil {
                    registration = try loop.watch(input.descriptor, for: .writable) { [unowned self] _ in
                        do throws(Errno) { try write() } catch { close() }
                    }
                }
                return
            }
            written += count
        }
        close()
    }
}
