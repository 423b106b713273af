// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import LinuxIO
import TestSupport

/// Client under test, which is connected to the tester over the radio.
final class ClientOverRadio: ConformanceLink {
    private let bench: ConformanceBench
    private let link: ATTLink
    private let tester: TesterChannel
    private var outcomes: [String] = []

    init(_ bench: ConformanceBench) throws {
        self.bench = bench
        let (near, far) = try bench.connectToTester()
        tester = TesterChannel(far, bench)
        link = ATTLink(near, on: bench.loop)
        link.onValue = { [weak self] value, bytes in
            self?.note("\(value.kind.name) \(value.handle) 0x" + Hexadecimal.text([UInt8](copying: bytes)))
        }
        link.onEvent = { [weak self] event in
            switch event {
            case .procedure(let event): self?.note(GATTScriptPlayer.describe(event.result))
            case .closed(.bearer(let failure)): self?.note("failure: \(failure)")
            case .closed(let failure): self?.note("closed: \(failure)")
            }
        }
    }

    /// Disconnects, and waits until the tester has noticed it.
    func close() {
        link.close()
        bench.disconnect(bench.subject, from: link.device) { [tester] in !tester.isOpen }
    }

    private func note(_ outcome: String) {
        outcomes.append(outcome)
        bench.noteProgress()
    }

    func send(_ pdu: [UInt8]) throws { try tester.send(pdu) }

    func nextPDU(isExpected: Bool) throws -> [UInt8]? { try tester.nextPDU(isExpected: isExpected) }

    func perform(_ words: [String]) throws {
        let outcome = link.perform { client, now in
            var player = GATTScriptPlayer(client, now: now)
            defer { client = player.client }
            return player.outcome(of: words)
        }
        if let outcome { note(outcome) }
    }

    func nextOutcome(isExpected: Bool) throws -> String? {
        if isExpected { try bench.until(bench.pace.patience) { !self.outcomes.isEmpty } }
        return outcomes.isEmpty ? nil : outcomes.removeFirst()
    }

    func wait(seconds: Int) throws { try bench.until(.seconds(seconds)) { false } }

    func settle() throws { try bench.until(bench.pace.silence) { false } }

    /// Returns false for PDUs that the client ignores without reporting them.
    func isHeard(_ outcome: String) -> Bool { outcome != "ignored" }
}
