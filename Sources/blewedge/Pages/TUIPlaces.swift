// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts
import Typing

/// Control sockets, files and settings of the pages.
struct TUIPlaces {
    /// Directories of the user, then those of the system.
    let all: [DaemonPaths]
    /// True if no control socket is given, so that the daemon may be the system service.
    let mayBeService: Bool
    let sockets: [String]
    /// Settings of the pages in the configuration: visibility of the status line, and scan time.
    let showsStatus: Bool
    let scanTime: Duration
    /// Fault in the configuration, because of which the defaults are used; nil if there is none.
    let fault: CommandFailure?

    /// Finds the places of this user; `socket` replaces the control sockets.
    init(socket: String?) throws(CommandFailure) {
        let all = try DaemonPaths.reachable()
        let sockets = socket.map { [$0] } ?? all.map(\.controlSocket.string)
        self.init(all, own: try DaemonPaths.current(), sockets: sockets, mayBeService: socket == nil)
    }

    /// Creates the places of a daemon that only these pages use.
    init(_ paths: DaemonPaths) {
        self.init([paths], own: paths, sockets: [paths.controlSocket.string], mayBeService: false)
    }

    private init(_ all: [DaemonPaths], own: DaemonPaths, sockets: [String], mayBeService: Bool) {
        self.all = all
        self.sockets = sockets
        self.mayBeService = mayBeService
        var configuration = Configuration()
        var fault: CommandFailure?
        do throws(ConfigurationError) {
            configuration = try Configuration.read(own.configurationFile, mustExist: false)
        } catch {
            fault = CommandFailure(error)
        }
        self.fault = fault
        showsStatus = configuration.showsStatus
        scanTime = ControlRequest.scanTime(nearest: configuration.refreshPeriod)
    }

    var paths: DaemonPaths { all.first ?? .system }

    /// Network uses according to the user's and the system's configuration (LK-12, HK-7).
    var networkUses: [Message] {
        var uses: [Message] = []
        for file in all.map(\.configurationFile) {
            do throws(ConfigurationError) {
                let configuration = try Configuration.read(file)
                if let server = configuration.beacons.server { uses.append(GuideText.networkServer.message(server)) }
                if configuration.adapter.isInternet {
                    uses.append(GuideText.networkController.message("\(configuration.adapter)"))
                }
            } catch {
                uses.append(GuideText.networkUnread.message("\(file)"))
            }
        }
        return uses.isEmpty ? [GuideText.networkNone.message()] : uses
    }

    /// Configuration of the daemon; the default if the file cannot be read.
    var configuration: Configuration { (try? Configuration.read(paths.configurationFile)) ?? Configuration() }

    /// Saves the visibility of the status line in the configuration, and leaves the rest of the file unchanged.
    func keep(showsStatus: Bool) throws(CommandFailure) {
        try write(ConfigurationText(try text()).setting("status-line", to: "\(showsStatus)").text)
    }

    /// Saves a setting in the configuration after checking the whole file; the rest of the file is unchanged.
    ///
    /// An empty value removes the setting. A prefix or suffix turns barcode framing on.
    func keep(_ setting: PageSetting, _ value: String) throws(CommandFailure) {
        let (section, name) = setting.key
        let quoted = value.isEmpty ? nil : JSONObject.quoted(value, as: .toml)
        var changed = ConfigurationText(try text()).setting(name, in: section, to: quoted)
        if !section.isEmpty, !value.isEmpty { changed = changed.setting("on", in: section, to: "true") }
        do throws(ConfigurationError) {
            let configuration: Configuration
            do throws(ConfigurationFaults) {
                configuration = try Configuration(text: changed.text)
            } catch {
                throw .faults(paths.configurationFile.string, error)
            }
            _ = try configuration.settings(device: nil)
        } catch {
            throw CommandFailure(error)
        }
        try write(changed.text)
    }

    /// Returns the text of the configuration; empty if there is no file.
    private func text() throws(CommandFailure) -> String {
        let file = paths.configurationFile
        do throws(Errno) {
            var bytes: [UInt8] = []
            do throws(Errno) {
                bytes = try FileSystem.textContents(of: file.string, limit: Configuration.largestText)
            } catch .noSuchFileOrDirectory {
                try FileSystem.makeDirectory(paths.configuration, mode: 0o755)
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw CommandFailure(.inputOutput, FileFaultText.notKept, "\(file)", "\(error)")
        }
    }

    private func write(_ text: String) throws(CommandFailure) {
        let file = paths.configurationFile
        do throws(Errno) {
            try FileSystem.replace(file, with: Array(text.utf8), mode: 0o644)
        } catch {
            throw CommandFailure(.inputOutput, FileFaultText.notKept, "\(file)", "\(error)")
        }
    }

    /// True at the user's first start: the guide was never shown, and no selected device is saved (LK-11).
    var isFirstTime: Bool {
        !FileSystem.exists(guideMark.string) && !all.contains { FileSystem.exists($0.choice.string) }
    }

    /// Records that the guide was shown; if that cannot be saved, the guide is shown again.
    func rememberGuide() {
        do throws(Errno) {
            try FileSystem.makeDirectory(paths.state, mode: 0o755)
            try FileSystem.replace(guideMark, with: [], mode: 0o644)
        } catch {
            return
        }
    }

    private var guideMark: FilePath { paths.state.appending("guide-shown") }
}

extension Reason {
    /// Returns the cause and the remedy as one line of a page, without characters that control a terminal.
    ///
    /// Several faults, each on a line of its own, are joined by semicolons.
    func line(_ language: Language) -> String {
        let lines = message.text(language).split(whereSeparator: \.isNewline)
        return LocalName.printable(lines.joined(separator: "; "))
    }
}
