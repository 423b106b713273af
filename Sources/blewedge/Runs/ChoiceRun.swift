// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import Texts
import Wedge

/// Finds the device that the user means where no daemon can: from the adapter to what is kept of the device (D-4).
final class ChoiceRun {
    private let foreground: ForegroundRun
    private let choice: DeviceChoice
    private var search: DeviceSearch?
    private var selection: Selection?

    init(_ choice: DeviceChoice, through transport: AdapterTransport) throws(CommandFailure) {
        foreground = try ForegroundRun(transport)
        self.choice = choice
        foreground.onFinish = { [unowned self] completion in
            if let search { search.cancel(stopped: completion) } else { completion() }
        }
    }

    /// Listens until the device is heard; throws why it was not, or the exit status of a signal.
    func run() throws -> Selection {
        try foreground.run(note: NoteText.noDaemonListening.message("\(choice)")) { [unowned self] adapter in
            listen(through: adapter)
        }
        guard let selection else {
            throw CommandFailure(.internal, CommandFaultText.searchEnded)
        }
        return selection
    }

    private func listen(through adapter: any LowEnergyAdapter) {
        let search = DeviceSearch(for: choice, on: foreground.loop) { [unowned self] result in
            self.search = nil
            switch result {
            case .failure(let failure): foreground.finish(.failure(failure))
            case .success(let device):
                selection = Selection(device.address, name: device.name?.text)
                foreground.finish(.success(.success))
            }
        }
        self.search = search
        search.start(through: adapter)
    }
}
