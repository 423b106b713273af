// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// The directories that a daemon uses (D-8).
///
/// In system mode, they are /etc/blewedge, /var/lib/blewedge and /run/blewedge; in user mode, they are the XDG
/// directories. If systemd sets directories for a service, these are used instead.
package struct DaemonPaths: Hashable, Sendable {
    package enum Refusal: Error, Equatable, Sendable {
        /// The checked file or directory, or a directory above it, belongs to another user.
        ///
        /// The last value is the path of the checked file; nil if the state directory was checked.
        case foreign(String, owner: UInt32, FilePath?)
        /// The checked file or directory, or a directory above it, is writable by other users.
        ///
        /// The last value is the path of the checked file; nil if the state directory was checked.
        case writable(String, mode: UInt32, FilePath?)
        case noRuntimeDirectory(FilePath, Errno)

        fileprivate init(_ found: FileSystem.Exposure, _ file: FilePath?) {
            self =
                found.isForeign
                ? .foreign(found.path, owner: found.owner, file) : .writable(found.path, mode: found.mode, file)
        }
    }

    package static let name = "blewedge"

    /// Directory for files that the administrator or the user writes.
    package var configuration: FilePath
    /// Directory for files that survive a restart.
    package var state: FilePath
    /// Directory for files that exist only while the daemon runs.
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

    /// Determines the paths for a process from its user and environment.
    ///
    /// The result is nil if the user has neither XDG directories nor a home directory. Sources: systemd.exec(5),
    /// RuntimeDirectory=; XDG Base Directory Specification 0.8.
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

    /// Throws if another user could store a selected device in the state directory (T31).
    ///
    /// The directory must belong to `user`, to root or, when running as root, to the service's user. Nobody else may
    /// write to it or replace a directory above it. A missing directory is accepted.
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

    /// Throws if another user can change the configuration, or a file that the configuration names.
    ///
    /// Such files control what is typed and executed. The file at `path` and the directories above it must belong to
    /// `user`, to root, or to the user who became root with sudo(8).
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
    package var choice: FilePath { choice(of: nil) }
    /// Returns the path of the selection for a device with this name in the configuration; nil for the only device.
    package func choice(of device: String?) -> FilePath {
        state.appending(device.map { "selection-\($0)" } ?? "selection")
    }
    package var designated: FilePath { state.appending("designated") }
    package var bonds: FilePath { state.appending("bonds") }
    package var known: FilePath { state.appending("devices") }
    package var hidDevices: FilePath { state.appending("hid-devices") }
    /// Returns the path of the lock file for an adapter such as `hci0`.
    ///
    /// `user:hci0` has the same lock file as `hci0`; in other names, every character except ASCII letters and digits
    /// becomes a dash.
    package func lock(_ adapter: String) -> FilePath {
        let name = adapter.hasPrefix("user:") ? adapter.dropFirst(5) : adapter[...]
        return runtime.appending(String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }) + ".lock")
    }

    /// Paths where a daemon may hold an adapter lock: first the process's own paths, then the system's.
    package var withSystem: [DaemonPaths] { self == .system ? [self] : [self, .system] }

    /// Returns the paths where a command looks for a daemon: first the process's own paths, then the system's.
    ///
    /// If `RUNTIME_DIRECTORY` is set in the environment, only the process's own paths are searched, so that no other
    /// daemon is contacted. The result is nil if `init` fails.
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
            // Outside a login session, there is no runtime directory, so use a directory in the state directory.
            runtime: absolute(environment("XDG_RUNTIME_DIR"))?.appending(name) ?? own.appending("run")
        )
    }

    /// Returns the system's paths for a service without a home directory, if systemd sets the service's directories.
    private static func given(_ environment: (String) -> String?) -> DaemonPaths? {
        first(of: environment("STATE_DIRECTORY")) == nil ? nil : .system
    }

    private static func first(of list: String?) -> FilePath? {
        absolute(list?.split(separator: ":").first.map(String.init))
    }

    /// Returns the path, or nil if it is relative, because the XDG specification requires relative paths to be ignored.
    private static func absolute(_ path: String?) -> FilePath? {
        path.map { FilePath($0) }.flatMap { $0.isAbsolute ? $0 : nil }
    }
}
