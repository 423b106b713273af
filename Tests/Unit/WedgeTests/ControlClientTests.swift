// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
import Glibc
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Texts
import TextsSupport

/// Sends fixed bytes to the first client of a listener, regardless of its request, and optionally disconnects.
private struct CannedDaemon: ~Copyable {
    private let thread: SystemThread

    init(at path: String, _ answer: [UInt8], hangsUp: Bool, until end: Waker) throws {
        let ready = try Waker()
        thread = try SystemThread(name: "canned") {
            guard let listener = try? LocalListener(at: path, mode: 0o600) else { return ready.wake() }
            ready.wake()
            var entry = pollfd(fd: listener.descriptor.unownedNumber, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 120_000)
            guard let stream = try? listener.accept() else { return }
            var rest = answer
            while !rest.isEmpty {
                _ = try? stream.wait(for: .writable, until: nil)
                guard case .done(let count)? = try? stream.write(rest) else { break }
                rest.removeFirst(count)
            }
            if hangsUp { return }
            end.wait(until: nil)
        }
        ready.wait(until: nil)
    }

    consuming func join() { thread.join() }
}

/// As many clients as fit into a daemon's queue, none of which has been accepted.
private final class QueuedClients: Sendable {
    private let clients = Mutex<[Int32]>([])

    init(at path: String) {
        while let stream = try? LocalStream(connectingTo: path) {
            clients.withLock { $0.append(dup(stream.descriptor.unownedNumber)) }
        }
    }

    func leave() {
        clients.withLock { for client in $0 { close(client) } }
    }
}

@Suite("The client of the control socket", .timeLimit(.minutes(10)))
struct ControlClientTests {
    /// Returns the error of a client whose daemon sends `answer`.
    private func failure(
        _ answer: String,
        hangsUp: Bool = true,
        patience: Duration = .seconds(120)
    ) throws -> CommandFailure? {
        let directory = try TestDirectory()
        let end = try Waker()
        let daemon = try CannedDaemon(at: directory("control"), Array(answer.utf8), hangsUp: hangsUp, until: end)
        var client = try ControlClient(at: [directory("none"), directory("control")])
        var failure: CommandFailure?
        do throws(CommandFailure) {
            _ = try client.ask(.status, patience: patience)
        } catch {
            failure = error
        }
        end.wake()
        daemon.join()
        return failure
    }

    @Test("D-9, D-10: what the daemon refuses is thrown with its exit status, cause and remedy")
    func refusals() throws {
        #expect(try failure("{\"ok\":true,\"version\":1}\n") == nil)
        let refusal = #"{"ok":false,"version":1,"error":{"code":77,"cause":"no","remedy":"yes"}}"# + "\n"
        #expect(try failure(refusal) == CommandFailure(.permission, "no", remedy: "yes"))
        for (code, status) in [
            ("0", ExitStatus.internal), ("1", .internal), ("\"77\"", .internal), ("99999999999", .internal),
        ] {
            let answer = #"{"ok":false,"version":1,"error":{"code":\#(code),"cause":"no"}}"# + "\n"
            #expect(try failure(answer) == CommandFailure(status, "no"))
        }
        #expect(try failure("{\"ok\":false,\"version\":1}\n")?.status == .internal)
    }

    @Test(
        "D-9: an answer that is none, cut, endless, of another version, or missing: said, never waited for longer than asked"
    )
    func faults() throws {
        for (answer, status) in [
            ("nonsense\n", ExitStatus.inputOutput), ("{\"ok\":true,\"version\":1\n", .inputOutput),
            ("{\"ok\":tr", .inputOutput),
            ("", .inputOutput), ("\n", .inputOutput), ("{\"ok\":true,\"version\":2}\n", .unavailable),
            ("{\"ok\":true}\n", .unavailable), ("[]\n", .unavailable),
            (String(repeating: "x", count: ControlClient.mostBytes + 8192), .inputOutput),
        ] {
            #expect(try failure(answer)?.status == status, "\(answer.prefix(40))")
        }
        for answer in ["", "{\"ok\":"] {
            #expect(try failure(answer, hangsUp: false, patience: .milliseconds(50))?.status == .timeout)
        }
    }

