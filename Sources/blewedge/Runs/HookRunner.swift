// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// Runs the user's command for one notice after another, and never waits for it; to be used on the event loop's thread.
final class HookRunner {
    private static let patience = Duration.seconds(5)

    private let command: String
    private let loop: EventLoop
    private let note: (Message) -> Void
    private var queue = HookQueue()
    private var child: ChildProcess?
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()
    private var hasFailed = false
    private var onIdle: (() -> Void)?

    /// A runner of a program, named by its path, or found by PATH; `note` prints what goes wrong with it.
    init(_ command: String, on loop: EventLoop, note: @escaping (Message) -> Void) throws(CommandFailure) {
        try Self.check(command)
        self.command = command
        self.loop = loop
        self.note = note
    }

    /// Refuses what is no program; `option` is where it is named.
    static func check(_ command: String, named option: String = "--hook") throws(CommandFailure) {
        if command.isEmpty || command.contains("/") && !FileSystem.isExecutable(command) {
            throw CommandFailure(.configuration, CommandFaultText.noHook, option, command)
        }
    }

    /// Runs the command for a notice, as soon as it runs no more for another.
    func add(_ notice: HookNotice) {
        queue.add(notice)
        runNext()
    }

    /// Calls `completion` once nothing runs and nothing waits, or after 5 s; a command that still runs is left to itself.
    func drain(completion: @escaping () -> Void) {
        guard !queue.isIdle else {
            completion()
            return
        }
        var isDone = false
        let finish = {
            guard !isDone else { return }
            isDone = true
            completion()
        }
        onIdle = finish
        _ = loop.schedule(at: MonotonicClock.now + Self.patience, handler: finish)
    }

    private func runNext() {
        while let notice = queue.next(now: MonotonicClock.now) {
            do throws(Errno) {
                let child = try ChildProcess(command, environment: notice.environment, replacing: "BLEWEDGE_")
                registration = try loop.watch(child.descriptor, for: .readable) { [unowned self] _ in ended() }
                self.child = consume child
            } catch {
                queue.ended()
                fail(HookText.notRun.message("\(error)"))
                continue
            }
            timer.set(on: loop, at: queue.deadline) { [unowned self] in
                child?.stop()
                fail(HookText.tooLong.message("\(HookQueue.timeLimit.components.seconds)"))
            }
        }
        if queue.isIdle {
            onIdle?()
            onIdle = nil
        }
    }

    private func ended() {
        guard let end = child?.takeEnd() else { return }
        timer.cancel()
        if let registration, let child = child.take() { loop.unwatch(registration, child.descriptor) }
        registration = nil
        child = nil
        queue.ended()
        switch end {
        case .exited(0), .killed(9): break
        case .exited(let code): fail(HookText.exited.message("\(code)"))
        case .killed(let signal): fail(HookText.killed.message("\(signal)"))
        }
        runNext()
    }

    /// Says so, the first time.
    private func fail(_ what: Message) {
        if !hasFailed { note(HookText.failed.message(command, what)) }
        hasFailed = true
    }
}
