// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// One thing that `blewedge setup` does, shown before it is done.
package enum SetupStep: Equatable, Sendable {
    /// Puts a file there, with the directories above it; `isNew` is false where another text is replaced.
    case write(path: String, text: String, isNew: Bool)
    /// Copies this program there.
    case copyProgram(from: String, to: String)
    /// Removes a file.
    case remove(path: String)
    /// Writes to a file of the kernel's.
    case set(path: String, value: String)
    /// Makes a directory that belongs to the service's user, where there is no systemd-tmpfiles.
    case makeDirectory(path: String, owner: String)
    /// Gives a device to root alone, as it was before a rule gave it to others.
    case giveBack(path: String)
    /// Runs a program; where it `mayFail`, setup goes on without.
    case run([String], mayFail: Bool)

    /// What is done, in one line that a shell would do too, but for files that are written.
    package func text(_ language: Language) -> String {
        switch self {
        case .write(let path, _, isNew: true): SetupText.write.text(language, path)
        case .write(let path, _, isNew: false): SetupText.writeAnew.text(language, path)
        case .copyProgram(let source, let target): "install -m 755 \(source) \(target)"
        case .remove(let path): "rm \(path)"
        case .set(let path, let value): "echo \(value) >\(path)"
        case .makeDirectory(let path, let owner): "install -d -o \(owner) -g \(owner) \(path)"
        case .giveBack(let path): "chown root:root \(path); chmod 600 \(path)"
        case .run(let words, _): words.joined(separator: " ")
        }
    }
}
