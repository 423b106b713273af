// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// The programs that also manage adapters, looked for at most once in a while: the list of processes is long, and whoever
/// may ask for the status could keep the loop reading it.
struct Rivals {
    /// How long an answer holds.
    static let life = Duration.seconds(5)

    private let folder: String
    private var answer: (time: Duration, names: [String]?)?

    /// Reads the processes in `folder`.
    init(proc folder: String = "/proc") {
        self.folder = folder
    }

    /// Their names with their process numbers; nil where other users' processes are hidden, as from the service
    /// (ProtectProc=).
    mutating func names(now: Duration) -> [String]? {
        if let answer, now - answer.time < Self.life { return answer.names }
        // The first process is root's, and always there.
        guard FileSystem.exists("\(folder)/1") else {
            answer = (now, nil)
            return nil
        }
        let names = FileSystem.names(in: folder).compactMap { name -> String? in
            guard let number = Int32(name), FileSystem.line(of: "\(folder)/\(name)/comm") == "bluetoothd" else {
                return nil
            }
            return "bluetoothd (process \(number))"
        }
        answer = (now, names)
        return names
    }
}
