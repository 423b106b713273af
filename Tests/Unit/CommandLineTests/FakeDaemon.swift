// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Devices
import LinuxIO
import Synchronization
import TestSupport
import Texts

/// Daemon without a radio on its own thread, which ends when a client requests it.
final class FakeDaemon: ControlHandler {
    /// Received requests and the answers to them, shared by both threads.
    final class Script: Sendable {
        let requests = Mutex<[String]>([])
        let status = Mutex<[(name: String, value: String)]>([])
        /// Ends the daemon as soon as a client follows it.
        let endsWithFollower = Atomic<Bool>(false)
        let ready: Waker
        init() throws { ready = try Waker() }
    }

    private let loop: EventLoop
    fileprivate let script: Script
    private var server: ControlServer?

    var currentEvents: [JSONObject] {
        if script.endsWithFollower.load(ordering: .acquiring) {
            _ = loop.schedule(at: MonotonicClock.now) { [unowned self] in loop.stop() }
        }
        return ["connecting", "connected"].map(Self.state)
    }

    private init(_ script: Script, at path: String) throws {
        self.script = script
        loop = try EventLoop()
        server = try ControlServer(at: path, on: loop, handler: self)
    }

    func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        script.requests.withLock { $0.append(String(request.line.dropFirst("version 1 ".count))) }
        switch request {
        case .status:
            var object = Self.state("connected")
            var selection = JSONObject()
            for (name, value) in script.status.withLock({ $0 }) { selection.add(name, value) }
            object.add("selection", selection)
            object.add("adapter", "hci7")
            object.add("gateReason", Self.gateReason)
            object.addForms([("gateReason", Self.gateReason)])
            reply(.success(object))
        case .scan: reply(.success(Self.devices))
        case .use(let choice, confirmed: false, _) where chosen.map { !choice.names($0.device, $0.name) } ?? false:
            if let chosen { reply(.failure(.chosenAlready(chosen))) }
        case .use(let choice, _, security: nil):
            let address = "F0:F1:F2:F3:F4:F6"
            var failure = CommandFailure(.configuration, LinkFaultText.openDevice, "\(choice) (\(address))", address)
            failure.kind = .openDevice
            reply(.failure(failure))
        case .send: reply(.failure(Self.failure(.unavailable, "nothing is connected", "`blewedge connect`")))
        case .ask(let command) where command.expect != nil:
            var object = JSONObject()
            object.add("reply", "A5FF")
            reply(.success(object))
        case .stop:
            reply(.success(JSONObject()))
            loop.stop()
        default: reply(.success(JSONObject()))
        }
    }

    /// Selected device according to `script`.
    private var chosen: SelectedDevice? {
        let members = Dictionary(uniqueKeysWithValues: script.status.withLock { $0 })
        guard let address = members["address"].flatMap({ BluetoothAddress($0) }) else { return nil }
        return SelectedDevice(DeviceAddress(address, .random), name: members["name"])
    }

    /// Message within a message; both have a form on the socket.
    private static let gateReason = Message.listed([
        KeyboardFaultText.keysOff.message(), KeyboardFaultText.keysOff.message(),
    ])

    private static var devices: JSONObject {
        let heard = [("F0:F1:F2:F3:F4:F6", "LINBLE-B", -40), ("F0:F1:F2:F3:F4:F5", "LINBLE-\u{1B}[2J", -70)]
        var object = JSONObject()
        object.add(
            "devices",
            heard.map { address, name, rssi in
                var device = JSONObject()
                device.add("address", address)
                device.add("addressType", "random")
                device.add("name", name)
                device.add("rssi", rssi)
                device.add("services", ["27ADC9CA-35EB-465A-9154-B8FF9076F3E8"])
                device.add("lastHeard", "2026-11-21T00:00:00Z")
                return device
            } + [JSONObject()]
        )
        object.add("leftOut", 3)
        return object
    }

    private static func failure(_ status: Texts.ExitStatus, _ cause: String, _ remedy: String) -> CommandFailure {
        CommandFailure(status, Message(detail: cause), remedy: Message(detail: remedy))
    }

    private static func state(_ state: String) -> JSONObject {
        var object = JSONObject()
        object.add("event", "state")
        object.add("state", state)
        return object
    }

    /// Runs a daemon while `body` runs; returns the received requests, including the final `stop`.
    static func run(at path: String, _ body: (Script) throws -> Void) throws -> [String] {
        let script = try Script()
        let thread = try SystemThread(name: "daemon") {
            guard let daemon = try? FakeDaemon(script, at: path) else { return script.ready.wake() }
            script.ready.wake()
            try? daemon.loop.run()
            daemon.server?.close()
        }
        script.ready.wait(until: nil)
        let result = Result { try body(script) }
        // The daemon rejects clients while too many are connected.
        var isStopped = false
        while !isStopped, var client = try? ControlClient(at: [path]) {
            isStopped = (try? client.ask(.stop)) != nil
        }
        thread.join()
        try result.get()
        return script.requests.withLock { $0 }
    }
}

extension FakeDaemon {
    func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation {
        script.requests.withLock { $0.append(String(ControlRequest.pair(request).line.dropFirst("version 1 ".count))) }
        return FakePairing()
    }
}

/// Pairing with a device that displays 020608.
private final class FakePairing: ControlConversation {
    private var say: (JSONObject, Bool) -> Void = { _, _ in }

    func begin(_ say: @escaping (JSONObject, Bool) -> Void) {
        self.say = say
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        for event in [PairingEvent.listening, .pairing(device), .ask(.enter)] { say(event.object, false) }
    }

    func take(_ line: [UInt8]) throws(ControlFault) {
        guard try PairingAnswer(line: line, to: .enter) == .passkey(20_608) else {
            return say(PairingEvent.failed(CommandFailure(.usage, BondFaultText.declined)).object, true)
        }
        let key = LongTermKey([UInt8](1...16), isAuthenticated: true, isSecureConnections: true, role: .central)
        let bond = Bond(
            identityAddress: DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random),
            localAddress: BluetoothAddress(rawValue: 0xC0FF_EE00_0001),
            longTermKeys: [key].compactMap(\.self)
        )
        if let bond { say(PairingEvent.paired(BondFacts(bond)).object, true) }
    }

    func cancel() {}
}
