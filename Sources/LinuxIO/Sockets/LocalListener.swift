// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

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
