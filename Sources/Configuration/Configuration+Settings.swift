// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Devices
import Keystrokes
import LinuxIO
package import SystemPackage
package import Texts
import Typing

extension Configuration {
    /// Reads the file; a file that is not there says nothing, unless `mustExist`.
    ///
    /// Nothing is changed by a file that is wrong: whoever reads one again keeps what was read before.
    package static func read(_ path: FilePath, mustExist: Bool = false) throws(CommandFailure) -> Configuration {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: path.string, limit: largestText)
        } catch  where !mustExist && error.recovery(of: .file) == .absent {
            return Configuration()
        } catch {
            throw CommandFailure(
                error == .permissionDenied ? .permission : .configuration,
                FileFaultText.configurationUnreadable,
                "\(path)",
                "\(error)",
                remedy: error == .permissionDenied ? RemedyText.userMayRead.message() : nil
            )
        }
        return try parse(bytes, of: path.string, .configurationFaults) { text throws(ConfigurationFaults) in
            try Configuration(text: text)
        }
    }

    /// Parses the text of a file; `faults` says what is wrong with it.
    private static func parse<Value>(
        _ bytes: [UInt8],
        of path: String,
        _ faults: FileFaultText,
        _ body: (String) throws(ConfigurationFaults) -> Value
    ) throws(CommandFailure) -> Value {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.configuration, FileFaultText.noText, path)
        }
        do throws(ConfigurationFaults) {
            return try body(text)
        } catch {
            let list = error.faults.map { "\(path): \($0)" }.joined(separator: "\n")
            throw CommandFailure(.configuration, faults, list)
        }
    }

    /// The profiles that are tried on a device, in this order: the first that it offers is used.
    ///
    /// With `auto` those of the file come first, since whoever wrote one means it, and then the built-in ones.
    package func profiles() throws(CommandFailure) -> [Profile] {
        if profile == Self.anyProfile { return ownProfiles + Profile.builtIn }
        if let found = ownProfiles.first(where: { $0.name == profile }) ?? Profile(named: profile) { return [found] }
        guard isProfileFile else {
            let names = (Profile.builtIn + ownProfiles).map(\.name).joined(separator: ", ")
            throw CommandFailure(.configuration, FileFaultText.noProfile, profile, names, Self.anyProfile)
        }
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: profile, limit: Profile.largestText)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.profileUnreadable, profile, "\(error)")
        }
        return try Self.parse(bytes, of: profile, .profileFaults) { text throws(ConfigurationFaults) in
            // A file's profile is named by its path's last word, without its ending.
            [try Profile(text: text, name: FilePath(profile).stem ?? profile)]
        }
    }

    /// True where the profile is a path: it has what no name has.
    var isProfileFile: Bool { !Self.isPlainName(profile, Profile.longestName) }

    /// The paths of the table and the profile, where they are files.
    package var files: [String] {
        [table.flatMap { ByteTable(named: $0) == nil ? $0 : nil }, isProfileFile ? profile : nil].compactMap(\.self)
    }

    /// The table's name or file: the one that is set, or that of the only profile, or the first of the built-in ones.
    package func tableName(_ profiles: [Profile]) -> String {
        table ?? (profiles.count == 1 ? profiles.first?.table : nil) ?? ByteTable.BuiltIn.linble.rawValue
    }

    /// The least security of a link with a device of one of these profiles, whichever it is.
    package func leastSecurity(_ profiles: [Profile]) -> GATTLinkSecurity.Level {
        max(security, profiles.map(\.security).min() ?? .none)
    }

    /// The settings of a keyboard for that device, after every file that the configuration names was read and checked.
    package func settings(device: DeviceSelector?) throws(CommandFailure) -> KeyboardSettings {
        let profiles = try profiles()
        let security = leastSecurity(profiles)
        let layout = try LayoutSource.layout(layout)
        let tableName = tableName(profiles)
        let compiled = try TableSource.compiled(try TableSource.read(tableName), of: tableName, layout: layout)
        let pace: Pace
        do throws(Pace.StallError) {
            // Other ends than the keyboard have no queue of events to run over.
            pace =
                destination == .keyboard
                ? try Pace(self.pace, stall: stall?.inNanoseconds, queue: queue) : try Pace(.console, queue: queue)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.stall, self.pace.rawValue, "\(error)")
        }
        do throws(Pace.StallError) {
            try pace.check(longestByte: compiled.longestByte)
        } catch {
            throw CommandFailure(
                .configuration,
                FileFaultText.byteTooLong,
                tableName,
                layout.name,
                "\(compiled.longestByte)",
                "\(error)"
            )
        }
        guard !profiles.isEmpty else { throw CommandFailure(.internal, FileFaultText.noProfiles) }
        return KeyboardSettings(
            adapter: adapter,
            device: device,
            profiles: profiles,
            typing: TypingSettings(
                table: compiled,
                pacer: Pacer(pace),
                barcodes: barcodeMode.isOn ? try barcodeRules(layout) : nil,
                maximumAge: maximumAge == .zero ? nil : maximumAge,
                capsLock: capsLock,
                verifies: verifies && destination == .keyboard,
                isUdevKeyboard: isUdevKeyboard
            ),
            advertisedAddress: advertisedAddress,
            security: security
        )
    }

    /// Checks the files and texts that the configuration names, and keys without effect; `lines` finds the faulty key.
    package func faults(_ lines: [String: Int]) -> [(keys: [String], failure: CommandFailure)] {
        var faults: [(keys: [String], failure: CommandFailure)] = []
        func check<Value>(_ keys: [String], _ body: () throws(CommandFailure) -> Value) -> Value? {
            do throws(CommandFailure) {
                return try body()
            } catch {
                faults.append((keys, error))
                return nil
            }
        }
        if let profiles = check(["profile"], profiles) {
            _ = check(["table", "profile"]) { () throws(CommandFailure) in try TableSource.read(tableName(profiles)) }
        }
        if let layout = check(["layout"], { () throws(CommandFailure) in try LayoutSource.layout(layout) }) {
            for (key, text) in [("prefix", barcodeMode.prefix), ("suffix", barcodeMode.suffix ?? "")] {
                _ = check(["scan-mode.\(key)"]) { () throws(CommandFailure) in try affix(text, key, layout) }
            }
        }
        _ = check(["beacons.regions"]) { () throws(CommandFailure) in try regions() }
        if faults.isEmpty {
            _ = check(["stall", "queue", "pace", "table"]) { () throws(CommandFailure) in
                try settings(device: nil).typing.declaredKeys()
            }
        }
        let unset = Configuration()
        for key in ConfigurationKey.all where lines[key.path] != nil && key.text(self) != key.text(unset) {
            guard let other = key.condition, lines[other] == nil else { continue }
            faults.append(([key.path], CommandFailure(.configuration, FileFaultText.noEffect, key.path, other)))
        }
        return faults
    }

    private func barcodeRules(_ layout: KeyboardLayout) throws(CommandFailure) -> BarcodeRules {
        let prefix = try affix(barcodeMode.prefix, "prefix", layout)
        let suffix = try barcodeMode.suffix.map { text throws(CommandFailure) in try affix(text, "suffix", layout) }
        do throws(BarcodeRules.Fault) {
            return try barcodeMode.rules(prefix: prefix, suffix: suffix)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.scanMode, "\(error)")
        }
    }

    private func affix(_ text: String, _ key: String, _ layout: KeyboardLayout) throws(CommandFailure) -> BarcodeAffix {
        do throws(BarcodeAffix.Fault) {
            return try BarcodeAffix(text, layout: layout)
        } catch {
            throw CommandFailure(.configuration, FileFaultText.scanAffix, key, "\(error)")
        }
    }
}
