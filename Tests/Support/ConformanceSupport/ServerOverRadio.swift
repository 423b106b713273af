// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import LinuxIO
import TestSupport

/// Server under test, to which the tester is connected over the radio.
final class ServerOverRadio: ConformanceLink {
    private let bench: ConformanceBench
    private var server: ServerCore?
    private var tester: TesterChannel?
    private var peer: GATTServer.PeerID?
    private var words = ServerWords()
    private var outcomes: [String] = []

    init(_ database: [String], _ bench: ConformanceBench) throws {
        self.bench = bench
        let adapter = bench.subject
        let server = ServerCore(
            RadioArbiter(on: bench.loop, using: adapter),
            try ConformanceDatabase.build(database),
            onEvent: { [weak self] _, event in
                guard let self else { return }
                note(words.describe(event))
            },
            onConnection: { [weak self] peer, _, reason in
                guard let self else { return }
                if case .protocolFault(let fault) = reason { note("failure: " + Self.plain(fault)) }
                self.peer = peer
                bench.noteProgress()
            }
        )
        self.server = server
        try bench.advertise { completion in
            try server.advertise(Advertisement(data: [], interval: .milliseconds(20))) { result in
                completion(result.mapError { .controller("\($0)") })
            }
        }
        tester = TesterChannel(try bench.connect(bench.tester, to: adapter), bench)
        guard try bench.until(bench.pace.patience, { self.peer != nil }) else {
            throw ConformanceBench.Failure.late("the server's end of the connection")
        }
    }

    /// Disconnects and stops advertising, and waits for both.
    func close() {
        tester?.close()
        let bench = bench
        let device = ConformanceBench.address(of: bench.subject)
        bench.disconnect(bench.tester, from: device) { [weak self] in self?.server?.centrals.isEmpty ?? true }
        var isStopped = false
        server?.stopAdvertising {
            isStopped = true
            bench.noteProgress()
        }
        _ = try? bench.until(bench.pace.patience) { isStopped }
        server?.close()
    }

    /// Returns the bearer's message without the explanation around it.
    private static func plain(_ fault: String) -> String {
        let broken = "the device violated the Attribute Protocol: "
        let silent = "the device did not answer "
        if fault.hasPrefix(broken) { return String(fault.dropFirst(broken.count)) }
        guard fault.hasPrefix(silent), fault.hasSuffix(" within 30 s") else { return fault }
        return "no answer to " + fault.dropFirst(silent.count).dropLast(" within 30 s".count)
    }

    private func note(_ outcome: String) {
        outcomes.append(outcome)
        bench.noteProgress()
    }

    func send(_ pdu: [UInt8]) throws { try tester?.send(pdu) }

    func nextPDU(isExpected: Bool) throws -> [UInt8]? { try tester?.nextPDU(isExpected: isExpected) }

    func perform(_ line: [String]) throws {
        guard let server, let peer else { return }
        let words = words
        var outcome: Result<String?, any Error> = .success(nil)
        try server.perform { server in
            outcome = Result { try words.perform(line, on: &server, peer) }
        }
        if let text = try outcome.get() { note(text) }
    }

    func nextOutcome(isExpected: Bool) throws -> String? {
        if isExpected { try bench.until(bench.pace.patience) { !self.outcomes.isEmpty } }
        return outcomes.isEmpty ? nil : outcomes.removeFirst()
    }

    func wait(seconds: Int) throws { try bench.until(.seconds(seconds)) { false } }

    func settle() throws { try bench.until(bench.pace.silence) { false } }
}
