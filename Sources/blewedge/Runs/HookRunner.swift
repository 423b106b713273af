// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// Runner of the user's hook, for one notice at a time, without blocking; to be used on the event loop's thread.
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

    /// Creates a runner for a program, given by its path or found in PATH; `note` prints its failures.
    init(_ command: String, on loop: EventLoop, note: @escaping (Message) -> Void) throws(CommandFailure) {
        try Self.check(command)
        self.command = command
        self.loop = loop
        self.note = note
    }

    /// Throws if the command is empty, or the path of a file that is not executable; `option` names its setting.
    static func check(_ command: String, named option: String = "--hook") throws(CommandFailure) {
        if command.isEmpty || command.contains("/") && !FileSystem.isExecutable(command) {
            throw CommandFailure(.configuration, CommandFaultText.noHook, option, command)
        }
    }

    /// Runs the command for a notice, after those of earlier notices have ended.
    func add(_ notice: HookNotice) {
        queue.add(notice)
        runNext()
    }

    /// Calls `completion` when no command runs or waits, or after 5 s; a command that still runs is not stopped.
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

    /// Reports a failure, the first time only.
    private func fail(_ what: Message) {
        if !hasFailed { note(HookText.failed.message(command, what)) }
        hasFailed = true
    }
}
