// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import Wedge

/// Finds the device that the user means where no daemon can: from the adapter to what is kept of the device (D-4).
final class ChoiceRun {
    private let loop: EventLoop
    private let choice: DeviceChoice
    private let transport: AdapterTransport
    private var adapter: (any LowEnergyAdapter)?
    private var search: DeviceSearch?
    private var outcome: Result<Selection, CommandFailure>?
    private var signal: ExitStatus?

    init(_ choice: DeviceChoice, through transport: AdapterTransport) throws(CommandFailure) {
        do {
            loop = try EventLoop()
        } catch {
            throw CommandFailure(.internal, "cannot make an event loop: \(error)")
        }
        self.choice = choice
        self.transport = transport
    }

    /// Listens until the device is heard; throws why it was not, or the exit status of a signal.
    func run() throws -> Selection {
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            signal = ExitStatus(signal: number)
            loop.stop()
        }
        Console.note("no daemon runs: listening for \(choice)")
        do throws(AdapterError) {
            try LowEnergyAdapters.open(transport, on: loop) { [unowned self] result in
                switch result {
                case .failure(let error): finish(.failure(CommandFailure(error)))
                case .success(let adapter): listen(through: adapter)
                }
            }
        } catch {
            throw CommandFailure(error)
        }
        try loop.run()
        if let signal { throw signal }
        guard let outcome else { throw CommandFailure(.internal, "the search has ended without a result") }
        return try outcome.get()
    }

    private func listen(through adapter: any LowEnergyAdapter) {
        self.adapter = adapter
        adapter.onLoss = { [unowned self] reason in finish(.failure(CommandFailure(.unavailable, reason))) }
        let search = DeviceSearch(for: choice, on: loop) { [unowned self] result in
            finish(result.map { Selection($0.address, name: $0.name?.text) })
        }
        self.search = search
        search.start(through: adapter)
    }

    private func finish(_ result: Result<Selection, CommandFailure>) {
        outcome = outcome ?? result
        adapter?.close()
        loop.stop()
    }
}
