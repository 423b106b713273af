// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
import Glibc
package import SystemPackage

/// A connection to another process of this machine, through a unix socket.
package struct LocalStream: ~Copyable {
    /// The socket, for the event loop; it does not block.
    package let descriptor: Descriptor

    /// The process at the other end, as the kernel knows it.
    package struct Peer: Equatable, Sendable {
        package var process: Int32
        /// Its effective user at that time.
        package var user: UInt32
        /// Its effective group at that time.
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
    /// Throws `connectionRefused` where nobody listens, `noSuchFileOrDirectory` where nothing is, `permissionDenied`
    /// where it may not be opened, `wouldBlock` where too many wait to be accepted. The corresponding C functions are
    /// `socket` and `connect`.
    package init(connectingTo path: String) throws(Errno) {
        let socket = try Descriptor.localSocket(.client)
        if case .wouldBlock = try socket.connect(to: try sockaddr_un(path: path)) { throw .wouldBlock }
        descriptor = socket
    }

    /// The process that listens at a path; nil where none does, or it cannot be asked.
    package static func listener(at path: String) -> Int32? {
        (try? LocalStream(connectingTo: path).peer()).flatMap { $0.process > 0 ? $0.process : nil }
    }

    /// The process at the other end (C: `getsockopt(SO_PEERCRED)`).
    package func peer() throws(Errno) -> Peer {
        // struct ucred, which glibc shows to _GNU_SOURCE only: a process, a user and a group of 32 bits each.
        let unknown = Credentials()
        let credentials = try descriptor.option(SOL_SOCKET, SO_PEERCRED, initial: unknown)
        return Peer(process: credentials.process, user: credentials.user, group: credentials.group)
    }

    /// Writes bytes, as many as the socket takes now; a peer that has gone throws `brokenPipe`, without a signal (C:
    /// `send` with MSG_NOSIGNAL).
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> { try descriptor.send(bytes) }

    /// Writes the bytes of an array, as many as the socket takes now.
    package func write(_ bytes: [UInt8]) throws(Errno) -> NonBlocking<Int> { try write(unsafe bytes.span.bytes) }

    /// Sleeps until the socket is ready; false when the deadline on `MonotonicClock` came first.
    ///
    /// For programs without an event loop. The corresponding C function is `ppoll`.
    package func wait(for readiness: EventLoop.Readiness, until deadline: Duration?) throws(Errno) -> Bool {
        let number = descriptor.number
        let events = readiness.contains(.writable) ? POLLOUT : POLLIN
        if let time = SystemTime.replacement {
            let deadline = deadline?.rounded(to: .nanoseconds(1))
            return time.sleep(on: number, for: Int16(events), until: deadline)
        }
        var entry = pollfd(fd: number, events: Int16(events), revents: 0)
        guard let deadline else {
            // Sound, as below: one entry and one timespec, both locals.
            return try SystemCall.run { unsafe blewedge_ppoll(&entry, 1, nil) } > 0
        }
        return try SystemCall.run {
            // Computed anew where a signal has interrupted the call.
            var time = timespec(max(.zero, deadline - MonotonicClock.now))
            return unsafe blewedge_ppoll(&entry, 1, &time)
        } > 0
    }

    /// Ends the writing, so that the other end reads the end of the stream (C: `shutdown`).
    package func finishWriting() throws(Errno) {
        let number = descriptor.number
        _ = try SystemCall.run { shutdown(number, Int32(SHUT_WR)) }
    }

    /// struct ucred.
    private struct Credentials: BitwiseCopyable {
        var process: Int32 = 0
        var user = UInt32.max
        var group = UInt32.max
    }
}

extension sockaddr_un {
    /// The address of a unix socket in the file system.
    ///
    /// Throws `fileNameTooLong` for a path that a socket's address cannot hold, `invalidArgument` for an empty one.
    init(path: String) throws(Errno) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, !bytes.contains(0) else { throw .invalidArgument }
        guard bytes.count < MemoryLayout.size(ofValue: sun_path) else { throw .fileNameTooLong }
        // Sound: the bytes were found to fit, and the rest of the field is zero.
        unsafe withUnsafeMutableBytes(of: &sun_path) { field in unsafe field.copyBytes(from: bytes) }
    }
}

