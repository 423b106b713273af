// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
import LinuxIO
import SystemPackage
import Texts

/// A program that the pages have started: its end is told while they are shown, and it goes on when they end (LK-17).
///
/// To be used on the loop's thread.
final class TUIProcess {
    /// Called when it has ended by itself: how, and the last line that it has said.
    var onEnd: ((ChildProcess.End, String) -> Void)?

    /// The greatest length of its log that is read, in bytes; a longer log is not read.
    private static let mostBytes = 64 * 1024

    private let loop: EventLoop
    private let log: String
    private var child: ChildProcess?
    private var registration: EventLoop.Registration?

    /// Starts a program by its words; its output goes to a file beside the daemon's control socket.
    init(_ words: [String], _ paths: DaemonPaths, on loop: EventLoop) throws(CommandFailure) {
        self.loop = loop
        log = paths.runtime.appending("tui.log").string
        do throws(Errno) {
            try FileSystem.makeDirectory(paths.runtime, mode: 0o755)
            // The shell puts the words where they do not disturb the pages.
            let child = try ChildProcess(
                "/bin/sh",
                arguments: ["-c", "log=\"$0\"; exec \"$@\" 2>\"$log\" >\"$log\"", log] + words,
                environment: [],
                replacing: "BLEWEDGE_",
                privileges: .ours
            )
            registration = try loop.watch(child.descriptor, for: .readable) { [unowned self] _ in ended() }
            self.child = consume child
        } catch {
            throw CommandFailure(.inputOutput, Message(detail: "\(error)"))
        }
    }

    var isRunning: Bool { child != nil }

    private func ended() {
        guard let end = child?.takeEnd() else { return }
        if let registration, let child = child.take() { loop.unwatch(registration, child.descriptor) }
        registration = nil
        child = nil
        let bytes = (try? FileSystem.contents(of: log, limit: Self.mostBytes)) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        onEnd?(end, lines.suffix(2).joined(separator: " "))
    }
}
