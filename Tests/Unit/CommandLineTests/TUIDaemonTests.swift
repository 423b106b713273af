// SPDX-License-Identifier: GPL-2.0-or-later

import ClockSupport
import Control
import Daemon
import Devices
import LinuxIO
import TestSupport
import Testing
import Texts

@testable import blewedge

/// Daemon on the event loop of the pages, whose answers a test sets.
private final class AnsweringDaemon: ControlHandler {
    private let loop: EventLoop
    private var server: ControlServer?
    private(set) var requests: [String] = []
    var state = "connected"
    var failure: CommandFailure?
    /// Requests that are not answered.
    var isSilent = false

    init(at path: String, on loop: EventLoop) throws {
        self.loop = loop
        server = try ControlServer(at: path, on: loop, handler: self)
    }

    var currentEvents: [JSONObject] { [] }

    func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        requests.append(String(request.line.dropFirst("version 1 ".count)))
        guard !isSilent else { return }
        var object = JSONObject()
        switch request {
        case .status: object.add("state", state)
        case .received: object.add("hex", "31320D")
        case .scan:
            object.add("devices", [JSONObject]())
            // A scan takes its time.
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(500)) { [unowned self] in
                reply(failure.map { .failure($0) } ?? .success(object))
            }
            return
        default: break
        }
        reply(failure.map { .failure($0) } ?? .success(object))
    }

    func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation {
        throw CommandFailure(.unavailable, Message(detail: "no pairing"))
    }

    func publish(_ event: String) {
        var object = JSONObject()
        object.add("event", event)
        server?.publish(object)
    }

    func takeRequests() -> [String] {
        defer { requests = [] }
        return requests
    }

    func close() { server?.close() }
}

@Suite("The pages' client of the daemon")
struct TUIDaemonTests {
    /// Pages that record what their client reports, on a loop with a virtual clock.
    private final class Pages {
        let directory: TestDirectory
        let loop: EventLoop
        let client: TUIDaemon
        private var log: [String] = []

        init() throws {
            directory = try TestDirectory()
            loop = try EventLoop()
            client = TUIDaemon(
                at: [directory("none"), directory("control")],
                scanTime: .milliseconds(500),
                on: loop
            )
            client.onStatus = { [unowned self] status in log.append("status \(status.state)") }
            client.onAbsence = { [unowned self] failure in log.append("absence: \(failure.cause)") }
            client.onReceived = { [unowned self] in log.append("received") }
            client.onDevices = { [unowned self] answer in log.append("devices \(answer["devices"]?.array?.count ?? -1)")
            }
            client.onScanFailure = { [unowned self] failure in log.append("no devices: \(failure.cause)") }
            client.onHex = { [unowned self] text in log.append("hex \(text(.english) ?? "-")") }
            client.onBeacons = { [unowned self] result in
                switch result {
                case .success: log.append("beacons")
                case .failure(let failure): log.append("no beacons: \(failure.cause)")
                }
            }
        }

        /// Runs the loop for this time; returns what was reported.
        func run(_ milliseconds: Int) throws -> [String] {
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(milliseconds)) { [unowned self] in loop.stop() }
            try loop.run()
            defer { log = [] }
            return log
        }

