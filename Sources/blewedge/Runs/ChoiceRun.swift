// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// Finds the device that the user means where no daemon can: from the adapter to what is kept of the device (D-4).
final class ChoiceRun {
    private let foreground: ForegroundRun
    private let choice: DeviceChoice
    private let place: AdvertisedAddress?
    private var finder: DeviceFinder?
    private var kept: KeptChoice?

    /// A search that has not begun; `place` is where devices carry their address besides the one on the air.
    init(
        _ choice: DeviceChoice,
        advertisedAt place: AdvertisedAddress?,
        through transport: AdapterTransport
    ) throws(CommandFailure) {
        foreground = try ForegroundRun(transport)
        self.choice = choice
        self.place = place
        foreground.onFinish = { [unowned self] completion in
            if let finder { finder.stop(completion: completion) } else { completion() }
        }
    }

    /// Listens until the device is heard; throws why it was not, or the exit status of a signal.
    func run() throws -> KeptChoice {
        try foreground.run(note: NoteText.noDaemonListening.message("\(choice)")) { [unowned self] radio in
            listen(on: radio)
        }
        guard let kept else {
            throw CommandFailure(.internal, CommandFaultText.searchEnded)
        }
        return kept
    }

    private func listen(on radio: RadioArbiter) {
        let finder = DeviceFinder(choice, advertisedAt: place, wantsName: true, on: radio)
        self.finder = finder
        finder.onResult = { [unowned self] result in
            switch result {
            case .success(let device):
                kept = choice.keptChoice(of: device, advertisedAt: place)
                foreground.finish(.success(.success))
            case .failure(let failure): foreground.finish(.failure(CommandFailure(failure, of: choice)))
            }
        }
        finder.start(for: DeviceFinder.usualLimit)
    }
}
