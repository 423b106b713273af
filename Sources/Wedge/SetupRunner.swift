// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// Carries out the steps of a `SetupPlan`.
package struct SetupRunner {
    /// The directory that all paths are below: the root of the machine's, but in tests.
    package var root: FilePath = "/"

    /// Works on this machine.
    package init() {}

    /// Carries out one step.
    package func perform(_ step: SetupStep) throws(CommandFailure) {
        switch step {
        case .write(let path, let text, _): try put(Array(text.utf8), at: path, mode: 0o644)
        case .copyProgram(let source, let target):
            let bytes: [UInt8]
            do {
                bytes = try FileSystem.contents(of: source, limit: SetupFacts.mostBytes)
            } catch {
                throw CommandFailure(.inputOutput, "cannot read \(source): \(error)")
            }
            try put(bytes, at: target, mode: 0o755)
        case .remove(let path):
            do {
                try FileSystem.remove(place(path))
            } catch {
                throw failure("remove", path, error)
            }
        case .set(let path, let value):
            do {
                let file = try Descriptor.forWriting(place(path).string)
                _ = try unsafe file.write(Array(value.utf8).span.bytes)
            } catch {
                throw failure("write", path, error)
            }
        case .makeDirectory(let path, let owner):
            do {
                try FileSystem.makeDirectory(place(path), mode: 0o755)
                try FileSystem.give(place(path), toUserNamed: owner)
            } catch {
                throw failure("make", path, error)
            }
        case .giveBack(let path):
            do {
                try FileSystem.giveToRoot(place(path))
            } catch {
                throw failure("give back", path, error)
            }
        case .run(let words, let mayFail): try run(words, mayFail)
        }
    }

    private func put(_ bytes: [UInt8], at path: String, mode: UInt32) throws(CommandFailure) {
        do {
            try FileSystem.makeDirectory(place(path).removingLastComponent(), mode: 0o755)
            try FileSystem.replace(place(path), with: bytes, mode: mode)
        } catch {
            throw failure("write", path, error)
        }
    }

    private func run(_ words: [String], _ mayFail: Bool) throws(CommandFailure) {
        guard let program = words.first else { return }
        let line = words.joined(separator: " ")
        let end: ChildProcess.End
        do throws(Errno) {
            let child = try ChildProcess(
                program,
                arguments: Array(words.dropFirst()),
                environment: [],
                replacing: "BLEWEDGE_"
            )
            end = try child.waitForEnd()
        } catch {
            if mayFail { return }
            throw CommandFailure(.inputOutput, "cannot run `\(line)`: \(error)")
        }
        guard end == .exited(0) || mayFail else {
            throw CommandFailure(
                .inputOutput,
                "`\(line)` \(end.words)",
                remedy: "what was done before it stays; mend its cause, then run setup again"
            )
        }
    }

    private func place(_ path: String) -> FilePath { root.pushing(FilePath(path).relative) }

    private func failure(_ what: String, _ path: String, _ error: Errno) -> CommandFailure {
        switch error {
        case .permissionDenied, .notPermitted:
            CommandFailure(
                .permission,
                "not permitted to \(what) \(path)",
                remedy: "run it as root: `sudo blewedge setup`"
            )
        case .readOnlyFileSystem:
            CommandFailure(.inputOutput, "cannot \(what) \(path): the disk is read-only", remedy: "make it writable")
        default: CommandFailure(.inputOutput, "cannot \(what) \(path): \(error)")
        }
    }
}

extension FilePath {
    /// The path without the root.
    fileprivate var relative: FilePath { FilePath(root: nil, components) }
}

extension ChildProcess.End {
    /// How it ended, after the program's name.
    fileprivate var words: String {
        switch self {
        case .exited(let code): "ended with \(code)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}