/// The socket by which a service reports its state to its manager (sd_notify(3), systemd.service(5) Type=notify).
package struct NotifySocket: ~Copyable {
    private let socket: Descriptor
    private var address: sockaddr_un
    private let length: socklen_t

    /// A socket to the manager that listens at `path`: a file or, after an `@`, a name of the abstract space.
    ///
    /// Throws `invalidArgument` for any other text, `fileNameTooLong` for one that no address holds. The corresponding
    /// C function is `socket`.
    package init(_ path: String) throws(Errno) {
        var bytes = Array(path.utf8)
        guard let first = bytes.first, bytes.count > 1 else { throw .invalidArgument }
        let isAbstract = first == UInt8(ascii: "@")
        guard isAbstract || first == UInt8(ascii: "/"), !bytes.contains(0) else { throw .invalidArgument }
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .fileNameTooLong }
        // Sound: the bytes were found to fit, and the rest of the field is zero.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in unsafe field.copyBytes(from: bytes) }
        let made = try Descriptor.localDatagramSocket()
        self.address = address
        // An abstract name has no zero at its end; a path is given with it.
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        socket = made
    }

    /// Sends assignments, a line each, such as `READY=1`; a manager that does not listen hears nothing (C: `sendto`).
    package mutating func send(_ text: String) {
        let bytes = Array(text.utf8)
        let number = socket.number
        let length = length
        // Sound: both are used within the closures, with their own lengths.
        unsafe withUnsafeBytes(of: &address) { address in
            unsafe bytes.withUnsafeBytes { bytes in
                let target = unsafe address.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                _ = unsafe sendto(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), target, length)
            }
        }
    }
}

extension Descriptor {
    /// A non-blocking datagram socket of the unix family, closed on exec (C: `socket`).
    fileprivate static func localDatagramSocket() throws(Errno) -> Descriptor {
        let flags = blewedge_SOCK_DGRAM | blewedge_SOCK_NONBLOCK | blewedge_SOCK_CLOEXEC
        return Descriptor(owning: try SystemCall.run { CLinux.socket(AF_UNIX, flags, 0) })
    }
}

/// A unix socket in the file system on which other processes of this machine connect; it goes with its owner.
package struct LocalListener: ~Copyable {
    /// The socket, for the event loop: readable when somebody has connected.
    package let descriptor: Descriptor
    private let path: String
    private let file: FileIdentity

    /// The most processes that may wait to be accepted.
    private static let backlog: Int32 = 16

    /// A listener at `path`, for users who may write to a file of this `mode`.
    ///
    /// A socket that a killed process has left there is replaced. Throws `addressInUse` where a process listens there,
    /// or where the path leads to anything but a socket; `fileNameTooLong` for a path that a socket's address cannot
    /// hold. The corresponding C functions are `socket`, `bind`, `chmod` and `listen`.
    package init(at path: String, mode: UInt32) throws(Errno) {
        let address = try sockaddr_un(path: path)
        let socket = try Descriptor.localSocket(.listener)
        let number = socket.number
        // The file is made with the socket's own mode: nobody else gets in before it has its final one.
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
        // Sound, here and above: the path is a text that lives for the call.
        _ = try SystemCall.run { unsafe chmod(path, mode) }
        try socket.listen(backlog: Self.backlog)
        descriptor = socket
        self.path = path
        self.file = file
    }

    deinit {
        // A file that another process has put there since is not removed.
        guard FileIdentity(of: path) == file else { return }
        // Sound: the path is a text that lives for the call.
        _ = unsafe unlink(path)
    }

    /// Takes the next process that has connected; nil when there is none (C: `accept4`).
    package func accept() throws(Errno) -> LocalStream? {
        var address = sockaddr_un()
        guard let accepted = try descriptor.accept(from: &address, as: .client) else { return nil }
        return LocalStream(accepted: accepted)
    }

    /// True where the path leads to a socket on which no process listens.
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

/// The identity of a file, whatever its name.
private struct FileIdentity: Equatable {
    let device: UInt
    let number: UInt
    let isSocket: Bool

    /// The file at a path, which is not followed if it is a link; nil where there is none (C: `lstat`).
    init?(of path: String) {
        var status = stat()
        // Sound: the structure is a local that outlives the call.
        guard unsafe lstat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}

/// A `LocalListener` on an event loop that accepts clients until it is freed.
///
/// After a failure, most likely because no descriptor is left, it pauses and tries again, without end. It is used on the
/// loop's thread.
package final class RecoveringListener {
    /// The most clients that are accepted in a row before the loop serves its other descriptors.
    private static let batch = 16

    private let listener: LocalListener
    private let loop: EventLoop
    private let pause: Duration
    private let onClient: (consuming LocalStream) throws(Errno) -> Void
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()

    /// Listens at `path`, as `LocalListener` does, and passes each client to `onClient`.
    ///
    /// An error that `onClient` throws costs its client, and begins the pause.
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
            // Clients wait in the kernel's queue, and do not wake the loop meanwhile.
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
