// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothLE
import Testing

@Suite("Time-outs of pairing in both roles, with a simulated adapter", .timeLimit(.minutes(5)))
struct PairingTimeoutTests {
    /// Returns the error of a pairing that the adapter ends with `failure`.
    private func error(of failure: ManagedPairing.Failure, timeout: Duration) async throws -> BluetoothError? {
        let adapter = try await BluetoothAdapter.fake()
        let task = Task { try await Central(adapter).pair(with: Script.device, timeout: timeout) }
        #expect(try await adapter.until { $0.pairings.first?.isBegun == true })
        if timeout < .seconds(1) { try await Task.sleep(for: timeout) }
        try await adapter.fake { $0.pairings[0].onNews?(.ended(.failure(failure))) }
        try await adapter.fake { $0.pairings[0].onClosed?() }
        let result = await task.result
        guard case .failure(let error) = result else { return nil }
        return error as? BluetoothError
    }

    @Test("A pairing that the adapter cancels at its time-out ends with timedOut, like acceptPairing")
    func timedOut() async throws {
        #expect(try await error(of: .cancelled, timeout: .milliseconds(10)) == .timedOut)
        #expect(try await error(of: .notReached(.connectFailed), timeout: .milliseconds(10)) == .timedOut)
    }

    @Test("Other failures, and failures before the time-out, have their own reason")
    func others() async throws {
        #expect(try await error(of: .declined, timeout: .milliseconds(10)) == .pairingFailed(.declined))
        #expect(try await error(of: .cancelled, timeout: .seconds(600)) == .pairingFailed(.cancelled))
        let unreached = ManagedPairing.Failure.notReached(.connectFailed)
        #expect(try await error(of: unreached, timeout: .seconds(600)) == .pairingFailed(unreached))
    }

    @Test("A second acceptPairing replaces the first, which ends with cancelled")
    func replaced() async throws {
        let adapter = try await BluetoothAdapter.fake()
        let first = Task { try await adapter.acceptPairing(timeout: .seconds(600)) }
        #expect(try await adapter.until { $0.windows.count == 1 })
        let second = Task { try await adapter.acceptPairing(timeout: .seconds(600)) }
        #expect(try await adapter.until { $0.windows.count == 2 })
        await #expect(throws: BluetoothError.cancelled) { try await first.value }
        try await adapter.fake { $0.windows[1].onNews?(.ended(nil)) }
        await #expect(throws: BluetoothError.timedOut) { try await second.value }
    }
}
