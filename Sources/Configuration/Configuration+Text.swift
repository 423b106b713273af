// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Devices
import Keystrokes
import SensorValues
import Texts
import Typing

extension Configuration {
    package static let largestText = 64 * 1024
    package static let mostProfiles = 32

    /// Parses the text of a configuration: TOML of at most `largestText` bytes.
    package init(text: String) throws(ConfigurationFaults) {
        self.init()
        let members = try TOMLValue.table(of: text, limit: Self.largestText)
        var lines: [String: Int] = [:]
        let faults = read(members, &lines) + contradictions(lines)
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }

    private mutating func read(_ members: [TOMLMember], _ lines: inout [String: Int]) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        let sections = ConfigurationKey.sections
        for member in members {
            if member.key == "profiles" {
                faults += readProfiles(member, &lines)
            } else if member.key == "device", member.value.isArray {
                faults += readDevices(member, &lines)
            } else if member.key == "outputs" {
                faults += readOutputs(member, &lines)
            } else if sections.contains(member.key) {
                guard case .table(let inner) = member.value.kind else {
                    let reason = "\(member.key) is a table: write [\(member.key)] and its keys below"
                    faults.append(ConfigurationFault(line: member.line, reason: reason))
                    continue
                }
                for key in inner {
                    let isActions = member.key == "beacons" && key.key == "actions"
                    faults += isActions ? readActions(key, &lines) : read(key, in: member.key, &lines)
                }
            } else {
                faults += read(member, in: "", &lines)
            }
        }
        return faults
    }

    private mutating func read(
        _ member: TOMLMember,
        in section: String,
        _ lines: inout [String: Int]
    ) -> [ConfigurationFault] {
        let known = ConfigurationKey.all.filter { $0.section == section }
        guard let key = known.first(where: { $0.name == member.key }) else {
            let tables =
                switch section {
                case "": ConfigurationKey.sections + ["device", "outputs", "profiles"]
                case "beacons": ["actions"]
                default: [String]()
                }
            let names = known.map(\.name) + tables
            let suggestion = Self.elsewhere(member.key) ?? TOMLTableReader.suggestion(for: member.key, among: names)
            return [ConfigurationFault(line: member.line, reason: "unknown key \"\(member.key)\"\(suggestion)")]
        }
        lines[key.path] = member.line
        do throws(UnfitValue) {
            try key.set(&self, member.value)
            return []
        } catch {
            let reason = "\(key.path) wants \(error.wanted), not \(member.value.shown)"
            return [ConfigurationFault(line: member.line, reason: reason)]
        }
    }

    /// Returns a hint for a misplaced key: the command to use, or the table to which the key belongs; nil if there is
    /// none.
    private static func elsewhere(_ name: String) -> String? {
        if ["device", "name", "address"].contains(name) { return "; `blewedge use DEVICE` chooses the device" }
        let sections = ConfigurationKey.all.filter { $0.name == name }.map(\.section)
        guard let section = sections.first else { return nil }
        return section.isEmpty ? "; it belongs above the first table" : "; it is a key of [\(section)]"
    }

    /// Returns the line number of each key of a text, by the path of the key; empty if the text is not TOML.
    package static func lines(of text: String) -> [String: Int] {
        var lines: [String: Int] = [:]
        for member in (try? TOMLValue.table(of: text)) ?? [] {
            lines[member.key] = member.line
            guard case .table(let inner) = member.value.kind else { continue }
            for key in inner { lines["\(member.key).\(key.key)"] = key.line }
        }
        return lines
    }

    private mutating func readProfiles(_ member: TOMLMember, _ lines: inout [String: Int]) -> [ConfigurationFault] {
        member.readTables(at: "profiles", most: Self.mostProfiles, &lines, refusal: Self.refusal(ofProfileName:)) {
            members,
            name,
            line in
            let (profile, faults) = Profile.read(members, name: name, line: line)
            if let profile { ownProfiles.append(profile) }
            return faults
        }
    }

    private static func refusal(ofProfileName name: String) -> String? {
        if name == anyProfile || Profile(named: name) != nil { return "a profile \"\(name)\" is there already" }
        guard isPlainName(name, Profile.longestName) else {
            return "a profile's name has small letters, digits and hyphens, at most \(Profile.longestName) of them"
        }
        return nil
    }

    /// Returns true if a name consists of 1 to `most` lower-case ASCII letters, digits and hyphens.
    static func isPlainName(_ name: String, _ most: Int) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        return isPlain && (1...most).contains(name.utf8.count)
    }

    private func contradictions(_ lines: [String: Int]) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        func fault(_ keys: [String], _ reason: String) {
            faults.append(ConfigurationFault(line: keys.compactMap { lines[$0] }.first, reason: reason))
        }
        if let reason = profileContradiction(lines) { fault(["profile"], reason) }
        do throws(Pace.StallError) {
            _ = try Pace(pace, stall: stall?.inNanoseconds, queue: queue)
        } catch {
            fault(["stall", "queue", "pace"], "stall with pace \(pace.rawValue): \(error)")
        }
        if let hook, !hook.hasPrefix("/") { fault(["hook"], "hook wants a program's whole path, which begins with /") }
        let ofOutputs = devices.isEmpty ? outputContradictions : Self.contradictions(of: parts, lines)
        for contradiction in ofOutputs + beaconContradictions {
            fault(contradiction.keys, contradiction.reason)
        }
        do throws(BarcodeRules.Fault) {
            _ = try barcodeMode.rules(prefix: .nothing, suffix: nil)
        } catch {
            fault(lines.keys.filter { $0.hasPrefix("scan-mode.") }.sorted(), "scan-mode: \(error)")
        }
        return faults
    }

    /// Returns the reason why the profile is unknown; nil if it is known, or if it is a file.
    func profileContradiction(_ lines: [String: Int]) -> String? {
        guard !isProfileFile, profile != Self.anyProfile, Profile(named: profile) == nil,
            lines["profiles.\(profile)"] == nil, !ownProfiles.contains(where: { $0.name == profile })
        else { return nil }
        let names = (Profile.builtIn + ownProfiles).map(\.name) + [Self.anyProfile]
        return "there is no profile \"\(profile)\"\(TOMLTableReader.suggestion(for: profile, among: names))"
    }

    /// Formats the configuration as TOML that parses as the same configuration.
    ///
    /// With `isCommented`, explanations are added, and defaults are added as comments.
    package func text(isCommented: Bool) -> String {
        let defaults = Configuration()
        var lines: [String] = []
        var section = ""
        // If beacons are not configured, the keys for a beacon server are omitted.
        let hidden = beacons == defaults.beacons ? ConfigurationKey.serversKeys : []
        for key in ConfigurationKey.all where !hidden.contains(key.path) {
            let value = key.text(self)
            if key.section != section {
                section = key.section
                lines += ["", "[\(section)]"]
            }
            if isCommented {
                lines += [""] + Self.comment(key.summary)
                let isDefault = value == key.text(defaults)
                lines.append(isDefault ? "#\(key.name) = \(value ?? key.example)" : "\(key.name) = \(value ?? "")")
            } else if let value {
                lines.append("\(key.name) = \(value)")
            }
        }
        for output in ownOutputs { lines += ["", output.text] }
        for device in devices { lines += ["", device.text] }
        for action in beacons.actions { lines += ["", action.text] }
        for profile in ownProfiles { lines += ["", profile.text(at: "profiles.\(profile.name)")] }
        if isCommented, ownOutputs.isEmpty { lines += ["", Self.outputExample] }
        if isCommented, devices.isEmpty { lines += ["", Self.deviceExample] }
        if isCommented, beacons.actions.isEmpty { lines += ["", Self.actionExample] }
        if isCommented, ownProfiles.isEmpty { lines += ["", Self.profileExample] }
        return lines.drop { $0.isEmpty }.joined(separator: "\n") + "\n"
    }

    private static func comment(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < 100 {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append("# " + word)
            }
        }
        return lines
    }

    /// Explanations and examples of the tables whose names the user chooses, as comments of a configuration file.
    package static let tableExamples = [outputExample, deviceExample, actionExample, profileExample]

    private static let outputExample = """
        # Outputs in addition to those of to, each in a table of its own. slow-reader, gated and raw can be set for each; their
        # defaults are the settings above. A slow or closed output does not delay the others.
        #
        #[outputs.log]
        #to = "unix:/run/blewedge/log"
        #slow-reader = "drop-oldest"
        #gated = false
        #raw = true
        """

    private static let deviceExample = """
        # Devices that one daemon serves at the same time, each in a table of its own with a name. device fixes the device;
        # without it, `blewedge use DEVICE --as NAME` selects it. keyboard: with shared, all devices type on one keyboard, one
        # barcode after the other; with own, the device has a keyboard "blewedge keyboard NAME". A table can also set
        # \(ConfiguredDevice.keys.prefix(9).joined(separator: ", ")),
        # \(ConfiguredDevice.keys.dropFirst(9).joined(separator: ", ")); their defaults are the settings above.
        #
        #[[device]]
        #name = "scanner"
        #
        #[[device]]
        #name = "scale"
        #profile = "weight-scale"
        #to = "unix:/run/blewedge/weights"
        """

    private static let actionExample = """
        # Actions when a region is entered or left, each in a table of its own. do: gate types received data only while the
        # region is inside; type types the key code of the entering beacon, as a barcode; hook runs the hook; event informs
        # clients. Anyone can copy a beacon, so gate and type require unauthenticated = true.
        #
        #[beacons.actions.badge]
        #region = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
        #do = "type"
        #unauthenticated = true
        """

    private static let profileExample = """
        # Further profiles, each in a table of its own. send and expect are bytes in hexadecimal. "text" stands for its
        # bytes, and {NAME} for a checksum of the bytes before it (\(Checksum.names)). In
        # expect, ?? matches any byte, ?1 a byte that $1 (also $1^5A, $1+01, $1-01) repeats later, and * the rest.
        # Data is typed only after all replies have arrived. A framing describes the bytes around the text:
        # start, header (ignored bytes), length-bytes, length-high-first, length-surplus, end, checksum,
        # checksum-from, checksum-behind-end, keep-end, max-payload. security (\(GATTLinkSecurity.Level.words)) is
        # the minimum security of a link to a device with this profile.
        #
        #[profiles.scale]
        #title = "Counter scale"
        #service = "FFE0"
        #from-device = "FFE1"
        #to-device = "FFE1"
        #table = "strict"
        #security = "encrypted"
        #
        #[[profiles.scale.handshake]]
        #send = "A5 01 {crc8-maxim}"
        #expect = "A5 81 ?? {crc8-maxim}"
        #within = "2s"
        #attempts = 1
        #xor = "5A"
        #
        #[profiles.scale.framing]
        #start = "02"
        #end = "03"
        #checksum = "xor"
        #checksum-from = 1
        #checksum-behind-end = true
        #
        # A table value decodes a number instead: format (number, bthome, xiaomi-scale, xiaomi-body-scale, weight-scale), text,
        # type (\(ValueSettings.Moment.allCases.map(\.rawValue).joined(separator: ", "))) and quantity; for number also offset, \
        length, form (\(NumberLayout.Form.allCases.map(\.rawValue).joined(separator: ", "))),
        # high-first, exponent, unit, and the flags stable, removed and overload. A device that only advertises has advertised
        # ("service-data UUID" or "manufacturer COMPANY") instead of service, from-device and to-device.
        #
        #[profiles.thermometer]
        #advertised = "manufacturer 0499"
        #
        #[profiles.thermometer.value]
        #format = "number"
        #text = "{value:.1} {unit}"
        #type = "stable"
        #offset = 1
        #length = 2
        #form = "signed"
        #high-first = true
        #exponent = -2
        #unit = "°C"
        #stable = "0:20"
        """
}

extension Configuration.BarcodeMode {
    /// Creates the barcode rules with the text typed before and after a barcode.
    func rules(prefix: BarcodeAffix, suffix: BarcodeAffix?) throws(BarcodeRules.Fault) -> BarcodeRules {
        try BarcodeRules(
            terminators: terminators,
            idleGap: idleGap?.inNanoseconds,
            minimumLength: minimumLength,
            maximumLength: maximumLength,
            prefix: prefix,
            suffix: suffix,
            duplicateWindow: duplicates.inNanoseconds
        )
    }
}
