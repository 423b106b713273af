// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import TestSupport
import Testing

@testable import blewedge

/// The program on a terminal of its own (pty(7)), whose screen is interpreted.
final class TerminalProgram {
    let child: pid_t
    private let controller: Int32
    private let home: TestDirectory
    private var model: TerminalModel
    var screen: Screen { model.screen }
    /// Everything that the program has written.
    private(set) var written = ""
    private var rest: [UInt8] = []

    init(_ arguments: [String], in home: TestDirectory, columns: Int = 80, rows: Int = 24, runtime: String? = nil)
        throws
    {
        self.home = home
        model = TerminalModel(columns: columns, rows: rows)
        controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // C: TIOCSPTLCK and TIOCGPTN, as unlockpt and ptsname use them.
        var (lock, number): (Int32, Int32) = (0, 0)
        try #require(ioctl(controller, 0x4004_5431, &lock) == 0 && ioctl(controller, 0x8004_5430, &number) == 0)
        let place = "/dev/pts/\(number)"
        Self.set(controller, columns, rows)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a session leader opens becomes its controlling terminal.
        for number in 0...2 as ClosedRange<Int32> {
            posix_spawn_file_actions_addopen(&actions, number, place, O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // C: POSIX_SPAWN_SETSID.
        posix_spawnattr_setflags(&attributes, 0x80)
        let path = try programPath()
        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for argument in argv { free(argument) } }
        let variables =
            home.environment + ["BLEWEDGE_LANG=en", "TERM=xterm", "LANG=C.UTF-8", "TZ=UTC"]
            + (runtime.map { ["XDG_RUNTIME_DIR=\($0)"] } ?? [])
        var environment = variables.map { strdup($0) } + [nil]
        defer { for variable in environment { free(variable) } }
        var child: pid_t = 0
        try #require(posix_spawn(&child, path, &actions, &attributes, &argv, &environment) == 0)
        self.child = child
    }

    deinit { close(controller) }

    /// Types text, as if the user had pressed its keys.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(controller, bytes, bytes.count) == bytes.count)
    }

    /// Changes the size of the terminal.
    func resize(columns: Int, rows: Int) {
        model = TerminalModel(columns: columns, rows: rows)
        Self.set(controller, columns, rows)
    }

    private static func set(_ terminal: Int32, _ columns: Int, _ rows: Int) {
        // C: struct winsize.
        var size = [UInt16(rows), UInt16(columns), 0, 0]
        #expect(ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)
    }

    /// Waits until the screen fulfils a condition; returns false if the program ends, or is silent for 30 s, before.
    func waits(_ isDone: ([String]) -> Bool) -> Bool {
        while !isDone(screen.text) { guard readMore() else { return isDone(screen.text) } }
        return true
    }

    /// Waits until the screen has a text.
    func shows(_ text: String) -> Bool { waits { $0.contains { $0.contains(text) } } }

    /// Waits until the program has written nothing for half a second.
    func waitsForSilence() { while readMore(within: 500) {} }

    /// Waits until the screen has a text no more.
    func hides(_ text: String) -> Bool { waits { !$0.contains { $0.contains(text) } } }

    /// Waits until the program has ended; returns its exit status.
    func end() -> Int32 {
        while readMore() {}
        var status: Int32 = 0
        _ = waitpid(child, &status, 0)
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -status
    }

    private func readMore(within limit: Int32 = 30_000) -> Bool {
        var entry = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, limit) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(controller, &buffer, buffer.count)
        guard count > 0 else { return false }
        rest += buffer.prefix(count)
        // An incomplete sequence or character at the end waits for its other bytes.
        var end = rest.count
        if let escape = rest.lastIndex(of: 0x1B), !rest[escape...].dropFirst(2).contains(where: { 0x40...0x7E ~= $0 }),
            rest[escape...].dropFirst().first != 0x37
        {
            end = escape
        } else if let first = rest.lastIndex(where: { $0 & 0xC0 != 0x80 }), rest[first] >= 0xC0,
            rest.count - first < (rest[first] >= 0xF0 ? 4 : rest[first] >= 0xE0 ? 3 : 2)
        {
            end = first
        }
        let text = String(decoding: rest[..<end], as: UTF8.self)
        rest.removeFirst(end)
        written += text
        model.take(text)
        return true
    }
}
