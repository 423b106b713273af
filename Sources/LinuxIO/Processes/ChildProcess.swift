// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import Synchronization
package import SystemPackage

/// A program that this process has started; the event loop can wait for its end.
package struct ChildProcess: ~Copyable {
    /// Descriptor that is readable once the program has ended: a pidfd or, on a kernel without pidfd, a pipe that a
    /// waiting thread closes.
    package let descriptor: Descriptor
    private let identifier: pid_t

    /// WNOHANG; the name itself is ambiguous, because two modules of the C library define it.
    private static let doNotWait: Int32 = 1

    package enum End: Equatable, Sendable {
        case exited(Int32)
        /// The program was killed by this signal.
        case killed(Int32)
    }

    package enum Privileges: Sendable {
        /// The program has no capabilities, and cannot gain any through a program's file or by running as root.
        case none
        /// The program has the privileges of this process.
        ///
        /// This is only for a command that the user has run, never for anything that a device can trigger.
        case ours
    }

    /// Starts a program without a shell, with `variables` added to its environment.
    ///
    /// A name without a slash is looked up in PATH. The program's standard input is `input`, or empty, and both of its
    /// outputs go to our standard error; the terminal's signals do not reach it. Variables of our environment whose
    /// names begin with `prefix` are not passed on.
    ///
    /// The corresponding C functions are `posix_spawnp` and `pidfd_open` or, on kernels before 5.3, `waitid` in a
    /// separate thread. A program without privileges is started by a thread that has given up its own privileges,
    /// because each thread has its own capabilities(7), and a program that it starts has no more than the thread.
    package init(
        _ program: String,
        arguments: [String] = [],
        environment: [(name: String, value: String)],
        replacing prefix: String,
        input: ChildInput? = nil,
        privileges: Privileges = .none
    ) throws(Errno) {
        let words = [program] + arguments
        let child =
            switch privileges {
            case .none: try Self.spawnWithoutPrivileges(words, environment, prefix, input?.descriptor)
            case .ours: try Self.spawn(words, environment, prefix, input?.descriptor)
            }
        do throws(Errno) {
            descriptor = try Self.endOf(child)
            identifier = child
        } catch {
            // Kill the program, because its end cannot be waited for.
            _ = kill(-child, SIGKILL)
            _ = waitpid(child, nil, 0)
            throw error
        }
    }

    /// Returns a descriptor that is readable once the process has ended.
    private static func endOf(_ child: pid_t) throws(Errno) -> Descriptor {
        do throws(Errno) {
            let site = CallSite(.file, .pidfdOpen)
            return Descriptor(owning: try SystemCall.run(site) { blewedge_pidfd_open(child) })
        } catch {
            // A container's system call filter may refuse a call that it does not know.
            guard error == .noFunction || error == .notPermitted else { throw error }
        }
        let ends = try Descriptor.pipe()
        let input = Descriptor(owning: ends.input)
        let output = Descriptor(owning: ends.output)
        let handed = Mutex<Descriptor?>(input)
        _ = try SystemThread(name: "child") {
            // Waiting does not consume the exit status. An error means that the owner has read the status already, so
            // the child has ended.
            _ = try? SystemCall.run { blewedge_await_end(child) }
            // Closing the write end makes the read end readable; only this thread closes it.
            handed.withLock { $0 = nil }
        }
        return output
    }

    /// Returns how the program ended, or nil while it runs; do not call it again after it has returned a result (C:
    /// `waitpid`).
    package func takeEnd() -> End? {
        var status: Int32 = 0
        // Sound: the status is a local variable that outlives the call.
        guard unsafe waitpid(identifier, &status, Self.doNotWait) == identifier else { return nil }
        // The lowest seven bits contain the signal, and the second byte contains the exit code (wait(2)).
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
    }

    /// Kills the program and its process group; call `takeEnd` afterwards (C: `kill`).
    package func stop() {
        _ = kill(-identifier, SIGKILL)
    }

    /// Waits until the program has ended (C: `poll` and `waitpid`).
    package func waitForEnd() throws(Errno) -> End {
        while true {
            if let end = takeEnd() { return end }
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            // Sound: the call gets one entry, a local variable.
            _ = try SystemCall.run { unsafe poll(&entry, 1, -1) }
        }
    }

    private static func spawnWithoutPrivileges(
        _ words: [String],
        _ environment: [(name: String, value: String)],
        _ prefix: String,
        _ input: Int32?
    ) throws(Errno) -> pid_t {
        let outcome = Mutex<Result<pid_t, Errno>>(.failure(.ioError))
        let thread = try SystemThread(name: "start") {
            let result = Result<pid_t, Errno> { () throws(Errno) in
                try ThreadPrivileges.giveUp()
                return try spawn(words, environment, prefix, input)
            }
            outcome.withLock { $0 = result }
        }
        thread.join()
        return try outcome.withLock { $0 }.get()
    }

    private static func spawn(
        _ words: [String],
        _ environment: [(name: String, value: String)],
        _ prefix: String,
        _ input: Int32?
    ) throws(Errno) -> pid_t {
        // Sound, here and below: the attributes, actions and strings are created here, outlive the call, and are freed
        // once.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // All bits are zero, so the set is empty.
        var mask = sigset_t()
        // The program must inherit neither our blocked signals nor our ignored SIGPIPE.
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe sigaddset(&mask, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &mask)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, 2, 1)

        let own = unsafe environment.map { unsafe strdup("\($0.name)=\($0.value)") }
        defer { unsafe own.forEach { unsafe free($0) } }
        var variables = unsafe own
        var entry = unsafe blewedge_environment()
        while let place = unsafe entry, let text = unsafe place.pointee {
            if unsafe strncmp(text, prefix, prefix.utf8.count) != 0 { unsafe variables.append(text) }
            unsafe entry = place + 1
        }
        unsafe variables.append(nil)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let error = unsafe posix_spawnp(&child, words[0], &actions, &attributes, &arguments, &variables)
        guard error == 0 else { throw Errno(rawValue: error) }
        return child
    }
}
