// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
import Glibc
package import SystemPackage

/// A connection to another process on this machine through a unix socket.
package struct LocalStream: ~Copyable {
    /// Non-blocking socket, for the event loop.
    package let descriptor: Descriptor

    /// The process at the other end, as the kernel reports it.
    package struct Peer: Equatable, Sendable {
        package var process: Int32
        /// Effective user of the process when it called `connect` or `listen`.
        package var user: UInt32
        /// Effective group of the process when it called `connect` or `listen`.
        package var group: UInt32

        package init(process: Int32, user: UInt32, group: UInt32) {
            self.process = process
            self.user = user
            self.group = group
        }
    }

    init(accepted descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Connects to the socket at a path.
    ///
    /// Throws `connectionRefused` if no process listens, `noSuchFileOrDirectory` if the socket does not exist,
    /// `permissionDenied` if this process may not open it, `wouldBlock` if the queue of pending connections is full.
    /// The corresponding C functions are `socket` and `connect`.
    package init(connectingTo path: String) throws(Errno) {
        let socket = try Descriptor.localSocket(.client)
        if case .wouldBlock = try socket.connect(to: try sockaddr_un(path: path)) { throw .wouldBlock }
        descriptor = socket
    }

    /// Returns the process that listens at a path; nil if no process listens or it cannot be determined.
    package static func listener(at path: String) -> Int32? {
        (try? LocalStream(connectingTo: path).peer()).flatMap { $0.process > 0 ? $0.process : nil }
    }

    /// Returns the process at the other end (C: `getsockopt(SO_PEERCRED)`).
    package func peer() throws(Errno) -> Peer {
        // struct ucred, which glibc declares only with _GNU_SOURCE: a process, a user and a group of 32 bits each.
        let unknown = Credentials()
        let credentials = try descriptor.option(SOL_SOCKET, SO_PEERCRED, initial: unknown)
        return Peer(process: credentials.process, user: credentials.user, group: credentials.group)
    }

    /// Writes as many bytes as the socket accepts now (C: `send` with MSG_NOSIGNAL).
    ///
    /// Throws `brokenPipe`, without a signal, if the peer has disconnected.
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> { try descriptor.send(bytes) }

    /// Writes as many bytes of an array as the socket accepts now.
    package func write(_ bytes: [UInt8]) throws(Errno) -> NonBlocking<Int> { try write(unsafe bytes.span.bytes) }

    /// Sleeps until the socket is ready; returns false if the deadline on `MonotonicClock` passed first.
    ///
    /// It is for programs without an event loop. The corresponding C function is `ppoll`.
    package func wait(for readiness: EventLoop.Readiness, until deadline: Duration?) throws(Errno) -> Bool {
        let number = descriptor.number
        let events = readiness.contains(.writable) ? POLLOUT : POLLIN
        if let time = SystemTime.replacement {
            let deadline = deadline?.rounded(to: .nanoseconds(1))
            return time.sleep(on: number, for: Int16(events), until: deadline)
        }
        var entry = pollfd(fd: number, events: Int16(events), revents: 0)
        guard let deadline else {
            // Sound, here and below: the call gets one entry and one timespec, both local variables.
            return try SystemCall.run { unsafe blewedge_ppoll(&entry, 1, nil) } > 0
        }
        return try SystemCall.run {
            // Compute the time again for each call, because a signal may have interrupted the previous one.
            var time = timespec(max(.zero, deadline - MonotonicClock.now))
            return unsafe blewedge_ppoll(&entry, 1, &time)
        } > 0
    }

    /// Shuts down the writing direction, so that the peer reads the end of the stream (C: `shutdown`).
    package func finishWriting() throws(Errno) {
        let number = descriptor.number
        _ = try SystemCall.run { shutdown(number, Int32(SHUT_WR)) }
    }

    /// Layout of struct ucred.
    private struct Credentials: BitwiseCopyable {
        var process: Int32 = 0
        var user = UInt32.max
        var group = UInt32.max
    }
}

extension sockaddr_un {
    /// Creates the address of a unix socket in the file system.
    ///
    /// Throws `fileNameTooLong` for a path that does not fit into a socket address, `invalidArgument` for a path that
    /// is empty or contains a zero byte.
    init(path: String) throws(Errno) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, !bytes.contains(0) else { throw .invalidArgument }
        guard bytes.count < MemoryLayout.size(ofValue: sun_path) else { throw .fileNameTooLong }
        // Sound: the length was checked, and the rest of the field is zero.
        unsafe withUnsafeMutableBytes(of: &sun_path) { field in unsafe field.copyBytes(from: bytes) }
    }
}

/// The socket through which a service reports its state to its manager (sd_notify(3), systemd.service(5)
/// Type=notify).
package struct NotifySocket: ~Copyable {
    private let socket: Descriptor
    private var address: sockaddr_un
    private let length: socklen_t

    /// Creates a socket for the manager that listens at `path`, which is a file or, after an `@`, a name in the
    /// abstract namespace.
    ///
    /// Throws `invalidArgument` for any other text, `fileNameTooLong` for a path that does not fit into a socket
    /// address. The corresponding C function is `socket`.
    package init(_ path: String) throws(Errno) {
        var bytes = Array(path.utf8)
        guard let first = bytes.first, bytes.count > 1 else { throw .invalidArgument }
        let isAbstract = first == UInt8(ascii: "@")
        guard isAbstract || first == UInt8(ascii: "/"), !bytes.contains(0) else { throw .invalidArgument }
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .fileNameTooLong }
        // Sound: the length was checked, and the rest of the field is zero.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in unsafe field.copyBytes(from: bytes) }
        let made = try Descriptor.localDatagramSocket()
        self.address = address
        // An abstract name has no terminating zero; a path includes it.
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        socket = made
    }

    /// Sends assignments such as `READY=1`, one per line; ignores errors, for example if the manager does not listen
    /// (C: `sendto`).
    package mutating func send(_ text: String) {
        let bytes = Array(text.utf8)
        let number = socket.number
        let length = length
        // Sound: both pointers are used within the closures, with their own lengths.
        unsafe withUnsafeBytes(of: &address) { address in
            unsafe bytes.withUnsafeBytes { bytes in
                let target = unsafe address.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                _ = unsafe sendto(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), target, length)
            }
        }
    }
}

