// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import Devices
import HIDReports
package import Keystrokes
import LinuxIO
package import SystemPackage
import Texts
import Typing

extension Configuration {
    /// Reads the configuration file; a missing file counts as empty, unless `mustExist`.
    ///
    /// If the file is faulty on a reload, the caller keeps the previous configuration.
    package static func read(_ path: FilePath, mustExist: Bool = false) throws(ConfigurationError) -> Configuration {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: path.string, limit: largestText)
        } catch  where !mustExist && error.recovery(of: .file) == .absent {
            return Configuration()
        } catch {
            throw .unreadable(path, error)
        }
        var configuration = try parse(bytes, of: path.string, ConfigurationError.faults) {
            text throws(ConfigurationFaults) in
            try Configuration(text: text)
        }
        configuration.resolveFiles(in: path.removingLastComponent())
        return configuration
    }

    /// Resolves relative names of tables and profiles, which are relative to the directory of the configuration file.
    mutating func resolveFiles(in directory: FilePath) {
        table = table.map { TableSource.resolve($0, in: directory) }
        if isProfileFile { profile = directory.pushing(FilePath(profile)).string }
        for index in ownProfiles.indices {
            ownProfiles[index].table = ownProfiles[index].table.map { TableSource.resolve($0, in: directory) }
        }
        for index in devices.indices { devices[index].resolveFiles(in: directory) }
    }

    /// Parses the text of a file; `refusal` creates the error to throw if the text is invalid.
    private static func parse<Value>(
        _ bytes: [UInt8],
        of path: String,
        _ refusal: (String, ConfigurationFaults) -> ConfigurationError,
        _ body: (String) throws(ConfigurationFaults) -> Value
    ) throws(ConfigurationError) -> Value {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(path) }
        do throws(ConfigurationFaults) {
            return try body(text)
        } catch {
            throw refusal(path, error)
        }
    }

    /// Returns the profiles to try on a device, in this order.
    ///
    /// The first profile that the device offers is used. With `auto`, profiles in the configuration file come before
    /// the built-in ones, because they were added deliberately.
    package func profiles() throws(ConfigurationError) -> [Profile] {
        if profile == Self.anyProfile { return ownProfiles.filter { $0.advertised == nil } + Profile.automatic }
        if let found = ownProfiles.first(where: { $0.name == profile }) ?? Profile(named: profile) { return [found] }
        guard isProfileFile else {
            throw .unknownProfile(profile, known: (Profile.builtIn + ownProfiles).map(\.name))
        }
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: profile, limit: Profile.largestText)
        } catch {
            throw .profileUnreadable(profile, error)
        }
        return try Self.parse(bytes, of: profile, ConfigurationError.profileFaults) {
            text throws(ConfigurationFaults) in
            // The profile is named after the file, without its extension.
            var own = try Profile(text: text, name: FilePath(profile).stem ?? profile)
            own.table = own.table.map { TableSource.resolve($0, in: FilePath(profile).removingLastComponent()) }
            return [own]
        }
    }

    /// True if the profile is a path, because it contains a character that is not allowed in names.
    var isProfileFile: Bool { !Self.isPlainName(profile, Profile.longestName) }

    package var files: [String] {
        guard devices.isEmpty else { return parts.flatMap(\.configuration.files) }
        return [table.flatMap { ByteTable(named: $0) == nil ? $0 : nil }, isProfileFile ? profile : nil].compactMap(
            \.self
        )
    }

    /// Returns the name or path of the byte table to use.
    ///
    /// It is the configured table or, if none is configured, the table of the only profile; otherwise, it is the
    /// default.
    package func tableName(_ profiles: [Profile]) -> String {
        table ?? (profiles.count == 1 ? profiles.first?.table : nil) ?? ByteTable.BuiltIn.linble.rawValue
    }

    /// Returns the minimum security of a link with a device of any of these profiles.
    package func leastSecurity(_ profiles: [Profile]) -> GATTLinkSecurity.Level {
        max(security, profiles.map(\.security).min() ?? .none)
    }

    /// Properties of a keyboard scanner that its reports do not contain.
    private var keys: KeyDecoder.Settings {
        var keys = KeyDecoder.Settings()
        (keys.layout, keys.capsLock, keys.repeatsOnShiftChange) = (deviceLayout, deviceCapsLock, deviceShiftRepeats)
        (keys.numLock, keys.groupSeparatorKey) = (deviceNumLock, deviceGSKey.usage)
        return keys
    }

    /// Returns the layout that applications use.
    package func keyboardLayout() throws(ConfigurationError) -> KeyboardLayout {
        do throws(TypingError) {
            return try LayoutSource.layout(layout)
        } catch {
            throw .typing(error)
        }
    }

    /// Creates the settings of a keyboard for a device, after reading and checking all files named by the
    /// configuration.
    package func settings(device: DeviceSelector?) throws(ConfigurationError) -> KeyboardSettings {
        let profiles = try profiles()
        let security = leastSecurity(profiles)
        let layout = try keyboardLayout()
        let tableName = tableName(profiles)
        let compiled: CompiledTable
        do throws(TypingError) {
            compiled = try TableSource.compiled(try TableSource.read(tableName), of: tableName, layout: layout)
        } catch {
            throw .typing(error)
        }
        let pace: Pace
        let textPace: Pace
        do throws(Pace.StallError) {
            // Outputs other than the keyboard do not have an event queue that could overflow.
            textPace = try Pace(.console, stall: 0, queue: queue)
            pace = hasKeyboard ? try Pace(self.pace, stall: stall?.inNanoseconds, queue: queue) : textPace
        } catch {
            throw .stall(pace: self.pace.rawValue, error)
        }
        do throws(Pace.StallError) {
            try pace.check(longestByte: compiled.longestByte)
        } catch {
            throw .byteTooLong(events: compiled.longestByte, table: tableName, layout: layout.name, error)
        }
        guard !profiles.isEmpty else { throw .noProfiles }
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
                verifies: verifies && hasKeyboard,
                isUdevKeyboard: isUdevKeyboard
            ),
            textPacer: Pacer(textPace),
            hasKeyboard: hasKeyboard,
            advertisedAddress: advertisedAddress,
            security: security,
            keys: keys,
            earlyTime: earlyReports
        )
    }

    /// Checks the files and texts named by the configuration, and finds keys without an effect.
    ///
    /// `lines` contains the keys that are set.
    package func faults(_ lines: [String: Int]) -> [(keys: [String], error: ConfigurationError)] {
        var faults: [(keys: [String], error: ConfigurationError)] = []
        func check<Value>(_ keys: [String], _ body: () throws(ConfigurationError) -> Value) -> Value? {
            do throws(ConfigurationError) {
                return try body()
            } catch {
                faults.append((keys, error))
                return nil
            }
        }
        if let profiles = check(["profile"], profiles) {
            do throws(TypingError) {
                _ = try TableSource.read(tableName(profiles))
            } catch {
                faults.append((["table", "profile"], .typing(error)))
            }
        }
        if let layout = check(["layout"], keyboardLayout) {
            for (key, text) in [("prefix", barcodeMode.prefix), ("suffix", barcodeMode.suffix ?? "")] {
                _ = check(["scan-mode.\(key)"]) { () throws(ConfigurationError) in try affix(text, key, layout) }
            }
        }
        _ = check(["beacons.regions"], regions)
        for (table, configuration) in parts {
            guard let table else { break }
            _ = check(["device.\(table.name)"]) { () throws(ConfigurationError) in
                try configuration.settings(device: nil)
            }
        }
        if faults.isEmpty {
            let keys = ["stall", "queue", "pace", "table"]
            if let settings = check(keys, { () throws(ConfigurationError) in try settings(device: nil) }) {
                do throws(KeyboardError) {
                    _ = try settings.typing.declaredKeys()
                } catch {
                    faults.append((keys, .keyboard(error)))
                }
            }
        }
        let unset = Configuration()
        for key in ConfigurationKey.all where lines[key.path] != nil && key.text(self) != key.text(unset) {
            guard let other = key.condition, lines[other] == nil else { continue }
            if other == "to", hasOtherOutput || hook != nil { continue }
            faults.append(([key.path], .noEffect(key.path, without: other)))
        }
        if profile == Self.anyProfile, table == nil {
            for own in ownProfiles where own.table != nil {
                faults.append((["profiles.\(own.name)"], .noEffect("profiles.\(own.name).table", without: "profile")))
            }
        }
        return faults
    }

    private func barcodeRules(_ layout: KeyboardLayout) throws(ConfigurationError) -> BarcodeRules {
        let prefix = try affix(barcodeMode.prefix, "prefix", layout)
        let suffix = try barcodeMode.suffix.map { text throws(ConfigurationError) in try affix(text, "suffix", layout) }
        do throws(BarcodeRules.Fault) {
            return try barcodeMode.rules(prefix: prefix, suffix: suffix)
        } catch {
            throw .barcodes(error)
        }
    }

    private func affix(_ text: String, _ key: String, _ layout: KeyboardLayout) throws(ConfigurationError)
        -> BarcodeAffix
    {
        do throws(BarcodeAffix.Fault) {
            return try BarcodeAffix(text, layout: layout)
        } catch {
            throw .affix(key, error)
        }
    }
}
