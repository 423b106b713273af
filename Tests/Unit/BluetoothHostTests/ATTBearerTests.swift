// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct ATTBearerTests {
    private static let handle = AttributeHandle(3)
    private static let requests: [ATTPDU] = [
        .exchangeMTURequest(clientReceiveMTU: 517),
        .findInformationRequest(.all),
        .findByTypeValueRequest(.all, type: 0x2800, value: [0x0A, 0x18]),
        .readByTypeRequest(.all, type: BluetoothUUID(UInt16(0x2803))),
        .readRequest(handle),
        .readBlobRequest(handle, offset: 0),
        .readMultipleRequest([handle, handle]),
        .readByGroupTypeRequest(.all, type: BluetoothUUID(UInt16(0x2800))),
        .writeRequest(handle, value: [1]),
        .prepareWriteRequest(handle, offset: 0, value: [1]),
        .executeWriteRequest(.write),
        .readMultipleVariableRequest([handle, handle]),
    ]

    @Test("T17: each pending request × 256 opcodes × 0 to 22 bytes: one right reaction each")
    func matrix() throws {
        var cells = 0
        var violations = 0
        for request in Self.requests {
            var fresh = ATTBearer()
            try fresh.send(request, now: .zero)
            #expect(fresh.nextOutgoing() == request.encoded)
            for byte in UInt8.min...UInt8.max {
                for count in 0...22 {
                    let pdu = [byte] + [UInt8](repeating: 1, count: count)
                    var bearer = fresh
                    let reception = bearer.receive(pdu.span, now: .seconds(1))
                    let expected = Self.reaction(to: pdu, during: request)
                    cells += 1
                    if expected == .violation { violations += 1 }
                    let really = Self.classify(reception, &bearer)
                    if really != expected { Issue.record("\(request.opcode): \(pdu): \(really), not \(expected)") }
                }
            }
        }
        print("T17: \(cells) cells, \(violations) violations")
        #expect(cells == 12 * 256 * 23)
    }

    enum Reaction { case answer, end, violation, told, confirmed, ignored, wrong }

    /// Returns the reaction required by Core 6.0, Vol 3, Part F, 3.3 and 3.4.
    private static func reaction(to pdu: [UInt8], during request: ATTPDU) -> Reaction {
        let opcode = ATTOpcode(rawValue: pdu[0])
        switch opcode.kind {
        case .request: return .answer
        case .response:
            guard opcode == request.opcode.answer || opcode == .errorResponse else { return .violation }
            guard (try? ATTPDU(pdu.span)) != nil else { return .violation }
            // This Error Response names the opcode 0x01, which is not our request; it ends our request nevertheless.
            return .end
        case .confirmation: return .violation
        case .indication: return .confirmed
        case .notification: return opcode == .handleValueNotification && pdu.count >= 3 ? .told : .ignored
        case .command: return .ignored
        case nil: return opcode.isCommand ? .ignored : .answer
        }
    }

    private static func classify(_ reception: ATTBearer.Reception, _ bearer: inout ATTBearer) -> Reaction {
        if case .request(let pdu) = reception {
            let answer = ATTPDU.errorResponse(request: pdu.opcode, handle: .invalid, error: .unlikelyError)
            let isSilent = bearer.nextOutgoing() == nil
            guard isSilent, (try? bearer.answer(answer)) != nil, (try? bearer.answer(answer)) == nil else {
                return .wrong
            }
            return bearer.nextOutgoing() == answer.encoded && bearer.nextOutgoing() == nil ? .answer : .wrong
        }
        let outgoing = bearer.nextOutgoing()
        let silent = outgoing == nil && bearer.nextOutgoing() == nil
        switch reception {
        case .answered: return outgoing?.first.map { $0 & 1 } == 1 && bearer.nextOutgoing() == nil ? .answer : .wrong
        case .response, .errorResponse, .errorForAnotherRequest: return silent && bearer.canRequest ? .end : .wrong
        case .value(let value) where value.kind == .notifications:
            return silent && bearer.deadline != nil ? .told : .wrong
        case .value, .ignored:
            if outgoing == [0x1E] { return bearer.nextOutgoing() == nil ? .confirmed : .wrong }
            return silent ? .ignored : .wrong
        case .command(let pdu): return silent && pdu.opcode == .writeCommand ? .ignored : .wrong
        case .confirmed, .request: return .wrong
        case .failed: return silent && bearer.failure != nil && bearer.deadline == nil ? .violation : .wrong
        }
    }

    @Test("T18: a request and an indication of ours have slots of their own, in both orders")
    func slots() throws {
        for requestFirst in [true, false] {
            var bearer = ATTBearer()
            let request = ATTPDU.readRequest(Self.handle)
            let indication = ATTPDU.handleValueIndication(Self.handle, value: [1])
            try bearer.send(requestFirst ? request : indication, now: .zero)
            try bearer.send(requestFirst ? indication : request, now: .seconds(5))
            #expect(throws: ATTBearer.Refusal.busy) { try bearer.send(request, now: .zero) }
            #expect(throws: ATTBearer.Refusal.busy) { try bearer.send(indication, now: .zero) }
            #expect(bearer.deadline == .seconds(30))
            #expect(bearer.nextOutgoing() != nil)
            #expect(bearer.nextOutgoing() != nil)
            #expect(bearer.nextOutgoing() == nil)
            if requestFirst {
                #expect(bearer.receive([0x0B].span, now: .seconds(6)) == .response(.readResponse(value: [])))
                #expect(!bearer.canIndicate)
            } else {
                #expect(bearer.receive([0x1E].span, now: .seconds(6)) == .confirmed)
                #expect(!bearer.canRequest)
            }
            #expect(bearer.deadline == .seconds(35))
            bearer.handleDeadline(now: .seconds(34))
            #expect(bearer.failure == nil)
            bearer.handleDeadline(now: .seconds(35))
            #expect(bearer.failure == .transactionTimeout(requestFirst ? .handleValueIndication : .readRequest))
            #expect(throws: ATTBearer.Refusal.self) {
                try bearer.send(.writeCommand(Self.handle, value: []), now: .zero)
            }
        }
    }

    @Test("T18: a confirmation with bytes behind it, or before the indication has left, ends the bearer")
    func confirmation() throws {
        var early = ATTBearer()
        try early.send(.handleValueIndication(Self.handle, value: []), now: .zero)
        #expect(early.receive([0x1E].span, now: .zero) == .failed)
        var long = ATTBearer()
        try long.send(.handleValueIndication(Self.handle, value: []), now: .zero)
        _ = long.nextOutgoing()
        #expect(long.receive([0x1E, 0].span, now: .zero) == .failed)
    }

    @Test("GATT/CL/GAT/BV-01-C: an answer in the 30th second is too late even before the deadline was handled")
    func lateAnswer() throws {
        var bearer = ATTBearer()
        try bearer.send(.readRequest(Self.handle), now: .seconds(100))
        _ = bearer.nextOutgoing()
        #expect(bearer.deadline == .seconds(130))
        #expect(bearer.receive([0x0B].span, now: .seconds(130)) == .failed)
        #expect(bearer.failure == .transactionTimeout(.readRequest))
    }

    @Test("64 commands wait at most, and each that leaves makes room")
    func commandQueue() throws {
        var bearer = ATTBearer()
        let command = ATTPDU.writeCommand(Self.handle, value: [1])
        for _ in 0..<64 { try bearer.send(command, now: .zero) }
        #expect(throws: ATTBearer.Refusal.queueFull) { try bearer.send(command, now: .zero) }
        #expect(bearer.nextOutgoing() == [0x52, 3, 0, 1])
        try bearer.send(command, now: .zero)
        #expect(throws: ATTBearer.Refusal.queueFull) { try bearer.send(command, now: .zero) }
        var waiting = 0
        while bearer.nextOutgoing() != nil { waiting += 1 }
        #expect(waiting == 64)
    }

    @Test(
        "T20: our own MTU stays within 23 to 517, and no value longer than it is taken, nor any other PDU longer than the MTU"
    )
    func ownMTU() {
        #expect(ATTBearer(localMTU: 0).localMTU == 23)
        #expect(ATTBearer(localMTU: 23).localMTU == 23)
        #expect(ATTBearer(localMTU: 517).localMTU == 517)
        #expect(ATTBearer(localMTU: .max).localMTU == 517)
        var bearer = ATTBearer()
        #expect(throws: ATTBearer.Refusal.tooLong(count: 24, mtu: 23)) {
            try bearer.send(.writeRequest(Self.handle, value: [UInt8](repeating: 0, count: 21)), now: .zero)
        }
        #expect(bearer.nextOutgoing() == nil)
        #expect(throws: ATTBearer.Refusal.notOurs(.readResponse)) {
            try bearer.send(.readResponse(value: []), now: .zero)
        }
        let longest = [0x1B, 3, 0] + [UInt8](repeating: 0x41, count: 20)
        let notified = ATTBearer.Reception.value(ReceivedValue(handle: Self.handle, kind: .notifications))
        let indicated = ATTBearer.Reception.value(ReceivedValue(handle: Self.handle, kind: .indications))
        #expect(bearer.receive(longest.span, now: .zero) == notified)
        #expect(bearer.receive((longest + [0x41]).span, now: .zero) == notified)
        #expect(bearer.receive(([0x52, 3, 0] + longest).span, now: .zero) == .ignored)
        #expect(bearer.counters.tooLong == 1 && bearer.counters.tooLongValues == 0)
        for (opcode, told): (UInt8, ATTBearer.Reception) in [(0x1B, notified), (0x1D, indicated)] {
            var bearer = ATTBearer()
            let pdu = [opcode, 3, 0] + [UInt8](repeating: 0x41, count: 514)
            #expect(bearer.receive(pdu.span, now: .zero) == told)
            _ = bearer.nextOutgoing()
            #expect(bearer.receive((pdu + [0x41]).span, now: .zero) == .ignored)
            #expect(bearer.nextOutgoing() == (opcode == 0x1D ? [0x1E] : nil))
            #expect(bearer.counters.tooLongValues == 1 && bearer.counters.tooLong == 1)
        }
    }

    @Test("The MTU is asked for once on a link, whatever the answer was")
    func oneExchange() throws {
        for answer: [UInt8] in [[0x03, 0x64, 0x00], [0x01, 0x02, 0x00, 0x00, 0x06]] {
            var bearer = ATTBearer()
            try bearer.send(.exchangeMTURequest(clientReceiveMTU: 517), now: .zero)
            #expect(bearer.nextOutgoing() == [0x02, 0x05, 0x02])
            _ = bearer.receive(answer.span, now: .zero)
            #expect(bearer.canRequest)
            #expect(throws: ATTBearer.Refusal.exchangedAlready) {
                try bearer.send(.exchangeMTURequest(clientReceiveMTU: 100), now: .zero)
            }
            #expect(bearer.nextOutgoing() == nil)
        }
    }

    @Test(
        "T18: a peer that asks for ever and never reads is cut off with one answer waiting",
        arguments: [true, false]
    )
    func peerThatNeverReads(isAnswered: Bool) throws {
        var bearer = ATTBearer()
        var requests = 0
        for _ in 0..<1000 where bearer.receive([0x0A, 3, 0].span, now: .zero) == .request(.readRequest(Self.handle)) {
            requests += 1
            if isAnswered { try bearer.answer(.readResponse(value: [])) }
        }
        #expect(requests == 1)
        #expect(bearer.failure == .notSequential(.readRequest))
        #expect(bearer.nextOutgoing() == nil)
    }

    @Test("Only the response to the open request is taken, once, and not longer than the MTU")
    func answers() throws {
        var bearer = ATTBearer()
        #expect(throws: ATTBearer.Refusal.notOurs(.readResponse)) { try bearer.answer(.readResponse(value: [])) }
        #expect(bearer.receive([0x0A, 3, 0].span, now: .zero) == .request(.readRequest(Self.handle)))
        #expect(bearer.unanswered == .readRequest)
        #expect(throws: ATTBearer.Refusal.notOurs(.writeResponse)) { try bearer.answer(.writeResponse) }
        let other = ATTPDU.errorResponse(request: .writeRequest, handle: Self.handle, error: .unlikelyError)
        #expect(throws: ATTBearer.Refusal.notOurs(.errorResponse)) { try bearer.answer(other) }
        #expect(throws: ATTBearer.Refusal.tooLong(count: 24, mtu: 23)) {
            try bearer.answer(.readResponse(value: [UInt8](repeating: 0, count: 23)))
        }
        try bearer.answer(.readResponse(value: [7]))
        #expect(throws: ATTBearer.Refusal.notOurs(.readResponse)) { try bearer.answer(.readResponse(value: [7])) }
        #expect(bearer.nextOutgoing() == [0x0B, 7])
        #expect(bearer.receive([0x0A, 3, 0].span, now: .zero) == .request(.readRequest(Self.handle)))
    }
}