        func daemon() throws -> AnsweringDaemon { try AnsweringDaemon(at: directory("control"), on: loop) }
    }

    private static func atVirtualTime(_ body: () throws -> Void) throws {
        try SystemTime.$ofTask.withValue(VirtualClock(), operation: body)
    }

    @Test("LK-24: the daemon is looked for once per second, polled once per second, and its end is reported once")
    func polling() throws {
        try Self.atVirtualTime {
            let pages = try Pages()
            pages.client.start()
            let none = "absence: \(CommandFailure.noDaemon.cause)"
            #expect(try pages.run(1500) == [none, none])
            let daemon = try pages.daemon()
            #expect(try pages.run(600) == ["status connected"])
            daemon.state = "lost"
            daemon.publish("state")
            #expect(try pages.run(100) == ["status lost"])
            #expect(try pages.run(800).isEmpty)
            #expect(try pages.run(300) == ["status lost"])
            daemon.state = "asleep"
            daemon.publish("state")
            #expect(try pages.run(100) == ["absence: \(ControlFaultText.unknownState.message("asleep"))"])
            #expect(daemon.takeRequests().allSatisfy { $0 == "status" })
            daemon.close()
            #expect(try pages.run(100) == [none])
        }
    }

    @Test("Beacons and received bytes are requested only while a page shows them, and after each event")
    func optional() throws {
        try Self.atVirtualTime {
            let pages = try Pages()
            let daemon = try pages.daemon()
            pages.client.start()
            #expect(try pages.run(100) == ["status connected"])
            pages.client.wantsBeacons = true
            #expect(try pages.run(100) == ["beacons"])
            pages.client.wantsHex = true
            #expect(try pages.run(100) == ["hex 31 32 0D"])
            pages.client.wantsHex = true
            #expect(try pages.run(100).isEmpty, "nothing has changed")
            daemon.publish("received")
            #expect(try pages.run(100) == ["received", "hex 31 32 0D", "status connected"])
            daemon.publish("region")
            #expect(try pages.run(100) == ["beacons", "status connected"])
            #expect(try pages.run(600) == ["status connected", "beacons", "hex 31 32 0D"])
            daemon.failure = CommandFailure(.permission, Message(detail: "not permitted"))
            #expect(
                try pages.run(1000) == ["absence: not permitted", "no beacons: not permitted", "hex not permitted"]
            )
            daemon.failure = nil
            (pages.client.wantsBeacons, pages.client.wantsHex) = (false, false)
            #expect(try pages.run(1000) == ["status connected"])
        }
    }

    @Test("LK-4: scans follow each other; a new list discards the old scan, and a failure or a search is waited for")
    func scanning() throws {
        try Self.atVirtualTime {
            let pages = try Pages()
            let daemon = try pages.daemon()
            pages.client.start()
            _ = try pages.run(100)
            #expect(!pages.client.isScanning)
            pages.client.wantsDevices = true
            #expect(pages.client.isScanning)
            #expect(try pages.run(100).isEmpty)
            pages.client.rescan(isAnew: true)
            _ = daemon.takeRequests()
            // The list of the scan that was interrupted is not shown.
            #expect(try pages.run(500).filter { $0 != "status connected" }.isEmpty)
            #expect(daemon.takeRequests().filter { $0 != "status" } == ["scan 500ms anew"])
            #expect(try pages.run(500).filter { $0 != "status connected" } == ["devices 0"])
            #expect(daemon.takeRequests().filter { $0 != "status" } == ["scan 500ms"])

            daemon.failure = CommandFailure(.unavailable, Message(detail: "no adapter"))
            daemon.failure?.remedy = nil
            #expect(try pages.run(500).contains("no devices: no adapter") && !pages.client.isScanning)
            daemon.failure = nil
            _ = try pages.run(850)
            #expect(!pages.client.isScanning, "the next scan is tried after a second")
            _ = try pages.run(1100)
            #expect(pages.client.isScanning)

            daemon.state = "lost"
            daemon.publish("state")
            _ = try pages.run(600)
            #expect(!pages.client.isScanning, "the daemon looks for its own device")
            _ = daemon.takeRequests()
            _ = try pages.run(3000)
            #expect(daemon.takeRequests().allSatisfy { $0 == "status" })
            _ = try pages.run(1500)
            #expect(daemon.takeRequests().contains("scan 500ms"))
            pages.client.wantsDevices = false
            _ = try pages.run(1000)
            _ = daemon.takeRequests()
            _ = try pages.run(6000)
            #expect(daemon.takeRequests().allSatisfy { $0 == "status" })
        }
    }

    @Test("A request has its outcome and a new status; too many at once are refused, and none without a daemon")
    func asking() throws {
        try Self.atVirtualTime {
            let pages = try Pages()
            var outcomes: [String] = []
            func ask(_ request: ControlRequest) -> Bool {
                pages.client.ask(request) { outcomes.append($0.map { "\($0.cause)" } ?? "done") }
            }
            let none = CommandFailure.noDaemon.cause.english
            #expect(ask(.connect) && ask(.use(.name("X"), confirmed: true)) && outcomes == [none, none])
            let daemon = try pages.daemon()
            pages.client.start()
            _ = try pages.run(100)
            outcomes = []
            #expect(ask(.connect) && ask(.use(.name("X"), confirmed: true)))
            #expect(try pages.run(100).contains("status connected"))
            #expect(outcomes == ["done", "done"])
            #expect(daemon.takeRequests().filter { $0 != "status" } == ["connect", "use X yes"])
            daemon.failure = CommandFailure(.usage, Message(detail: "refused"))
            #expect(ask(.pause))
            _ = try pages.run(100)
            #expect(outcomes == ["done", "done", "refused"])
            daemon.isSilent = true
            #expect((1...32).allSatisfy { _ in ask(.pause) } && !ask(.pause))
            pages.client.end()
            outcomes = []
            #expect(ask(.pause) && outcomes == [none])
            #expect(try pages.run(100).isEmpty, "an end that was requested is not reported")
        }
    }
}
