// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport

/// The words are none that the implementation under test understands.
struct NotUnderstood: Error { var words: [String] }

/// The client as implementation under test, without a transport.
struct ClientUnderTest: ConformanceLink {
    private var player = GATTScriptPlayer()
    private var outcomes: [String] = []
    private var didFail = false

    mutating func send(_ pdu: [UInt8]) {
        let value = "0x" + Hexadecimal.text(pdu.dropFirst(3))
        switch player.client.receive(pdu.span, now: player.now) {
        case .notification(let handle): outcomes.append("notification \(handle) \(value)")
        case .indication(let handle): outcomes.append("indication \(handle) \(value)")
        case .ignored: outcomes.append("ignored")
        case .handled: break
        }
    }

    mutating func nextPDU(isExpected: Bool) -> [UInt8]? { player.client.nextOutgoing() }

    mutating func perform(_ words: [String]) throws {
        switch words.first {
        case "mtu?": outcomes.append("mtu is \(player.client.mtu)")
        case "subscriptions?":
            outcomes.append("subscribed" + player.client.subscriptions.map { " \($0.value) \($0.kind)" }.joined())
        default:
            do throws(GATTError) {
                if try !player.perform(words) { outcomes.append("not understood") }
            } catch {
                outcomes.append("refused: \(error)")
            }
        }
    }

    mutating func nextOutcome(isExpected: Bool) -> String? {
        if !outcomes.isEmpty { return outcomes.removeFirst() }
        if let event = player.client.nextEvent() { return GATTScriptPlayer.describe(event.result) }
        guard let failure = player.client.failure, !didFail else { return nil }
        didFail = true
        return "failure: \(failure)"
    }

    mutating func wait(seconds: Int) {
        player.now += .seconds(seconds)
        player.client.handleDeadline(now: player.now)
    }
}

/// The server as implementation under test, without a transport.
struct ServerUnderTest: ConformanceLink {
    private var server: GATTServer
    private var link = GATTClient()
    private let peer: GATTServer.PeerID
    private var now = Duration.zero
    private var question: GATTServer.RequestID?
    private var outcomes: [String] = []
    private var didFail = false

    init(_ database: [String]) throws {
        server = GATTServer(try ConformanceDatabase.build(database))
        peer = server.connect()
    }

    mutating func send(_ pdu: [UInt8]) {
        _ = link.receive(pdu.span, from: peer, for: &server, now: now)
    }

    mutating func nextPDU(isExpected: Bool) -> [UInt8]? {
        link.nextOutgoing(to: peer, from: &server, now: now)
    }

    mutating func perform(_ words: [String]) throws {
        let bytes = VectorFile.bytes(words.last ?? "") ?? []
        do {
            switch words.first {
            case "notify":
                guard words.count > 2, let handle = UInt16(words[1], radix: 16) else {
                    throw NotUnderstood(words: words)
                }
                let full = try server.update(bytes, of: AttributeHandle(handle))
                if !full.isEmpty { outcomes.append("full") }
            case "security":
                let level = GATTLinkSecurity.Level.allCases.first { "\($0)" == words[1] }
                server.setSecurity(
                    GATTLinkSecurity(
                        level: level ?? .none,
                        keySize: words.compactMap { UInt8($0) }.first ?? 16,
                        isBonded: words.contains("bonded")
                    ),
                    of: peer
                )
            case "respond": try server.respond(to: open(words), with: bytes)
            case "accept": try server.accept(open(words))
            case "refuse": try server.refuse(open(words), ATTError(rawValue: bytes.first ?? 0))
            default: throw NotUnderstood(words: words)
            }
        } catch GATTServerError.unknownRequest {
            outcomes.append("no such question")
        }
    }

    private func open(_ words: [String]) throws -> GATTServer.RequestID {
        guard let question else { throw NotUnderstood(words: words) }
        return question
    }

    mutating func nextOutcome(isExpected: Bool) -> String? {
        if !outcomes.isEmpty { return outcomes.removeFirst() }
        if let failure = link.failure, !didFail {
            didFail = true
            server.disconnect(peer)
            return "failure: \(failure)"
        }
        return server.nextEvent().map { describe($0) }
    }

    private mutating func describe(_ event: GATTServer.Event) -> String {
        switch event {
        case .read(let id, _, let handle, let offset):
            question = id
            return "read \(handle) \(offset)"
        case .write(let id, _, let writes):
            question = id
            return "write" + writes.map { " \($0.handle) \($0.offset) 0x" + Hexadecimal.text($0.value) }.joined()
        case .requestEnded: return "void"
        case .command(_, let handle, let value): return "command \(handle) 0x" + Hexadecimal.text(value)
        case .written(_, let handle, let value): return "written \(handle) 0x" + Hexadecimal.text(value)
        case .subscribed(_, let handle, let kind): return "subscribed \(handle) \(kind)"
        case .unsubscribed(_, let handle): return "unsubscribed \(handle)"
        case .readyToUpdate: return "ready"
        case .confirmed(_, let handle): return "confirmed \(handle)"
        }
    }

    mutating func wait(seconds: Int) {
        now += .seconds(seconds)
        link.handleDeadline(now: now)
        server.handleDeadline(now: now)
    }
}