extension Descriptor {
    /// Creates a non-blocking datagram socket of the unix family, closed on exec (C: `socket`).
    fileprivate static func localDatagramSocket() throws(Errno) -> Descriptor {
        let flags = blewedge_SOCK_DGRAM | blewedge_SOCK_NONBLOCK | blewedge_SOCK_CLOEXEC
        return Descriptor(owning: try SystemCall.run { CLinux.socket(AF_UNIX, flags, 0) })
    }
}

/// A unix socket in the file system to which other processes on this machine connect; its file is removed when the
/// value is destroyed.
package struct LocalListener: ~Copyable {
    /// Socket for the event loop: readable when a client has connected.
    package let descriptor: Descriptor
    private let path: String
    private let file: FileIdentity

    /// Maximum number of clients that wait to be accepted.
    private static let backlog: Int32 = 16

    /// Listens at `path` for users whom a file with this `mode` would allow to write.
    ///
    /// Replaces a socket that a killed process has left behind. Throws `addressInUse` if a process listens at the path,
    /// or if the path leads to anything but a socket, `fileNameTooLong` for a path that does not fit into a socket
    /// address. The corresponding C functions are `socket`, `bind`, `chmod` and `listen`.
    package init(at path: String, mode: UInt32) throws(Errno) {
        let address = try sockaddr_un(path: path)
        let socket = try Descriptor.localSocket(.listener)
        let number = socket.number
        // The new file gets the mode of the socket, so that no other user can connect before `chmod` sets the final
        // mode.
        _ = try SystemCall.run { fchmod(number, 0o600) }
        do {
            try socket.bind(to: address)
        } catch .addressInUse {
            guard Self.isLeftBehind(path) else { throw .addressInUse }
            _ = try SystemCall.run { unsafe unlink(path) }
            try socket.bind(to: address)
        } catch {
            throw error
        }
        guard let file = FileIdentity(of: path) else { throw .noSuchFileOrDirectory }
        // Sound, here and above: the path is a string that outlives the call.
        _ = try SystemCall.run { unsafe chmod(path, mode) }
        try socket.listen(backlog: Self.backlog)
        descriptor = socket
        self.path = path
        self.file = file
    }

    deinit {
        // Do not remove a file that another process has created at the path since then.
        guard FileIdentity(of: path) == file else { return }
        // Sound: the path is a string that outlives the call.
        _ = unsafe unlink(path)
    }

    /// Accepts the next client; returns nil if no client is waiting (C: `accept4`).
    package func accept() throws(Errno) -> LocalStream? {
        var address = sockaddr_un()
        guard let accepted = try descriptor.accept(from: &address, as: .client) else { return nil }
        return LocalStream(accepted: accepted)
    }

    /// Returns true if the path leads to a socket on which no process listens.
    private static func isLeftBehind(_ path: String) -> Bool {
        guard let file = FileIdentity(of: path), file.isSocket else { return false }
        do {
            _ = try LocalStream(connectingTo: path)
            return false
        } catch {
            return error == .connectionRefused
        }
    }
}

/// The identity of a file, independent of its name.
private struct FileIdentity: Equatable {
    let device: UInt
    let number: UInt
    let isSocket: Bool

    /// Reads the identity of the file at a path, without following a link; nil if there is no file (C: `lstat`).
    init?(of path: String) {
        var status = stat()
        // Sound: the structure is a local variable that outlives the call.
        guard unsafe lstat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}

/// A `LocalListener` on an event loop that accepts clients until it is destroyed.
///
/// After a failure, which is usually a lack of descriptors, it pauses and retries, without limit. Used on the loop's
/// thread.
package final class RecoveringListener {
    /// Maximum number of clients accepted in a row before the loop handles its other descriptors.
    private static let batch = 16

    private let listener: LocalListener
    private let loop: EventLoop
    private let pause: Duration
    private let onClient: (consuming LocalStream) throws(Errno) -> Void
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()

    /// Listens at `path`, like `LocalListener`, and passes each client to `onClient`.
    ///
    /// If `onClient` throws, the client is dropped and the listener pauses.
    package init(
        at path: String,
        mode: UInt32,
        pause: Duration = .seconds(1),
        on loop: EventLoop,
        onClient: @escaping (consuming LocalStream) throws(Errno) -> Void
    ) throws(Errno) {
        listener = try LocalListener(at: path, mode: mode)
        self.loop = loop
        self.pause = pause
        self.onClient = onClient
        try watch()
    }

    deinit { unwatch() }

    private func watch() throws(Errno) {
        registration = try loop.watch(listener.descriptor, for: .readable) { [weak self] _ in self?.accept() }
    }

    private func unwatch() {
        if let registration = registration.take() { loop.unwatch(registration, listener.descriptor) }
    }

    private func accept() {
        do throws(Errno) {
            for _ in 0..<Self.batch {
                guard let client = try listener.accept() else { return }
                try onClient(client)
            }
        } catch {
            // Until the listener resumes, clients wait in the kernel's queue, and do not wake the loop.
            unwatch()
            watchLater()
        }
    }

    private func watchLater() {
        timer.set(on: loop, after: pause) { [unowned self] in
            do throws(Errno) { try watch() } catch { watchLater() }
        }
    }
}
