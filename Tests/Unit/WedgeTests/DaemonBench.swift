// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

/// Daemon on an adapter that receives no devices, with its own directory and recorded messages.
final class DaemonBench {
    private let directory: TestDirectory
    let loop: EventLoop
    let radio = QuietRadio()
    let store: ChoiceStore
    private(set) var daemon: Daemon?
    var states: [String] = []
    var notes: [String] = []
    private var screen: TextKeyboard.Screen?
    private var typed = ""

    private let state: String

    /// Creates a bench that stores its state in this directory; nil for a temporary one.
    init(state: String? = nil) throws {
        directory = try TestDirectory()
        loop = try EventLoop()
        self.state = state ?? directory("state")
        store = ChoiceStore(FilePath(self.state).appending("selection"))
    }

    var paths: DaemonPaths {
        DaemonPaths(
            configuration: FilePath(directory("config")),
            state: FilePath(state),
            runtime: FilePath(directory("run"))
        )
    }

    func make(
        device: DeviceSelector? = nil,
        profiles: [Profile] = [.linble],
        advertisedAt place: ManufacturerAddressField? = nil,
        security: GATTLinkSecurity.Level = .none,
        barcodes: BarcodeRules? = nil,
        beacons: BeaconConfiguration = BeaconConfiguration(),
        regions: String = "",
        managed: (@Sendable () -> ManagedRegions?)? = nil,
        through adapter: (any LowEnergyAdapter)? = nil,
        opening core: AdapterCore? = nil,
        removeServerFiles: (@Sendable () throws(CommandFailure) -> Void)? = nil
    ) throws -> Daemon {
        var settings = KeyboardSettings(
            adapter: .any,
            device: device,
            profiles: profiles,
            typing: TypingSettings(
                table: try CompiledTable(ByteTable(.linble), layout: .us),
                pacer: Pacer(try Pace(stall: 0, queue: .large)),
                maximumAge: nil,
                capsLock: .ignore,
                verifies: false
            )
        )
        settings.advertisedAddress = place
        settings.security = security
        settings.typing.barcodes = barcodes
        if device == nil { settings.typing.keypad = try Keypad(layout: .us, beside: settings.typing.table.keys) }
        var options = Daemon.Options(
            paths: paths,
            followsChoice: device == nil,
            terminal: nil,
            allowsKeys: true,
            labels: DaemonLabels(profile: "linble", layout: "us", table: "linble", program: "test")
        )
        options.beacons = beacons
        options.regions = RegionCatalogue(try RegionFile(regions))
        options.managed = managed
        options.removeServerFiles = removeServerFiles
        let keyboard = try TextKeyboard(layout: .us)
        screen = keyboard.screen
        let daemon = try Daemon(
            settings,
            options,
            through: core ?? AdapterCore(loop, using: adapter ?? radio),
            screen: keyboard
        )
        daemon.onEvent = { [unowned self] event, _ in
            if case .state(let state, _, _) = event { states.append(state.rawValue) }
        }
        daemon.onNote = { [unowned self] note in notes.append(note.cause.english) }
        self.daemon = daemon
        return daemon
    }

    func until(_ condition: () -> Bool) throws -> Bool { try loop.run(until: condition) }

    /// Returns true if exactly this text has been typed since the previous call.
    func types(_ text: String) throws -> Bool {
        defer { typed = "" }
        return try until {
            self.typed += self.screen?.takeText() ?? ""
            return self.typed.count >= text.count
        } && typed == text
    }

    func ask(_ request: ControlRequest) throws -> Result<JSONObject, CommandFailure> {
        var answer: Result<JSONObject, CommandFailure>?
        daemon?.handle(request) { answer = $0 }
        _ = try until { answer != nil }
        return try #require(answer)
    }

    /// Releases the daemon, which has ended.
    func forget() { daemon = nil }

    func end() throws {
        var isOver = false
        daemon?.stop { isOver = true }
        _ = try until { isOver }
        daemon = nil
        #expect(isOver)
        #expect(radio.listening == 0)
    }
}
