// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Devices
import Glibc
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import Daemon

/// A daemon with a device that answers by a script, from the radio to the client's lines.
@Suite("Conversations with the daemon", .virtualTime, .serialized, .timeLimit(.minutes(5)))
struct DaemonConversationTests {
    private static let device = SelectedDevice(
        DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random),
        name: "A"
    )

    /// Daemon that connects to each selected device that it hears.
    private final class Stage {
        let bench: DaemonBench
        let daemon: Daemon
        private(set) var starts = 0
        private(set) var channels: [ScriptedChannel] = []
        var reply: ([UInt8]) -> [[UInt8]] = { _ in [] }

        init(write: UInt8 = 0x04, barcodes: BarcodeRules? = nil) throws {
            bench = try DaemonBench()
            try bench.store.write(DaemonConversationTests.device)
            daemon = try bench.make(barcodes: barcodes)
            bench.radio.onConnect = { [unowned self] address, completion in
                let offered = ScriptedDevice.Service(.linble, write: write)
                let script = ScriptedDevice([offered], LinkSetup(profile: .linble)) { [unowned self] in reply($0) }
                let channel = ScriptedChannel(address, bench.loop, script)
                channels.append(channel)
                _ = bench.loop.schedule(at: .zero) { completion(.success(channel)) }
            }
            daemon.start { [unowned self] in if case .success = $0 { starts += 1 } }
        }

        var channel: ScriptedChannel { channels[channels.count - 1] }

        /// Lets the device advertise, and waits for a state.
        func connect(_ state: Session.State = .connected) throws {
            try #require(try bench.until { bench.radio.listening == 1 })
            bench.radio.advertise(DaemonConversationTests.device.device.address, [])
            try #require(try bench.until { daemon.service.device.state == state })
        }

        func text(_ request: ControlRequest) throws -> String {
            do throws(CommandFailure) {
                let answer: Result<JSONObject, CommandFailure>
                do { answer = try bench.ask(request) } catch { return "\(error)" }
                return try answer.get().text
            } catch {
                return "\(error.status): \(error.cause)"
            }
        }
    }

    @Test("A client sees each event of a connection in order, from the beginning to the loss and the pause")
    func events() throws {
        let stage = try Stage()
        let bench = stage.bench
        let client = try ControlPeer(bench.paths.controlSocket.string, on: bench.loop)
        try client.send("version 1 events\n")
        #expect(try bench.until { client.lines.count == 4 })
        try stage.connect()
        stage.channel.notify(Array("12\r".utf8))
        stage.channel.notify(Array("3".utf8))
        #expect(try bench.until { client.lines.count == 7 })
        _ = try stage.text(.pause)
        _ = try stage.text(.resume)
        stage.channel.lose()
        #expect(try bench.until { client.lines.count == 11 })
        let device = #""device":"A","address":"F0:F1:F2:F3:F4:F5","addressType":"random""#
        let expected = [
            #"{"ok":true,"version":1}"#, #"{"event":"keyboard"}"#,
            #"{"event":"state","state":"connecting","device":"A"}"#,
            #"{"event":"gate","open":true,"paused":false}"#,
            #"{"event":"state","state":"connecting",\#(device),"reason":"found F0:F1:F2:F3:F4:F5 (random), connecting"}"#,
            #"{"event":"state","state":"connected",\#(device)}"#,
            #"{"event":"received","notifications":1,"bytes":3}"#,
            #"{"event":"gate","open":false,"paused":true,"reason":"paused"}"#,
            #"{"event":"gate","open":true,"paused":false}"#,
            #"{"event":"received","notifications":1,"bytes":1}"#,
            #"{"event":"state","state":"lost",\#(device),"reason":"the device closed the channel"}"#,
        ]
        #expect(client.lines.map { $0.replacing(/,"texts":\{.*\}\}$/, with: "}") } == expected)
        client.close()
        try bench.end()
    }

    @Test("Status has the state, the gate and the counts of a connected device that has sent")
    func status() throws {
        let stage = try Stage()
        try stage.connect()
        stage.channel.notify(Array("1\u{7F}2".utf8))
        try #require(try stage.bench.types("12"))
        _ = try stage.text(.pause)
        stage.channel.notify(Array("34".utf8))
        let text = try stage.text(.status)
        for part in [
            #"{"state":"connected","since":"2023-11-14T22:13:20Z","seconds":0,"device":"A","address""#,
            #""requiredSecurity":"none","adapter":"quiet0","profile":"linble","layout":"us","table":"linble""#,
            #""paused":true,"gate":"closed","gateReason":"paused","gateRemedy":"`blewedge resume`""#,
            #""counts":{"notifications":2,"received":5,"typed":2,"discarded":1,"rejected":0,"gated":2,"lost":0"#,
            #""link":{"seconds":0,"notifications":2,"mtu":23,"security":"none"},"links":{"ready":1,"#,
            #""lastReceived":{"secondsAgo":0,"length":2}"#,
        ] { #expect(text.contains(part), "\(part)") }
        try stage.bench.end()
    }

    @Test(
        "A command's reply is answered, and not typed; silence, a refusal and the link's end are told apart",
        arguments: [0x04, 0x08]
    )
    func ask(write: UInt8) throws {
        let stage = try Stage(write: write)
        let command = ChatScript.Command(
            send: try HexTemplate("41", for: .command),
            expect: try HexTemplate("42 *", for: .reply),
            timeout: .seconds(3),
            attempts: 2
        )
        #expect(try stage.text(.ask(command)).contains("unavailable"))
        try stage.connect()
        stage.reply = { $0 == [0x41] ? [[0x42, 0x43]] : [] }
        #expect(try stage.text(.ask(command)) == #"{"reply":"4243"}"#)
        #expect(stage.channel.script.written == [[0x41]])
        stage.reply = { _ in [] }
        let start = MonotonicClock.now
        let unanswered = "timeout: the command did not receive the expected reply within 3s"
        #expect(try stage.text(.ask(command)) == unanswered)
        #expect(MonotonicClock.now - start == .seconds(6))
        #expect(stage.channel.script.written == [[0x41], [0x41], [0x41]])
        var ends: [String] = []
        for _ in 1...2 {
            stage.daemon.handle(.ask(command)) { result in
                if case .failure(let failure) = result { ends.append("\(failure.status): \(failure.cause)") }
            }
        }
        #expect(try stage.bench.until { stage.channel.script.written.count == 4 })
        stage.channel.lose()
        #expect(try stage.bench.until { ends.count == 2 })
        #expect(
            ends == [
                "unavailable: the command was written, but the link ended before the reply",
                "unavailable: the link ended before the command was written",
            ]
        )
        try stage.bench.end()
    }

    @Test("Bytes are sent to the device as they are, and received ones are shown from the first request on")
    func bytes() throws {
        let stage = try Stage()
        #expect(try stage.text(.received) == "{}")
        #expect(try stage.text(.send([1])) == "unavailable: not connected")
        try stage.connect()
        #expect(try stage.text(.send([0x00, 0xFF])) == "{}")
        #expect(try stage.bench.until { stage.channel.script.written == [[0x00, 0xFF]] })
        stage.channel.notify([0x31, 0x0D])
        #expect(try stage.text(.received) == #"{"hex":"310D"}"#)
        try stage.bench.end()
    }

    @Test("An incomplete barcode is cut when its link ends, whoever ends it")
    func cut() throws {
        let ends: [(Stage) throws -> Void] = [
            { $0.channel.lose() }, { $0.bench.radio.onLoss?(.removed("quiet0")) }, { _ = try $0.text(.disconnect) },
            { _ = try $0.text(.forget) },
        ]
        for end in ends {
            let stage = try Stage(barcodes: try BarcodeRules())
            try stage.connect()
            stage.channel.notify(Array("12".utf8))
            #expect(stage.daemon.service.counts.bytes.waiting == 2 && stage.starts == 1)
            try end(stage)
            #expect(try stage.bench.until { stage.daemon.service.counts.bytes.waiting == 0 })
            let bytes = stage.daemon.service.counts.bytes
            #expect(bytes.received == 2 && bytes.rejected(.cut) + bytes.lost == 2)
            try stage.bench.end()
        }
    }

    @Test("Reload and stop are passed on; without a configuration there is nothing to reload")
    func reload() throws {
        let stage = try Stage()
        #expect(try stage.text(.reload).hasPrefix("unavailable: "))
        var told: [String] = []
        stage.daemon.onReload = { () throws(CommandFailure) in
            told.append("reload")
            if told.count > 1 { throw CommandFailure(.configuration, ControlFaultText.noConfiguration) }
        }
        #expect(try stage.text(.reload) == "{}")
        #expect(try stage.text(.reload).hasPrefix("configuration: "))
        stage.daemon.onStopAsked = { told.append("stop") }
        let start = MonotonicClock.now
        #expect(try stage.text(.stop) == "{}" && told == ["reload", "reload"])
        #expect(try stage.bench.until { told.count == 3 })
        #expect(MonotonicClock.now - start >= .milliseconds(20) && told.last == "stop")
        for request in [ControlRequest.events] { #expect(try stage.text(request) == "{}") }
        try stage.bench.end()
    }
}
