// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Control
import Daemon
import Devices
import Link
import LinuxIO
import SystemPackage
import Texts

/// Runs the user's hook for one notice at a time, without blocking.
///
/// A hook that runs for received barcodes reads them from its standard input; they are never arguments or variables.
/// Use the runner on the event loop's thread.
final class HookRunner {
    private static let patience = Duration.seconds(5)

    private let command: String
    private let barcodes: HookBarcodes
    private let loop: EventLoop
    private let note: (Message) -> Void
    private let limit: Duration
    private var queue: HookQueue
    private var child: ChildProcess?
    /// Standard input of the running command; nil unless the command runs for barcodes.
    private var input: ChildInput?
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()
    private var hasFailed = false
    private var hasLeftUnread = false
    private var onIdle: (() -> Void)?

    /// Creates a runner for a program, which is given by its path or found in PATH; `note` prints failures.
    init(
        _ command: String,
        _ barcodes: HookBarcodes,
        limit: Duration = HookQueue.timeLimit,
        on loop: EventLoop,
        note: @escaping (Message) -> Void
    ) throws(CommandFailure) {
        try Self.check(command)
        self.command = command
        self.barcodes = barcodes
        self.limit = limit
        queue = HookQueue(limit: limit)
        self.loop = loop
        self.note = note
    }

    /// Throws an error if the command is neither the path of an executable file nor the name of one in PATH.
    ///
    /// `option` is the name of the setting, for the message.
    static func check(_ command: String, named option: String = "--hook") throws(CommandFailure) {
        let folders = (ProcessFacts.environment("PATH") ?? "/bin:/usr/bin").split(separator: ":")
        let paths = command.contains("/") ? [command] : folders.map { "\($0)/\(command)" }
        guard !command.isEmpty, paths.contains(where: FileSystem.isExecutable) else {
            throw CommandFailure(.configuration, CommandFaultText.noHook, option, command)
        }
    }

    /// Function that creates the notice for received barcodes.
    var notice: (() -> HookNotice)? {
        didSet {
            barcodes.onBarcode = { [unowned self] in if let notice = notice?() { add(notice) } }
        }
    }

    /// Runs the command for a notice, after the commands for earlier notices have ended.
    func add(_ notice: HookNotice) {
        queue.add(notice)
        runNext()
    }

    /// Calls `completion` when no command is running or waiting, but after 5 s at the latest.
    ///
    /// A command that is still running then is not stopped.
    func drain(completion: @escaping () -> Void) {
        guard !queue.isIdle else {
            completion()
            return
        }
        var isDone = false
        let finish = { [unowned self] in
            guard !isDone else { return }
            isDone = true
            settle()
            completion()
        }
        onIdle = finish
        _ = loop.schedule(at: MonotonicClock.now + Self.patience, handler: finish)
    }

    private func runNext() {
        while var notice = queue.next(now: MonotonicClock.now) {
            do throws(Errno) {
                if notice.occasion == .received {
                    let batch = barcodes.begin()
                    guard batch.count > 0 else {
                        queue.ended()
                        continue
                    }
                    (notice.count, notice.length) = (batch.count, batch.text.count)
                    input = try ChildInput(batch.text, on: loop)
                }
                let child = try ChildProcess(
                    command,
                    environment: notice.environment,
                    replacing: "BLEWEDGE_",
                    input: input
                )
                registration = try loop.watch(child.descriptor, for: .readable) { [unowned self] _ in ended() }
                self.child = consume child
            } catch {
                queue.ended()
                settle()
                fail(HookText.notRun.message("\(error)"))
                continue
            }
            timer.set(on: loop, at: queue.deadline) { [unowned self] in
                child?.stop()
                fail(HookText.tooLong.message("\(limit.components.seconds)"))
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
        settle()
        queue.ended()
        switch end {
        case .exited(0), .killed(9): break
        case .exited(let code): fail(HookText.exited.message("\(code)"))
        case .killed(let signal): fail(HookText.killed.message("\(signal)"))
        }
        runNext()
    }

    /// Counts the barcodes of the current run as delivered, as far as the command has read them.
    ///
    /// The first time that barcodes were not read, this is reported.
    private func settle() {
        let unread = barcodes.end(read: input?.read ?? 0)
        input?.close()
        input = nil
        guard unread > 0, !hasLeftUnread else { return }
        hasLeftUnread = true
        note(HookText.failed.message(command, HookText.unread.message("\(unread)")))
    }

    /// Reports a failure the first time it occurs, and ignores it after that.
    private func fail(_ what: Message) {
        if !hasFailed { note(HookText.failed.message(command, what)) }
        hasFailed = true
    }
}
