// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// Where a daemon keeps what it needs (D-8).
///
/// In system mode /etc/blewedge, /var/lib/blewedge and /run/blewedge, in user mode the XDG directories; what systemd gives
/// a service comes before both.
package struct DaemonPaths: Hashable, Sendable {
    package enum Refusal: Error, Equatable, Sendable {
        /// The file of this path, or without one the state directory, is in a directory of another user, or is one itself.
        case foreign(String, owner: UInt32, FilePath?)
        /// Others can write to it, or to a directory above it.
        case writable(String, mode: UInt32, FilePath?)
        case noRuntimeDirectory(FilePath, Errno)

        fileprivate init(_ found: FileSystem.Exposure, _ file: FilePath?) {
            self =
                found.isForeign
                ? .foreign(found.path, owner: found.owner, file) : .writable(found.path, mode: found.mode, file)
        }
    }

    package static let name = "blewedge"

    /// The directory of what the administrator or the user writes.
    package var configuration: FilePath
    /// The directory of what must outlive a restart.
    package var state: FilePath
    /// The directory of what lives as long as the daemon.
    package var runtime: FilePath

    package init(configuration: FilePath, state: FilePath, runtime: FilePath) {
        self.configuration = configuration
        self.state = state
        self.runtime = runtime
    }

    package static let system = DaemonPaths(
        configuration: "/etc/blewedge",
        state: "/var/lib/blewedge",
        runtime: "/run/blewedge"
    )

    /// Those of a process with this user and this environment; nil where a user has neither XDG directories nor a home.
    ///
    /// systemd.exec(5), RuntimeDirectory=; XDG Base Directory Specification 0.8.
    package init?(user: UInt32, environment: (String) -> String?) {
        var paths: DaemonPaths
        if user == 0 {
            paths = .system
        } else if let found = Self.personal(environment) {
            paths = found
        } else if let given = Self.given(environment) {
            paths = given
        } else {
            return nil
        }
        if let directory = Self.first(of: environment("CONFIGURATION_DIRECTORY")) { paths.configuration = directory }
        if let directory = Self.first(of: environment("STATE_DIRECTORY")) { paths.state = directory }
        if let directory = Self.first(of: environment("RUNTIME_DIRECTORY")) { paths.runtime = directory }
        self = paths
    }

    /// Refuses a state directory in which others could put what they want to be chosen (T31).
    ///
    /// It belongs to `user`, to root, or for root to the service's user, and nobody else writes there or can replace one of
    /// the directories above it. One that is not there is fine.
    package func checkState(
        user: UInt32 = ProcessFacts.user,
        serviceUser: UInt32? = AccountFiles().user(named: name)?.number
    ) throws(Refusal) {
        guard let (owner, mode) = FileSystem.ownerAndMode(of: state.string) else { return }
        let isOurs = owner == user || owner == 0 || user == 0 && owner == serviceUser
        guard isOurs else { throw .foreign(state.string, owner: owner, nil) }
        guard mode & 0o022 == 0 else { throw .writable(state.string, mode: mode, nil) }
        let trusted = Set([user] + (user == 0 ? [serviceUser].compactMap(\.self) : []))
        if let exposure = FileSystem.exposure(of: state, trusted: trusted) { throw Refusal(exposure, nil) }
    }

    /// Refuses an existing file that says what is typed or run, and that another user can change: the configuration, and what
    /// it names.
    ///
    /// It belongs to `user`, to root, or to the user who became root by sudo(8), and so do the directories above it.
    package static func check(
        _ path: FilePath,
        user: UInt32 = ProcessFacts.user,
        invoker: UInt32? = ProcessFacts.environment("SUDO_UID").flatMap { UInt32($0) }
    ) throws(Refusal) {
        let trusted = Set([user] + (user == 0 ? [invoker].compactMap(\.self) : []))
        if let exposure = FileSystem.exposure(of: path, trusted: trusted) { throw Refusal(exposure, path) }
    }

    package func makeRuntimeDirectory() throws(Refusal) {
        do throws(Errno) {
            try FileSystem.makeDirectory(runtime, mode: 0o755)
        } catch {
            throw .noRuntimeDirectory(runtime, error)
        }
    }

    package var configurationFile: FilePath { configuration.appending("blewedge.toml") }
    package var snippets: FilePath { configuration.appending("snippets.json") }
    package var controlSocket: FilePath { runtime.appending("control") }
    package var choice: FilePath { state.appending("selection") }
    package var designated: FilePath { state.appending("designated") }
    package var bonds: FilePath { state.appending("bonds") }
    /// The lock file that is held by the daemon that uses an adapter such as `hci0`.
    ///
    /// `user:hci0` is the same as `hci0`; of other names every sign that is no letter or digit is written as a dash.
    package func lock(_ adapter: String) -> FilePath {
        let name = adapter.hasPrefix("user:") ? adapter.dropFirst(5) : adapter[...]
        return runtime.appending(String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }) + ".lock")
    }

    /// The places where a daemon may have an adapter: the process's own, then the system's.
    package var withSystem: [DaemonPaths] { self == .system ? [self] : [self, .system] }

    /// The places where a command looks for a daemon: the process's own, then the system's.
    ///
    /// Where the environment names a runtime directory it is the own place alone, so that no daemon is asked that was not
    /// meant. Nil as for `init`.
    package static func reachable(user: UInt32, environment: (String) -> String?) -> [DaemonPaths]? {
        DaemonPaths(user: user, environment: environment).map { own in
            first(of: environment("RUNTIME_DIRECTORY")) == nil ? own.withSystem : [own]
        }
    }

    private static func personal(_ environment: (String) -> String?) -> DaemonPaths? {
        let home = absolute(environment("HOME"))
        guard let configuration = absolute(environment("XDG_CONFIG_HOME")) ?? home?.appending(".config"),
            let state = absolute(environment("XDG_STATE_HOME")) ?? home?.appending(".local/state")
        else { return nil }
        let own = state.appending(name)
        return DaemonPaths(
            configuration: configuration.appending(name),
            state: own,
            // Without a session there is no directory that goes when the user does: the state's own serves.
            runtime: absolute(environment("XDG_RUNTIME_DIR"))?.appending(name) ?? own.appending("run")
        )
    }

    /// The system's, for a service without a home of its own that systemd gives directories to.
    private static func given(_ environment: (String) -> String?) -> DaemonPaths? {
        first(of: environment("STATE_DIRECTORY")) == nil ? nil : .system
    }

    private static func first(of list: String?) -> FilePath? {
        absolute(list?.split(separator: ":").first.map(String.init))
    }

    /// The specification says of a path that is not absolute: ignore it.
    private static func absolute(_ path: String?) -> FilePath? {
        path.map { FilePath($0) }.flatMap { $0.isAbsolute ? $0 : nil }
    }
}
