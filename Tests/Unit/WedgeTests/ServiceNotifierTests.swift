// SPDX-License-Identifier: GPL-2.0-or-later

import Daemon
import Glibc
import LinuxIO
import Testing

@Suite("Notifications to the service manager", .virtualTime)
struct ServiceNotifierTests {
    /// Service manager: a datagram socket at its own path.
    private final class Manager {
        let path = "/tmp/blewedge-notify.\(getpid()).\(UInt32.random(in: 0...UInt32.max))"
        private let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)

        init() throws {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(result == 0)
        }

        deinit {
            close(number)
            unlink(path)
        }

        /// Returns the messages received since the last call.
        func heard() -> [String] {
            var texts: [String] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(number, &buffer, buffer.count, 0)
                guard count > 0 else { return texts }
                texts.append(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
        }
    }

    @Test("Ready, a status of one line that is told once, and the end")
    func states() throws {
        let manager = try Manager()
        let notifier = ServiceNotifier(socket: manager.path, watchdog: nil, on: try EventLoop())
        notifier.ready()
        notifier.tell("connected to LINBLE\nREADY=0")
        notifier.tell("connected to LINBLE\nREADY=0")
        notifier.stopping()
        #expect(manager.heard() == ["READY=1", "STATUS=connected to LINBLE\u{FFFD}READY=0", "STOPPING=1"])
    }

    @Test("A restart by the daemon itself is reported as a reload, and the watchdog is notified before it")
    func reloading() throws {
        let manager = try Manager()
        let loop = try EventLoop()
        let notifier = ServiceNotifier(socket: manager.path, watchdog: 30_000, on: loop)
        notifier.watch(hasAnswered: { true }, ask: {})
        let before = MonotonicClock.nanoseconds / 1000
        notifier.reloading()
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { loop.stop() }
        try loop.run()
        let heard = manager.heard()
        #expect(heard.count == 1)
        let lines = heard.first?.split(separator: "\n") ?? []
        try #require(lines.count == 3)
        #expect(lines[0] == "RELOADING=1" && lines[2] == "WATCHDOG=1")
        let time = try #require(lines[1].split(separator: "=").last.flatMap { Int64($0) })
        #expect(lines[1] == "MONOTONIC_USEC=\(time)")
        #expect((before...MonotonicClock.nanoseconds / 1000).contains(time))
    }

    @Test("The watchdog is fed as a daemon is set up, so that reloads in a row are not taken for a hang")
    func fedFromTheBeginning() throws {
        let manager = try Manager()
        ServiceNotifier(socket: manager.path, watchdog: 20_000_000, on: try EventLoop()).ready()
        #expect(manager.heard() == ["READY=1\nWATCHDOG=1"])
    }

    @Test("The watchdog is notified only while the typist responds")
    func watchdog() throws {
        let manager = try Manager()
        let loop = try EventLoop()
        let notifier = ServiceNotifier(socket: manager.path, watchdog: 30_000, on: loop)
        var asked = 0
        var isAlive = true
        notifier.watch(hasAnswered: { isAlive }, ask: { asked += 1 })
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(200)) {
            #expect(manager.heard().contains("WATCHDOG=1"))
            #expect(asked >= 2)
            isAlive = false
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(200)) { loop.stop() }
        }
        try loop.run()
        #expect(manager.heard() == [])
    }

    @Test("The watchdog is fed twice in its time, and not more often")
    func interval() throws {
        let manager = try Manager()
        let loop = try EventLoop()
        let notifier = ServiceNotifier(socket: manager.path, watchdog: 400_000, on: loop)
        let start = MonotonicClock.now
        notifier.watch(hasAnswered: { true }, ask: {})
        _ = loop.schedule(at: start + .milliseconds(190)) { #expect(manager.heard() == []) }
        _ = loop.schedule(at: start + .milliseconds(390)) {
            #expect(manager.heard() == ["WATCHDOG=1"])
            loop.stop()
        }
        try loop.run()
    }

    @Test("Without a service manager, no notification is sent and no question is asked")
    func silent() throws {
        let notifier = ServiceNotifier(socket: nil, watchdog: 30_000, on: try EventLoop())
        var asked = 0
        notifier.watch(hasAnswered: { true }, ask: { asked += 1 })
        notifier.ready()
        #expect(asked == 0)
    }
}
