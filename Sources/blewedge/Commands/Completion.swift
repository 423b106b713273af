// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// Collects the words that a shell offers for an argument, without privileges, while the user waits.
enum Completion {
    /// Time-out for the daemon's answer.
    private static let patience = Duration.milliseconds(300)
    /// Maximum size of the list of layouts in the X keyboard database, in bytes.
    private static let longestLayoutList = 1 << 20

    /// Names and addresses of known devices.
    static let devices = CompletionKind.custom { _, _, _ in
        words(knownDevices().flatMap { [$0.name, $0.address].compactMap(\.self) })
    }
    /// Addresses of known devices.
    static let addresses = CompletionKind.custom { _, _, _ in words(knownDevices().map(\.address)) }
    /// Names of the built-in profiles, of the profiles in the configuration, and of files.
    static let profiles = CompletionKind.custom { _, _, prefix in
        words(Configuration.anyProfileNames(own: Configuration.ofUser) + files(prefix))
    }
    /// Names of the built-in tables, and of files.
    static let tables = CompletionKind.custom { _, _, prefix in
        words(ByteTable.BuiltIn.allCases.map(\.rawValue) + files(prefix))
    }
    /// Names of the built-in layouts, and of the layouts in the X keyboard database.
    static let layouts = CompletionKind.custom { _, _, _ in
        words(BuiltInLayout.allCases.map(\.rawValue) + ["console"] + databaseLayouts())
    }

    /// Prepares words for the shell.
    ///
    /// Duplicates, and words that the shell might expand, are removed; the other words are escaped. This is necessary
    /// because names come from other devices, and bash expands the words that it offers.
    private static func words(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        let safe = words.filter { word in
            !word.isEmpty && !word.hasPrefix("-") && word.allSatisfy(isSafe) && seen.insert(word).inserted
        }
        // zsh interprets the text after a colon as a description.
        return CompletionShell.requesting == .zsh ? safe.map { $0.map { $0 == ":" ? "\\:" : "\($0)" }.joined() } : safe
    }

    private static func isSafe(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || " -_.,:/()+@".contains(character)
    }

    /// Reads the selected device and the devices of earlier connections, from files and from a running daemon.
    ///
    /// Files that this user may not read are skipped.
    private static func knownDevices() -> [(name: String?, address: String)] {
        let places = (try? DaemonPaths.reachable()) ?? []
        var found: [(name: String?, address: String)] = []
        if var client = try? ControlClient(at: places.map(\.controlSocket.string), patience: patience),
            let status = try? client.status(patience: patience)
        {
            if let selection = status.selection { found.append((selection.name, "\(selection.device.address)")) }
            if let heard = status.heard { found.append((nil, "\(heard.address)")) }
        }
        for place in places {
            if let choice = try? ChoiceStore(place.choice).read() {
                found.append((choice.name, "\(choice.device.address)"))
            }
            for known in (try? KnownDeviceStore(place.known).read()) ?? [] {
                found.append((known.name, "\(known.device.address)"))
            }
            for bond in (try? BondStore(place.bonds).read())?.bonds ?? [] {
                found.append((nil, "\(bond.identityAddress.address)"))
            }
        }
        return found
    }

    /// Reads the names of the layouts in the X keyboard database; empty if the database is not installed.
    private static func databaseLayouts() -> [String] {
        let path = "/usr/share/X11/xkb/rules/evdev.lst"
        guard let bytes = try? FileSystem.contents(of: path, limit: longestLayoutList) else { return [] }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.drop { $0 != "! layout" }.dropFirst().prefix { !$0.hasPrefix("!") }.compactMap { line in
            line.split(separator: " ").first.map(String.init)
        }
    }

    /// Returns the names of the files and directories that begin with `prefix`.
    private static func files(_ prefix: String) -> [String] {
        let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        return FileSystem.names(in: folder.isEmpty ? "." : folder).map { folder + $0 }.filter { $0.hasPrefix(prefix) }
    }
}

extension Configuration {
    /// Returns the words to offer for an option that selects a profile.
    fileprivate static func anyProfileNames(own configuration: Configuration?) -> [String] {
        ((configuration?.ownProfiles ?? []) + Profile.builtIn).map(\.name) + [anyProfile]
    }
}
