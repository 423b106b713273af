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
    /// True if no control socket is given: the daemon looked for may be the machine's service.
    let mayBeService: Bool
    let sockets: [String]
    /// Settings of the pages in the configuration: visibility of the status line, and scan time.
    let showsStatus: Bool
    let scanTime: Duration
    /// Fault of the configuration, in which case the defaults are used; nil for none.
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

    /// Uses of a network by the user's and the system's configuration (LK-12, HK-7).
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

    /// Saves the visibility of the status line in the configuration; the rest of the file is unchanged.
    func keep(showsStatus: Bool) throws(CommandFailure) {
        let file = paths.configurationFile
        do throws(Errno) {
            var bytes: [UInt8] = []
            do throws(Errno) {
                bytes = try FileSystem.textContents(of: file.string, limit: Configuration.largestText)
            } catch .noSuchFileOrDirectory {
                try FileSystem.makeDirectory(paths.configuration, mode: 0o755)
            }
            let text = Self.setting("status-line", to: "\(showsStatus)", in: String(decoding: bytes, as: UTF8.self))
            try FileSystem.replace(file, with: Array(text.utf8), mode: 0o644)
        } catch {
            throw CommandFailure(.inputOutput, FileFaultText.notKept, "\(file)", "\(error)")
        }
    }

    /// Returns the configuration with a value for a key outside of tables: in place of its line, or else at the top.
    static func setting(_ key: String, to value: String, in text: String) -> String {
        // Split by scalars, because CR LF is one character.
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let lineEnd = lines.first?.unicodeScalars.last == "\r" ? "\r" : ""
        let firstTable = lines.firstIndex { $0.drop { $0 == " " || $0 == "\t" }.hasPrefix("[") } ?? lines.count
        let place = lines[..<firstTable].firstIndex { line in
            let words = line.split(separator: "=", maxSplits: 1)
            return words.count == 2 && words[0].filter { $0 != " " && $0 != "\t" } == key
        }
        if let place {
            lines[place] = "\(key) = \(value)\(lineEnd)"
        } else {
            lines.insert("\(key) = \(value)\(lineEnd)", at: 0)
        }
        return lines.joined(separator: "\n")
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
    func line(_ language: Language) -> String { LocalName.printable(message.text(language)) }
}