    @Test("While the daemon's queue is full, a client tries again within its patience, and is told 75 after it")
    func fullQueue() throws {
        let directory = try TestDirectory()
        let path = directory("control")
        let listener = try LocalListener(at: path, mode: 0o600)
        let waiting = QueuedClients(at: path)
        #expect(throws: CommandFailure(reachingDaemon: path, .wouldBlock)) {
            _ = try ControlClient(at: [path], patience: .milliseconds(50))
        }
        let thread = try SystemThread(name: "late") {
            usleep(300_000)
            waiting.leave()
        }
        // Accepts the closed connections, and then the new client.
        let taking = try SystemThread(name: "taking") { [number = listener.descriptor.unownedNumber] in
            usleep(400_000)
            for _ in 0..<64 { close(accept(number, nil, nil)) }
        }
        let client = try ControlClient(at: [path])
        _ = consume client
        thread.join()
        shutdown(listener.descriptor.unownedNumber, Int32(SHUT_RDWR))
        taking.join()
    }

    @Test("D-8, D-10: nobody there is 69; what may not be opened is 77; no socket at all is no daemon")
    func nobody() throws {
        let directory = try TestDirectory()
        func failure(_ paths: [String]) -> CommandFailure? {
            do throws(CommandFailure) {
                _ = try ControlClient(at: paths)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure([]) == .noDaemon)
        #expect(failure([directory("none"), directory("none/deeper")]) == .noDaemon)
        try directory.write("", to: "file")
        #expect(failure([directory("file")]) == .noDaemon)
        #expect(failure([String(repeating: "x", count: 200)])?.status == .usage)
        #expect(failure([""])?.status == .usage)
        #expect(CommandFailure.noDaemon.status == .unavailable)
        #expect(CommandFailure(reachingDaemon: "x", .permissionDenied).status == .permission)
        #expect(CommandFailure(reachingDaemon: "x", .wouldBlock).status == .timeout)
    }
}

@Suite("The socket's file", .timeLimit(.minutes(10)))
struct LocalListenerTests {
    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test("D-8: the socket has its mode whatever the umask, and goes with its owner")
    func mode() throws {
        let directory = try TestDirectory()
        let path = directory("control")
        do {
            let listener = try LocalListener(at: path, mode: 0o660)
            var status = stat()
            try #require(lstat(path, &status) == 0)
            #expect(status.st_mode == S_IFSOCK | 0o660)
            let stream = try LocalStream(connectingTo: path)
            let peer = try stream.peer()
            #expect(peer == LocalStream.Peer(process: getpid(), user: geteuid(), group: getegid()))
            var accepted = 0
            while let stream = try listener.accept() {
                #expect(try stream.peer() == peer)
                accepted += 1
            }
            #expect(accepted == 1)
        }
        #expect(!exists(path))
    }

    @Test("D-12: a socket that was left behind is replaced; one that is in use, and what is no socket, is not touched")
    func replacing() throws {
        let directory = try TestDirectory()
        let path = directory("control")
        do {
            let first = try LocalListener(at: path, mode: 0o600)
            #expect(throws: Errno.addressInUse) { _ = try LocalListener(at: path, mode: 0o600) }
            #expect(exists(path))
            try #require(rename(path, directory("left")) == 0)
            _ = consume first
        }
        #expect(exists(directory("left")))
        _ = try LocalListener(at: directory("left"), mode: 0o600)
        #expect(!exists(directory("left")))

        let file = try #require(fopen(path, "w"))
        fclose(file)
        #expect(throws: Errno.addressInUse) { _ = try LocalListener(at: path, mode: 0o600) }
        #expect(exists(path))
        #expect(throws: Errno.noSuchFileOrDirectory) {
            _ = try LocalListener(at: directory("none/control"), mode: 0o600)
        }
        #expect(throws: Errno.fileNameTooLong) {
            _ = try LocalListener(at: String(repeating: "x", count: 108), mode: 0o600)
        }
    }

    @Test("D-12: what another process has put in the socket's place is not removed")
    func place() throws {
        let directory = try TestDirectory()
        let path = directory("control")
        do {
            let first = try LocalListener(at: path, mode: 0o600)
            try #require(unlink(path) == 0)
            let file = try #require(fopen(path, "w"))
            fclose(file)
            _ = consume first
        }
        #expect(exists(path))
    }

    @Test("D-10: why the socket cannot be made is said with what mends it")
    func failures() {
        for (error, status) in [
            (Errno.addressInUse, ExitStatus.unavailable), (.noSuchFileOrDirectory, .configuration),
            (.permissionDenied, .permission), (.readOnlyFileSystem, .permission), (.fileNameTooLong, .configuration),
        ] {
            let failure = CommandFailure(controlSocket: "/run/blewedge/control", error)
            #expect(failure.status == status)
            #expect(failure.cause.english.contains("/run/blewedge/control") && failure.remedy != nil)
        }
    }
}
