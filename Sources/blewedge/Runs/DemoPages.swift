// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import LinuxIO
import Rehearsal
import SystemPackage
import Texts
import Typing

/// The terminal pages with simulated devices.
///
/// The radio, the daemon and the pages run in one process, in a temporary directory.
final class DemoPages {
    private let loop: EventLoop
    private let folder: FilePath
    private let rehearsal: Rehearsal
    private let keyboard: TextKeyboard
    private var script: DemoScript
    private var absent: Set<SimulatedCast.Device> = []
    private var daemon: Daemon?

    init() throws {
        loop = try .ofCommand()
        let place = ProcessFacts.environment("XDG_RUNTIME_DIR") ?? ProcessFacts.environment("TMPDIR") ?? "/tmp"
        // Use an unpredictable name, so that no other user can create the directory first.
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        folder = FilePath(place).appending("blewedge-demo.\(name)")
        rehearsal = Rehearsal(SimulatedCast(), on: loop)
        keyboard = try TextKeyboard(layout: .us)
        script = DemoScript(now: MonotonicClock.now)
    }

    /// Shows the pages until the user or a signal ends them; throws the exit status unless it is success.
    func run() throws {
        let paths = DaemonPaths(configuration: folder, state: folder, runtime: folder)
        do throws(Errno) {
            try FileSystem.makeDirectory(folder, mode: 0o700)
            try FileSystem.replace(paths.configurationFile, with: Array(Self.configuration.utf8), mode: 0o600)
        } catch {
            throw CommandFailure(.inputOutput, FileFaultText.notKept, "\(folder)", "\(error)")
        }
        defer { try? FileSystem.removeDirectory(folder) }
        let driver = try TUIDriver(page: .devices, language: .current, places: TUIPlaces(paths), on: loop)
        driver.onFrame = { [unowned self] model in direct(&model) }
        let screen = keyboard.screen
        let arrival = try loop.watch(screen.arrival.descriptor, for: .readable) { [unowned driver] _ in
            screen.arrival.reset()
            driver.show(screen.takeText())
        }
        let result = Result { try driver.run { try begin(paths) } }
        loop.unwatch(arrival, screen.arrival.descriptor)
        if let daemon {
            daemon.stop { [loop] in loop.stop() }
            try loop.run()
        }
        try result.get()
    }

    private func begin(_ paths: DaemonPaths) throws {
        let configuration = try reporting(Configuration.read(_:mustExist:), paths.configurationFile, true)
        var options = Daemon.Options(
            paths: paths,
            followsChoice: true,
            terminal: nil,
            allowsKeys: false,
            labels: try DaemonLabels(configuration)
        )
        options.beacons = configuration.beacons
        let settings = try reporting(configuration.settings(device:), nil)
        let daemon = try Daemon(settings, options, through: rehearsal.core(), screen: keyboard)
        self.daemon = daemon
        daemon.start { _ in }
    }

    /// Advances the script, and moves the devices in and out of range as the script requires.
    private func direct(_ model: inout TUIModel) {
        let now = MonotonicClock.now
        script.advance(model, now: now)
        model.script = script.message
        let leaving = script.absent(now: now)
        rehearsal.setInRange(false, leaving.subtracting(absent))
        rehearsal.setInRange(true, absent.subtracting(leaving))
        absent = leaving
    }

    private static let configuration = """
        adapter = "memory:"
        layout = "us"

        [beacons]
        exit-after = "5s"

        [beacons.actions.badge]
        region = "\(BeaconRegion(Rehearsal.badge))"
        do = "gate"
        unauthenticated = true

        """
}
