// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

/// Script of host-sessions.txt: requests to the host, packets of its controller, and everything that results from them.
struct HostScript: CustomTestStringConvertible, Sendable {
    var name: String
    var lines: [(number: Int, text: String)] = []

    var testDescription: String { name }

    /// Returns all scripts of a file.
    static func all(_ file: String) throws -> [HostScript] {
        var scripts: [HostScript] = []
        for line in try VectorFile.lines(file) {
            if line.text.hasPrefix("script ") {
                scripts.append(HostScript(name: String(line.text.dropFirst(7))))
            } else {
                let last = try #require(scripts.indices.last)
                scripts[last].lines.append(line)
            }
        }
        return scripts
    }

    /// Runs the inputs and returns the actual transcript, to be compared with the file.
    func transcript(_ others: [HostScript]) throws -> [String] {
        var player = HostTranscript(others)
        try player.play(lines)
        return player.log
    }
}

/// Application and controller of a host, as specified by a script of host-sessions.txt.
struct HostTranscript {
    struct Unreadable: Error { var line: Int }

    private let scripts: [HostScript]
    private var host = LowEnergyHost()
    private var now = Duration.zero
    private(set) var log: [String] = []
    /// Opcode of the last command, as sent.
    private var opcode: ArraySlice<UInt8> = []
    /// Last value of each part of the state.
    private var shown: [String: String] = [:]

    init(_ scripts: [HostScript]) { self.scripts = scripts }

    mutating func play(_ lines: [(number: Int, text: String)]) throws {
        for (number, text) in lines where !">?=".contains(text.prefix(1)) {
            log.append(text)
            let words = text.split(separator: " ").map { String($0) }
            if words[0] == "after" {
                let script = try #require(scripts.first { $0.name == text.dropFirst(6) })
                let before = log
                try play(script.lines)
                log = before
            } else if words[0] == "times" {
                for _ in 0..<(Int(words[1]) ?? 0) where !(try play(Array(words.dropFirst(2)))) {
                    throw Unreadable(line: number)
                }
            } else if !(try play(words)) {
                throw Unreadable(line: number)
            }
        }
    }

