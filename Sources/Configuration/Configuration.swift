// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
package import BluetoothLE
package import Keystrokes
import LinuxIO
package import Texts
package import Typing

/// The settings of the configuration file; a key that the file leaves out has the default of its property here.
///
/// `ConfigurationKey.all` is the table of its keys, with the meaning of each.
package struct Configuration: Sendable, Equatable {
    /// Scan mode's rules, as the file has them: for whole barcodes, before a layout is known.
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

    /// The profile's name that means: the first of the known profiles that the device offers.
    package static let anyProfile = "auto"
    package static let greatestAge = Duration.seconds(3600)
    /// How often the list of devices may be refreshed.
    package static let refreshPeriods = Duration.milliseconds(100)...Duration.seconds(3600)
    package static let terminals = 1...63

    package var adapter = AdapterTransport.any
    package var profile = anyProfile
    package var ownProfiles: [Profile] = []
    package var security = GATTLinkSecurity.Level.none
    package var addressOffset: Int?
    package var isAddressReversed = false
    package var table: String?
    package var layout = "us"
    package var pace = Pace.Profile.desktop
    package var stall: Duration?
    package var queue = ReaderQueue.large
    package var maximumAge = Duration.seconds(5)
    package var capsLock = CapsLockPolicy.auto
    package var verifies = false
    package var barcodeMode = BarcodeMode()
    package var destination = OutputDestination.keyboard
    package var isRaw = false
    package var slowReader = SlowReaderPolicy.dropNewest
    package var gateTerminal: Int?
    package var allowsKeys = true
    package var snippetSet = Snippets.BuiltIn.none
    package var clearMethod = ClearMethod.backspaces
    package var isUdevKeyboard = true
    package var showsStatus = true
    package var refreshPeriod = Duration.seconds(2)
    package var hook: String?
    package var beacons = BeaconConfiguration()

    package init() {}

    /// Where a device carries its address besides the one on the air; nil for nowhere.
    package var advertisedAddress: ManufacturerAddressField? {
        addressOffset.map { ManufacturerAddressField(offset: $0, isReversed: isAddressReversed) }
    }
}

/// Why a text is refused, and where.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    package var line: Int?
    /// The description of the fault: the value that is there, and the one that is wanted.
    package var reason: String

    package init(line: Int?, reason: String) {
        self.line = line
        self.reason = reason
    }

    package var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}

/// All that a configuration says, and that the files and keymaps say which it names, as they are at one moment: so that
/// reading it again tells whether anything has changed.
package struct ConfigurationReading: Equatable, Sendable {
    private let configuration: Configuration
    private let profiles: [Profile]
    private let table: ByteTable
    private let strokes: [[Unicode.Scalar: [KeyboardLayout.Stroke]]]
    private let snippets: Snippets
    private let regions: RegionFile

    /// Reads everything that the configuration names, and the file of snippets beside it.
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
    }
}

extension Language {
    package static let current = Language(ProcessFacts.environment)
}
