// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// A step of `blewedge setup`, which is shown before it is performed.
package enum SetupStep: Equatable, Sendable {
    /// Writes a file, and makes the directories above it; `isNew` is false if it replaces another text.
    case write(path: String, text: String, isNew: Bool, isProgram: Bool = false)
    /// Adds lines to a file of others, in place of any that were added before, in front of theirs if they are to be `first`.
    case addLines(path: String, lines: [String], first: Bool)
    /// Takes added lines out of a file of others, and the file away if it has nothing else.
    case removeLines(path: String, lines: [String])
    /// Makes a symbolic link.
    case link(path: String, target: String)
    /// Removes a directory and the files in it, but no directory in it.
    case removeDirectory(path: String)
    /// Copies the program from the first path to the second.
    case copyProgram(from: String, to: String)
    /// Removes a file.
    case remove(path: String)
    /// Writes a value to a file of the kernel.
    case set(path: String, value: String)
    /// Makes a directory that belongs to the service's user; used without systemd-tmpfiles.
    case makeDirectory(path: String, owner: String)
    /// Makes a device node belong to root alone, as it did before a udev rule changed it.
    case giveBack(path: String)
    /// Runs a program with its arguments; if it `mayFail`, setup continues after a failure.
    case run([String], mayFail: Bool)

    /// The step in one line: the shell command that would do the same, or a sentence for a file that is written.
    package func text(_ language: Language) -> String {
        switch self {
        case .write(let path, _, isNew: true, _): SetupText.write.text(language, path)
        case .write(let path, _, isNew: false, _): SetupText.writeAnew.text(language, path)
        case .addLines(let path, let lines, _):
            SetupText.addLines.text(language, path) + lines.map { "\n    \($0)" }.joined()
        case .removeLines(let path, _): SetupText.removeLines.text(language, path)
        case .link(let path, let target): "ln -s \(target) \(path)"
        case .removeDirectory(let path): "rm \(path)/*; rmdir \(path)"
        case .copyProgram(let source, let target): "install -m 755 \(source) \(target)"
        case .remove(let path): "rm \(path)"
        case .set(let path, let value): "echo \(value) >\(path)"
        case .makeDirectory(let path, let owner): "install -d -o \(owner) -g \(owner) \(path)"
        case .giveBack(let path): "chown root:root \(path); chmod 600 \(path)"
        case .run(let words, _): words.joined(separator: " ")
        }
    }
}
