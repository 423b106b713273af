// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage
package import Texts

/// Performs the steps of a `SetupPlan`.
package struct SetupRunner {
    /// Directory that all paths are relative to: `/`, or another directory in tests.
    package var root: FilePath = "/"

    package init() {}

    package func perform(_ step: SetupStep) throws(CommandFailure) {
        switch step {
        case .write(let path, let text, _, let isProgram):
            try put(Array(text.utf8), at: path, mode: isProgram ? 0o755 : 0o644)
        case .addLines(let path, let lines, let first):
            try change(path, .toWrite) { MarkedLines.adding(lines, to: $0, first: first) }
        case .removeLines(let path, let lines):
            try change(path, .toRemove) { MarkedLines.removing(lines, from: $0) }
        case .link(let path, let target):
            try attempt(.toMake, path) { file throws(Errno) in try FileSystem.makeLink(file, to: target) }
        case .removeDirectory(let path):
            try attempt(.toRemove, path) { file throws(Errno) in try FileSystem.removeDirectory(file) }
        case .copyProgram(let source, let target):
            let bytes: [UInt8]
            do {
                bytes = try FileSystem.contents(of: source, limit: SetupFacts.mostBytes)
            } catch {
                throw CommandFailure(.inputOutput, SetupFaultText.noProgram, source, "\(error)")
            }
            try put(bytes, at: target, mode: 0o755)
        case .remove(let path):
            try attempt(.toRemove, path) { file throws(Errno) in try FileSystem.remove(file) }
        case .set(let path, let value):
            try attempt(.toWrite, path) { file throws(Errno) in
                let file = try Descriptor.forWriting(file.string)
                _ = try unsafe file.write(Array(value.utf8).span.bytes)
            }
        case .makeDirectory(let path, let owner):
            try attempt(.toMake, path) { directory throws(Errno) in
                try FileSystem.makeDirectory(directory, mode: 0o755)
                try FileSystem.give(directory, toUserNamed: owner)
            }
        case .giveBack(let path):
            try attempt(.toGiveBack, path) { file throws(Errno) in try FileSystem.giveToRoot(file) }
        case .run(let words, let mayFail): try run(words, mayFail)
        }
    }

    private func put(_ bytes: [UInt8], at path: String, mode: UInt32) throws(CommandFailure) {
        try attempt(.toWrite, path) { file throws(Errno) in
            try FileSystem.makeDirectory(file.removingLastComponent(), mode: 0o755)
            try FileSystem.replace(file, with: bytes, mode: mode)
        }
    }

    /// Runs `body` with a path below `root` converted to its actual location.
    ///
    /// `what` is the name of the operation in the error message.
    private func attempt(
        _ what: SetupText,
        _ path: String,
        _ body: (FilePath) throws(Errno) -> Void
    ) throws(CommandFailure) {
        do throws(Errno) {
            try body(place(path))
        } catch {
            throw failure(what, path, error)
        }
    }

    /// Changes the text of a shared file, but not the file's permissions; removes the file if it is then empty.
    private func change(_ path: String, _ what: SetupText, _ change: (String) -> String) throws(CommandFailure) {
        // Follow a symbolic link, so that it is not replaced.
        let link = FileSystem.target(ofLink: place(path).string).map { FilePath($0) }
        let file = link.map { place(path).removingLastComponent().pushing($0) } ?? place(path)
        do {
            let isThere = FileSystem.exists(file.string)
            let bytes = isThere ? try FileSystem.contents(of: file.string, limit: 1 << 20) : []
            let text = change(String(decoding: bytes, as: UTF8.self))
            guard !text.isEmpty else { return try FileSystem.remove(file) }
            let mode = FileSystem.ownerAndMode(of: file.string)?.mode ?? 0o644
            try FileSystem.replace(file, with: Array(text.utf8), mode: mode)
        } catch {
            throw failure(what, path, error)
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
                replacing: "BLEWEDGE_",
                privileges: .ours
            )
            end = try child.waitForEnd()
        } catch {
            if mayFail { return }
            throw CommandFailure(.inputOutput, SetupFaultText.notRun, line, "\(error)")
        }
        guard end == .exited(0) || mayFail else {
            throw CommandFailure(.inputOutput, SetupFaultText.failed, line, end.message)
        }
    }

    private func place(_ path: String) -> FilePath { root.pushing(FilePath(path).relative) }

    private func failure(_ what: SetupText, _ path: String, _ error: Errno) -> CommandFailure {
        switch error {
        case .permissionDenied, .notPermitted:
            CommandFailure(.permission, SetupFaultText.denied, what.message(), path)
        case .readOnlyFileSystem: CommandFailure(.inputOutput, SetupFaultText.readOnly, what.message(), path)
        default: CommandFailure(.inputOutput, SetupFaultText.error, what.message(), path, "\(error)")
        }
    }
}

extension FilePath {
    fileprivate var relative: FilePath { FilePath(root: nil, components) }
}

extension ChildProcess.End {
    /// Describes how the process ended, in words that can follow the program's name.
    fileprivate var message: Message {
        switch self {
        case .exited(let code): SetupText.exited.message("\(code)")
        case .killed(let signal): SetupText.killed.message("\(signal)")
        }
    }
}
