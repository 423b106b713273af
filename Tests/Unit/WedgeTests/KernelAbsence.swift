// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import CLinux
    import LinuxIO
    import SystemPackage
    import TestSupport

    /// Feature that a kernel lacks: the results of its calls, the result of a session, and the doctor's row.
    struct KernelAbsence: Sendable {
        /// Result of a session.
        enum Session: Equatable, Sendable {
            /// The session types; `isMet` is true if it has noticed the missing feature.
            case types(isMet: Bool)
            /// The session fails, and the cause contains this text.
            case refused(String)
        }

        /// Error in a line of the vectors.
        struct Fault: Error { var line: Int }

        var feature: String
        /// Calls that fail, with their errors.
        var calls: [(site: CallSite, error: Errno)] = []
        /// Management commands that the kernel does not support; the next property contains such events.
        var commands: Set<UInt16> = []
        var events: Set<UInt16> = []
        /// Missing files of sysfs.
        var files: Set<String> = []
        var hasEventNodes = true
        var session = Session.types(isMet: false)
        var row = ""
        /// First kernel version with the feature, or its configuration option.
        var since = ""
        /// Rows whose state cannot be determined without the feature.
        var unknown: Set<String> = []
        /// Finding of the doctor; nil for none.
        var finding: String?

        init(_ feature: String) { self.feature = feature }

        /// Reads the features from the vectors.
        static func load() throws -> [KernelAbsence] {
            var found: [KernelAbsence] = []
            for (number, text) in try VectorFile.lines("kernel-features.txt") {
                let words = text.split(separator: " ").map(String.init)
                guard words.count > 1 else { throw Fault(line: number) }
                let rest = text.split(separator: " ", maxSplits: 1).last.map(String.init) ?? ""
                if words[0] == "feature" {
                    found.append(KernelAbsence(words[1]))
                    continue
                }
                guard !found.isEmpty else { throw Fault(line: number) }
                switch words[0] {
                case "since": found[found.count - 1].since = rest
                case "unknown": found[found.count - 1].unknown = Set(words.dropFirst())
                case "finding": found[found.count - 1].finding = words[1] == "none" ? nil : words[1]
                case "row": found[found.count - 1].row = rest
                case "session" where words[1] == "types" && words.count == 3:
                    guard ["met", "unmet"].contains(words[2]) else { throw Fault(line: number) }
                    found[found.count - 1].session = .types(isMet: words[2] == "met")
                case "session" where words[1] == "refused":
                    found[found.count - 1].session = .refused(String(rest.dropFirst("refused ".count)))
                case "answers": try found[found.count - 1].read(Array(words.dropFirst()), number)
                default: throw Fault(line: number)
                }
            }
            return found
        }

        /// Returns a kernel that lacks all of these features.
        static func all(_ absences: [KernelAbsence]) -> KernelAbsence {
            var all = KernelAbsence("all")
            for absence in absences {
                all.calls += absence.calls
                all.commands.formUnion(absence.commands)
                all.events.formUnion(absence.events)
            }
            return all
        }

        private mutating func read(_ words: [String], _ line: Int) throws(Fault) {
            switch (words[0], words.count) {
            case ("evdev", 1): hasEventNodes = false
            case ("sysfs", 2): files.insert(words[1])
            case ("mgmt", 2), ("event", 2):
                guard let number = UInt16(words[1], radix: 16) else { throw Fault(line: line) }
                if words[0] == "mgmt" { commands.insert(number) } else { events.insert(number) }
            case ("option", 4):
                guard let option = Self.options[words[2]] else { throw Fault(line: line) }
                calls.append((try Self.site(words[1], option, line), try Self.error(words[3], line)))
            case (_, 2): calls.append((try Self.site(words[0], nil, line), try Self.error(words[1], line)))
            default: throw Fault(line: line)
            }
        }

        private static func site(_ text: String, _ option: Int32?, _ line: Int) throws(Fault) -> CallSite {
            let parts = text.split(separator: ".").map(String.init)
            guard parts.count == 2, let kind = CallKind(rawValue: parts[0]),
                let call = CallSite.Call(rawValue: parts[1])
            else { throw Fault(line: line) }
            return CallSite(kind, call, option: option)
        }

        private static func error(_ name: String, _ line: Int) throws(Fault) -> Errno {
            let errors: [String: Errno] = [
                "ENOSYS": .noFunction, "ENOPROTOOPT": .protocolNotAvailable, "EINVAL": .invalidArgument,
                "ENOENT": .noSuchFileOrDirectory, "EAFNOSUPPORT": .addressFamilyNotSupported,
            ]
            guard let error = errors[name] else { throw Fault(line: line) }
            return error
        }

        private static let options = [
            "SO_MEMINFO": SO_MEMINFO, "SO_RXQ_OVFL": SO_RXQ_OVFL, "SO_TIMESTAMP": SO_TIMESTAMP,
        ]
    }
#endif
