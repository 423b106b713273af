// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

/// Compares prepared writes of several clients in random order with an independent model of the queue.
@Suite(.timeLimit(.minutes(30))) struct GATTPreparedWriteTests {
    /// State that the server should store for the prepared writes of a client.
    private struct Model {
        var writes: [(handle: AttributeHandle, offset: Int, value: [UInt8])] = []
        var lastPrepared = Duration.zero
        var isVoid = false

        var byteCount: Int { writes.reduce(0) { $0 + $1.value.count } }

        mutating func expire(now: Duration, _ limits: GATTServer.Limits) {
            guard !writes.isEmpty, lastPrepared + limits.preparedTime <= now else { return }
            writes = []
            isVoid = true
        }

        /// Returns true if another prepared write is within the limits.
        func fits(_ count: Int, _ limits: GATTServer.Limits) -> Bool {
            !isVoid && writes.count < limits.preparedWrites && byteCount + count <= limits.preparedBytes
        }
    }

    private struct Target {
        let database: GATTServerDatabase
        let stored: [AttributeHandle]
        let dynamic: AttributeHandle
        let constant: AttributeHandle
    }

    /// Random sequence of prepared writes, executions, delays and disconnections.
    private struct Run {
        let target: Target
        var random: SeededGenerator
        var limits = GATTServer.Limits()
        var server: GATTServer
        var now = Duration.zero
        var peers: [(id: GATTServer.PeerID, model: Model)] = []
        var values: [AttributeHandle: [UInt8]] = [:]
        var requests = 0
        var responses = 0
        var refusals = 0
        var executions = 0
        var fault: String?

        init(_ target: Target, seed: UInt64) {
            self.target = target
            random = SeededGenerator(seed: seed)
            limits.preparedWrites = random.below(6)
            limits.preparedBytes = random.below(60)
            server = GATTServer(target.database, limits: limits)
            for handle in target.stored { values[handle] = server.value(of: handle) }
            for _ in 0...random.below(2) { peers.append((server.connect(), Model())) }
        }

        mutating func perform() {
            for _ in 0..<(1 + random.below(20)) where fault == nil {
                if random.chance(15) { pass() }
                let index = random.below(peers.count)
                switch random.below(10) {
                case 0: reconnect(index)
                case 1, 2: execute(index, random.chance(75) ? .write : .cancel)
                default: prepare(index)
                }
                checkDeadline()
            }
            for peer in peers { server.disconnect(peer.id) }
            if fault == nil, server.deadline != nil { fault = "a deadline without a peer" }
        }

        private mutating func pass() {
            now += .milliseconds(random.below(40_000))
            guard random.chance(50) else { return }
            server.handleDeadline(now: now)
            for index in peers.indices { peers[index].model.expire(now: now, limits) }
        }

        private mutating func reconnect(_ index: Int) {
            server.disconnect(peers[index].id)
            peers[index] = (server.connect(), Model())
        }

        /// Checks the deadline: prepared writes expire when the last one of a client is too old.
        private mutating func checkDeadline() {
            let expected = peers.filter { !$0.model.writes.isEmpty }.map { $0.model.lastPrepared + limits.preparedTime }
            if fault == nil, server.deadline != expected.min() { fault = "another deadline" }
        }

        /// Sends a request and returns its only response; nil while the application has not answered.
        private mutating func ask(_ index: Int, _ pdu: ATTPDU) -> ATTPDU? {
            requests += 1
            server.receive(pdu, from: peers[index].id, mtu: 23, now: now)
            return response(index)
        }

        private mutating func response(_ index: Int) -> ATTPDU? {
            let first = server.nextOutgoing(for: peers[index].id, mtu: 23, canIndicate: false)
            if first != nil { responses += 1 }
            if server.nextOutgoing(for: peers[index].id, mtu: 23, canIndicate: false) != nil {
                fault = "a second response"
            }
            for other in peers.indices where other != index {
                if server.nextOutgoing(for: peers[other].id, mtu: 23, canIndicate: false) != nil {
                    fault = "a response to another peer"
                }
            }
            return first
        }

        private mutating func expect(_ response: ATTPDU?, _ expected: ATTPDU, _ what: String) {
            if fault == nil, response != expected {
                fault = "\(what): \(response.map { "\($0)" } ?? "no response") instead of \(expected)"
            }
        }

        private mutating func prepare(_ index: Int) {
            let handles = target.stored + [target.dynamic, target.constant, AttributeHandle(0x0FFF)]
            let handle = handles[random.below(handles.count)]
            let offset = random.chance(50) ? 0 : random.below(600)
            let value = random.bytes(random.below(19))
            let response = ask(index, .prepareWriteRequest(handle, offset: UInt16(offset), value: value))
            let error: ATTError?
            if handle == target.constant {
                error = .writeNotPermitted
            } else if handle == AttributeHandle(0x0FFF) {
                error = .invalidHandle
            } else {
                peers[index].model.expire(now: now, limits)
                if peers[index].model.fits(value.count, limits) {
                    peers[index].model.writes.append((handle, offset, value))
                    peers[index].model.lastPrepared = now
                    error = nil
                } else {
                    error = .prepareQueueFull
                }
            }
            if error != nil { refusals += 1 }
            let echo = ATTPDU.prepareWriteResponse(handle, offset: UInt16(offset), value: value)
            let expected = error.map { ATTPDU.errorResponse(request: .prepareWriteRequest, handle: handle, error: $0) }
            expect(response, expected ?? echo, "prepare")
        }

        private mutating func execute(_ index: Int, _ flags: ATTPDU.ExecuteFlags) {
            let before = responses
            let response = ask(index, .executeWriteRequest(flags))
            peers[index].model.expire(now: now, limits)
            let model = peers[index].model
            peers[index].model = Model()
            executions += 1
            let done = ATTPDU.executeWriteResponse
            guard flags == .write else { return expect(response, done, "cancel") }
            if model.isVoid { return expect(response, refusal(.unlikelyError, AttributeHandle(0)), "void") }
            switch outcome(model.writes) {
            case .failure(let refused): expect(response, refusal(refused.error, refused.handle), "execute")
            case .success(let written):
                if model.writes.contains(where: { $0.handle == target.dynamic }) {
                    if response != nil { fault = "a response before the owner's" }
                    guard let answer = answered(index) else { return }
                    expect(
                        answer.response,
                        answer.isAccepted ? done : refusal(.unlikelyError, target.dynamic),
                        "answer"
                    )
                    if answer.isAccepted { values.merge(written) { $1 } }
                } else {
                    expect(response, done, "execute")
                    values.merge(written) { $1 }
                }
            }
            if fault == nil, responses != before + 1 { fault = "\(responses - before) responses to one request" }
            for handle in target.stored where server.value(of: handle) != values[handle] { fault = "another value" }
        }

        private func refusal(_ error: ATTError, _ handle: AttributeHandle) -> ATTPDU {
            .errorResponse(request: .executeWriteRequest, handle: handle, error: error)
        }

        private struct Refused: Error {
            var error: ATTError
            var handle: AttributeHandle
        }

        /// Returns the values after the writes, or the reason why none of them is executed.
        private func outcome(
            _ writes: [(handle: AttributeHandle, offset: Int, value: [UInt8])]
        ) -> Result<[AttributeHandle: [UInt8]], Refused> {
            var written: [AttributeHandle: [UInt8]] = [:]
            for (handle, offset, part) in writes {
                let end = offset + part.count
                if handle == target.dynamic {
                    if end > 512 { return .failure(Refused(error: .invalidAttributeValueLength, handle: handle)) }
                    continue
                }
                var value = written[handle] ?? (offset == 0 ? [] : values[handle] ?? [])
                guard offset <= value.count else { return .failure(Refused(error: .invalidOffset, handle: handle)) }
                guard end <= 512 else {
                    return .failure(Refused(error: .invalidAttributeValueLength, handle: handle))
                }
                value.replaceSubrange(offset..<min(end, value.count), with: part)
                written[handle] = value
            }
            return .success(written)
        }

        /// Lets the application accept, refuse, or not answer in time; returns nil if the link ends first.
        private mutating func answered(_ index: Int) -> (response: ATTPDU?, isAccepted: Bool)? {
            var question: GATTServer.RequestID?
            while let event = server.nextEvent() {
                if case .write(let id, _, _) = event { question = id }
            }
            guard let question else {
                fault = "no question"
                return nil
            }
            switch random.below(4) {
            case 0:
                reconnect(index)
                // The response cannot be delivered after the disconnection.
                responses += 1
                if (try? server.accept(question)) != nil { fault = "an answer to a peer that has gone" }
                return nil
            case 1:
                now += limits.answerTime
                server.handleDeadline(now: now)
                for index in peers.indices { peers[index].model.expire(now: now, limits) }
                return (response(index), false)
            case 2:
                try? server.refuse(question, .unlikelyError)
                return (response(index), false)
            default:
                try? server.accept(question)
                return (response(index), true)
            }
        }
    }

    private static func target() throws -> Target {
        var builder = GATTDatabaseBuilder()
        let sources: [GATTValueSource] = [
            .stored([1, 2, 3], lengths: 0...512), .stored([], lengths: 0...512), .dynamic, .constant([9]),
        ]
        let definitions = sources.enumerated().map { index, source in
            GATTCharacteristicDefinition(
                uuid: BluetoothUUID(UInt16(0x2A10 + index)),
                properties: index == 3 ? .read : [.read, .write],
                value: source
            )
        }
        let service = try builder.add(
            GATTServiceDefinition(uuid: BluetoothUUID(UInt16(0x1900)), characteristics: definitions)
        )
        let handles = service.characteristics.map { $0.characteristic.valueHandle }
        return Target(
            database: builder.database,
            stored: Array(handles[..<2]),
            dynamic: handles[2],
            constant: handles[3]
        )
    }

    @Test("T24, T25: of random prepared writes, executions and lost links each has one response, and the caps hold")
    func sequences() throws {
        let count = RunCount.from("BLEWEDGE_PREPARED_SEQUENCES", usual: RunCount.isOptimized ? 100_000 : 10_000)
        let target = try Self.target()
        var sum = [0, 0, 0, 0]
        var faults = 0
        for seed in 0..<UInt64(count) where faults < 3 {
            var run = Run(target, seed: seed)
            run.perform()
            if let fault = run.fault {
                faults += 1
                Issue.record("seed \(seed): \(fault)")
            }
            for (index, number) in [run.requests, run.responses, run.refusals, run.executions].enumerated() {
                sum[index] += number
            }
        }
        print("T24: \(count) sequences, \(sum[0]) requests, \(sum[2]) refused, \(sum[3]) executions")
        #expect(sum[0] == sum[1])
        #expect(sum[0] > count * 5)
        #expect(sum[2] > count && sum[3] > count)
    }
}