    /// Executes one line of input, and records everything that results from it; returns false if it is unreadable.
    private mutating func play(_ words: [String]) throws -> Bool {
        let rest = words.dropFirst().joined(separator: " ")
        switch words[0] {
        case "host":
            host = LowEnergyHost(randomAddress: BluetoothAddress(rest), random: PairingRandomness(seed: 1))
        case "<": receive(try #require(VectorFile.bytes(rest)))
        case "ok": complete([0] + (try #require(VectorFile.bytes(rest))))
        case "fail": complete(try #require(VectorFile.bytes(rest)))
        case "status": receive([0x04, 0x0F, 4] + (try #require(VectorFile.bytes(rest))) + [1] + opcode)
        case "supports": complete([0] + Self.supportedCommands(rest))
        case "at": advance(to: .milliseconds(try #require(Int(rest))))
        case "do":
            guard perform(Array(words.dropFirst())) else { return false }
        default: return false
        }
        drain()
        return true
    }

    /// Answers the last command with Command Complete.
    private mutating func complete(_ returned: [UInt8]) {
        receive([0x04, 0x0E, UInt8(3 + returned.count), 1] + opcode + returned)
    }

    private mutating func receive(_ packet: [UInt8]) { host.receive(packet.span, now: now) }

    /// Returns the bit map of commands that are given as octet and bit, such as 26.2.
    private static func supportedCommands(_ text: String) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: 64)
        for place in text.split(separator: " ") {
            let numbers = place.split(separator: ".").compactMap { Int($0) }
            octets[numbers[0]] |= 1 << UInt8(numbers[1])
        }
        return octets
    }

    private mutating func advance(to time: Duration) {
        while let deadline = host.deadline, deadline <= time {
            now = max(now, deadline)
            host.handleDeadline(now: now)
            drain()
        }
        now = time
    }

    // MARK: Requests

    private mutating func perform(_ words: [String]) -> Bool {
        func device(_ place: Int) -> DeviceAddress {
            let parts = words[place].split(separator: "/")
            return DeviceAddress(
                BluetoothAddress(parts[0]) ?? .init(rawValue: 0),
                parts[1] == "public" ? .public : .random
            )
        }
        func handle() -> UInt16 { UInt16(words[1], radix: 16) ?? 0 }
        func bytes(_ place: Int) -> [UInt8] { place < words.count ? VectorFile.bytes(words[place]) ?? [] : [] }
        var isTaken = true
        switch words[0] {
        case "again": isTaken = host.beginAnew()
        case "scan":
            let parameters = ScanParameters(type: words[1] == "active" ? .active : .passive, window: .init(rawValue: 9))
            isTaken = host.startScanning(parameters, devices: DeviceTable())
        case "unscan": host.stopScanning()
        case "advertise":
            let kinds: [String: AdvertisingParameters.Kind] = ["connectable": .connectable, "scannable": .scannable]
            let parameters = AdvertisingParameters(kind: kinds[words[1]] ?? .nonConnectable, interval: 0x123)
            isTaken = host.advertise(parameters, data: bytes(2), scanResponse: bytes(3))
        case "unadvertise": host.stopAdvertising()
        case "connect": host.connect(to: device(1), timeout: .seconds(Int(words[2]) ?? 0), now: now)
        case "cancel": host.cancelConnection(to: device(1), now: now)
        case "disconnect": host.disconnect(handle(), now: now)
        case "send": isTaken = host.send(bytes(2), on: handle())
        case "rssi": host.readRSSI(of: handle(), life: .seconds(3), now: now)
        case "bond":
            let own = host.ownAddress?.address ?? .init(rawValue: 0)
            let keys = [LongTermKey.Role.central, .peripheral].compactMap { role in
                LongTermKey(
                    bytes(2),
                    encryptedDiversifier: 0x1234,
                    random: 0x0102_0304_0506_0708,
                    isAuthenticated: true,
                    isSecureConnections: false,
                    role: role
                )
            }
            host.bonds = [Bond(identityAddress: device(1), localAddress: own, longTermKeys: keys)].compactMap { $0 }
        case "encrypt": isTaken = host.encrypt(handle())
        case "pair":
            do throws(SecurityManager.Refusal) { try host.pair(handle(), now: now) } catch { log.append("? \(error)") }
        case "policy", "accept":
            let policy = PairingPolicy(
                identity: host.pairingPolicy.identity,
                ioCapability: PairingFeatures.IOCapability.allCases.first { "\($0)" == words[1] } ?? .noInputNoOutput,
                requiresAuthentication: words.contains("authenticated"),
                allowsLegacy: words.contains("legacy"),
                acceptsRequests: words[0] == "accept",
                identityResolvingKey: words.contains("key") ? 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100 : nil
            )
            if words[0] == "accept" { host.acceptance = policy } else { host.pairingPolicy = policy }
        case "compare": host.compare(isSame: words[2] == "yes", of: handle(), now: now)
        case "passkey": host.enter(passkey: words.count > 2 ? UInt32(words[2]) : nil, of: handle(), now: now)
        case "keys": for bond in host.bonds { log.append("? \(bond.record)") }
        case "unpair": host.cancelPairing(of: handle(), now: now)
        default: return false
        }
        if !isTaken { log.append("? refused") }
        return true
    }

    // MARK: Results

    private mutating func drain() {
        repeat {
            while let event = host.nextEvent() { log.append("? " + Self.describe(event)) }
            while let packet = host.nextOutgoing(now: now) {
                if packet[0] == 0x01 { opcode = packet[1...2] }
                log.append("> " + packet.map { Hexadecimal.text([$0]) }.joined(separator: " "))
            }
        } while host.hasEvents
        show("deadline", host.deadline.map { "\(Int($0 / .milliseconds(1)))" }, none: "nil")
        show("ready", "\(host.isReady)", none: "false")
        show("scan", host.isScanIdle ? "idle" : "busy", none: "idle")
        show("used", "\(host.isInUse)", none: "false")
        show("free", "\(host.freeBufferCount)", none: "0")
        show("stored", "\(host.storedBytes)", none: "0")
        for connection in host.connections.sorted(by: { $0.handle < $1.handle }) {
            let handle = connection.handle
            let security = host.security(of: handle)
            var text = "\(security.level) \(security.keySize)" + (security.isBonded ? " bonded" : "")
            if host.isEncrypting(handle) { text += " encrypting" }
            if let rssi = host.rssi(of: handle) { text += " \(rssi) dBm" }
            if let phy = host.phy(of: handle) { text += " PHY \(phy.rawValue)" }
            if let length = host.receivedDataLength(of: handle) { text += " \(length) B" }
            show("link \(Self.hex(handle))", text, none: "none 16")
        }
        for counter in Mirror(reflecting: host.counters).children {
            show(counter.label ?? "", "\(counter.value)", none: "0")
        }
    }

    /// Records a part of the state if it has changed.
    private mutating func show(_ name: String, _ value: String?, none: String) {
        let value = value ?? none
        guard value != shown[name, default: none] else { return }
        shown[name] = value
        log.append("= \(name) \(value)")
    }

    private static func hex(_ handle: UInt16) -> String { Hexadecimal.text(UInt64(handle), digits: 4) }
    private static func text(_ device: DeviceAddress) -> String { "\(device.address)/\(device.type)" }

    private static func describe(_ event: LowEnergyHost.Event) -> String {
        switch event {
        case .failed(let failure): "failed: \(failure)"
        case .connected(let link): "connected \(hex(link.handle)) \(link.role) \(text(link.peer))"
        case .connectionFailed(let device, .timedOut): "not connected \(text(device)): timed out"
        case .connectionFailed(let device, .status(let status)): "not connected \(text(device)): \(status)"
        case .connectionFailed(let device, .refused(let opcode, let status)):
            "not connected \(text(device)): \(HostFailure.refused(opcode, status))"
        case .disconnected(let link, let reason): "disconnected \(hex(link.handle)): \(reason)"
        case .timed(let handle, let timing):
            "timed \(hex(handle)) \(timing.interval) \(timing.latency) \(timing.supervisionTimeout)"
        case .received(let handle, let pdu): "received \(hex(handle)) \(Hexadecimal.text(pdu))"
        case .security(let handle, .changed(let security)):
            "security \(hex(handle)) \(security.level) \(security.keySize)" + (security.isBonded ? " bonded" : "")
        case .security(let handle, .paired(let bond)): "paired \(hex(handle))" + (bond == nil ? "" : " bonded")
        case .security(let handle, .pairingFailed(.refused(let reason))):
            "not paired \(hex(handle)): refused \(reason.rawValue)"
        case .security(let handle, .pairingFailed(.refusedByPeer(let reason))):
            "not paired \(hex(handle)): refused by the peer \(reason.rawValue)"
        case .security(let handle, .pairingFailed(let failure)): "not paired \(hex(handle)): \(failure)"
        case .security(let handle, let event): "security \(hex(handle)) \(event)"
        case .writable(let handle): "writable \(hex(handle))"
        case .advertisingFailed(let failure): "advertising failed: \(failure)"
        case .scanFailed(let failure): "scan failed: \(failure)"
        case .scanned(let update):
            "scanned \(text(update.device.address)) \(update.device.rssi.map { "\($0)" } ?? "-") \(update.change)"
        case .ready, .advertisingStarted, .advertisingStopped, .scanStarted, .scanStopped: "\(event)"
        }
    }
}

@Suite struct HostScriptTests {
    @Test("Each session of host-sessions.txt, packet for packet, with every change of the deadline and the counters")
    func sessions() throws {
        let scripts = try HostScript.all("host-sessions.txt")
        #expect(Set(scripts.map(\.name)).count == scripts.count && scripts.count >= 30)
        for script in scripts {
            let actual = try script.transcript(scripts)
            #expect(actual == script.lines.map(\.text), "\(script.name), line \(script.lines.first?.number ?? 0)")
        }
    }
}
