// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
package import BluetoothAdapters
package import BluetoothHost
package import HIDReports
package import Keystrokes
import LinuxIO
package import Texts
package import Typing

/// Settings in the configuration file; if a key is missing in the file, the default of the property applies.
///
/// `ConfigurationKey.all` is the table of the keys, with their meanings.
package struct Configuration: Sendable, Equatable {
    /// Rules of scan mode as configured, before the layout is known.
    package struct BarcodeMode: Sendable, Equatable {
        package var isOn = false
        package var terminators = BarcodeRules.defaultTerminators
        package var idleGap: Duration?
        package var minimumLength = 1
        package var maximumLength = BarcodeRules.defaultMaximumLength
        package var prefix = ""
        package var suffix: String?
        package var duplicates = Duration.zero

        package init() {}
    }

    /// Profile name that selects the first known profile that the device offers.
    package static let anyProfile = "auto"
    package static let greatestAge = Duration.seconds(3600)
    /// Maximum of `earlyReports`.
    package static let longestEarly = Duration.seconds(1)
    /// Allowed intervals between refreshes of the device list.
    package static let refreshPeriods = Duration.milliseconds(100)...Duration.seconds(3600)
    package static let terminals = 1...63

    package var adapter = AdapterTransport.any
    package var profile = anyProfile
    package var ownProfiles: [Profile] = []
    package var security = GATTLinkSecurity.Level.none
    package var earlyReports = Duration.zero
    package var addressOffset: Int?
    package var isAddressReversed = false
    package var table: String?
    package var layout = "us"
    package var deviceLayout = BuiltInLayout.us
    package var deviceCapsLock = CapsLockHabit.taps
    package var deviceShiftRepeats = false
    package var deviceNumLock = true
    package var deviceGSKey = GroupSeparatorKey.none
    package var pace = Pace.Profile.desktop
    package var stall: Duration?
    package var queue = ReaderQueue.large
    package var maximumAge = Duration.seconds(5)
    package var capsLock = CapsLockPolicy.auto
    package var verifies = false
    package var barcodeMode = BarcodeMode()
    /// Outputs without their own options.
    package var destinations = [OutputDestination.keyboard]
    package var ownOutputs: [OutputTable] = []
    package var isRaw = false
    package var slowReader = SlowReaderPolicy.dropNewest
    package var isGated = true
    package var gateTerminal: Int?
    package var allowsKeys = true
    package var snippetSet = Snippets.BuiltIn.none
    package var clearMethod = ClearMethod.backspaces
    package var isUdevKeyboard = true
    package var showsStatus = true
    package var refreshPeriod = Duration.seconds(2)
    package var hook: String?
    package var beacons = BeaconConfiguration()
    /// Devices with their own settings; empty if there is only one device.
    package var devices: [ConfiguredDevice] = []

    package init() {}

    /// Position of the address that devices include in their manufacturer data; nil if they do not.
    package var advertisedAddress: ManufacturerAddressField? {
        addressOffset.map { ManufacturerAddressField(offset: $0, isReversed: isAddressReversed) }
    }
}

/// Error in the text of a configuration or a profile: its line, if known, and its description.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    package var line: Int?
    /// Description of the fault: the actual value, and the expected one.
    package var reason: String

    package init(line: Int?, reason: String) {
        self.line = line
        self.reason = reason
    }

    package var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}

/// Snapshot of a configuration, and of the files and keymaps that it names; a reload uses it to detect changes.
package struct ConfigurationReading: Equatable, Sendable {
    private let configuration: Configuration
    private let profiles: [Profile]
    private let table: ByteTable
    private let strokes: [[Unicode.Scalar: [KeyboardLayout.Stroke]]]
    private let snippets: Snippets
    private let regions: RegionFile
    private let devices: [ConfigurationReading]

    /// Reads everything that the configuration names, and the snippet file that belongs to it.
    package init(_ configuration: Configuration, snippets path: String) throws(ConfigurationError) {
        self.configuration = configuration
        profiles = try configuration.profiles()
        do throws(TypingError) {
            table = try TableSource.read(configuration.tableName(profiles))
            let layout = try LayoutSource.layout(configuration.layout)
            strokes = [layout.strokes, layout.capsLockStrokes]
            snippets = try Snippets(file: path, over: configuration.snippetSet)
        } catch {
            throw .typing(error)
        }
        regions = try configuration.regions().file
        var devices: [ConfigurationReading] = []
        for part in configuration.parts where part.table != nil {
            devices.append(try ConfigurationReading(part.configuration, snippets: path))
        }
        self.devices = devices
    }
}

extension Language {
    package static let current = Language(ProcessFacts.environment)
}

extension TerminalGlyphs {
    package static let current = TerminalGlyphs(ProcessFacts.environment)
}
