// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension ATTBearer {
    /// Processes a received PDU.
    ///
    /// Values longer than the MTU are accepted up to this side's own MTU, because some servers ignore the MTU.
    ///
    /// Processing a notification takes only a few comparisons: it neither allocates memory nor reads the clock.
    public mutating func receive(_ bytes: Span<UInt8>, now: @autoclosure () -> Duration) -> Reception {
        if case .none = failure, bytes.count >= 3, bytes.count <= Int(localMTU),
            bytes[0] == ATTOpcode.handleValueNotification.rawValue
        {
            let handle = AttributeHandle(UInt16(bytes[1]) | UInt16(bytes[2]) &<< 8)
            if handle.isValid { return .value(ReceivedValue(handle: handle, kind: .notifications)) }
        }
        return receiveOther(bytes, now: now())
    }

    private mutating func receiveOther(_ bytes: Span<UInt8>, now: Duration) -> Reception {
        handleDeadline(now: now)
        guard failure == nil else { return .failed }
        guard !bytes.isEmpty else { return ignore() }
        let opcode = ATTOpcode(rawValue: bytes[0])
        if bytes.count > Int(opcode.isValue ? localMTU : mtu) { counters.tooLong &+= 1 }
        switch opcode.kind {
        case .request: return receiveRequest(opcode, bytes)
        case .response: return receiveResponse(opcode, bytes)
        case .indication: return receiveIndication(bytes)
        case .confirmation: return receiveConfirmation(opcode, bytes)
        case .command: return receiveCommand(bytes)
        case .notification:
            if opcode.isValue, bytes.count > Int(localMTU) { counters.tooLongValues &+= 1 }
            return ignore()
        case nil:
            guard !opcode.isCommand else { return ignore() }
            return refuse(opcode, .requestNotSupported)
        }
    }

    mutating func ignore() -> Reception {
        counters.ignored &+= 1
        return .ignored
    }

    private mutating func end(_ reason: Failure) -> Reception {
        fail(reason)
        return .failed
    }

    /// Processes a request; responds with Invalid PDU if the request is malformed or longer than the MTU (Core 6.0, Vol
    /// 3, Part F, 3.4.1.1).
    private mutating func receiveRequest(_ opcode: ATTOpcode, _ bytes: Span<UInt8>) -> Reception {
        guard bytes.count <= Int(mtu), let pdu = try? ATTPDU(bytes) else { return refuse(opcode, .invalidPDU) }
        guard case .exchangeMTURequest(let clientReceiveMTU) = pdu else {
            return begin(opcode) ? .request(pdu) : .failed
        }
        guard !didAnswerMTU else { return refuse(opcode, .requestNotSupported) }
        let reception = reply(to: opcode, .exchangeMTUResponse(serverReceiveMTU: localMTU))
        if failure == nil {
            didAnswerMTU = true
            agreeMTU(peer: clientReceiveMTU)
        }
        return reception
    }

    /// Processes a command; ignores a signed write, because there is no key to verify its signature (Core 6.0, Vol 3,
    /// Part F, 3.4.5.3 and 3.4.5.4).
    private mutating func receiveCommand(_ bytes: Span<UInt8>) -> Reception {
        guard bytes.count <= Int(mtu), let pdu = try? ATTPDU(bytes), case .writeCommand = pdu else { return ignore() }
        return .command(pdu)
    }

    /// Starts a transaction of the peer; fails the bearer and returns false if the peer's previous transaction is not
    /// finished.
    private mutating func begin(_ opcode: ATTOpcode) -> Bool {
        guard !isAnswering else {
            fail(.notSequential(opcode))
            return false
        }
        isAnswering = true
        unanswered = opcode
        return true
    }

    private mutating func refuse(_ opcode: ATTOpcode, _ error: ATTError) -> Reception {
        reply(to: opcode, .errorResponse(request: opcode, handle: .invalid, error: error))
    }

    private mutating func reply(to opcode: ATTOpcode, _ pdu: ATTPDU) -> Reception {
        guard begin(opcode) else { return .failed }
        finishAnswer(pdu.encoded)
        return .answered
    }

    private mutating func receiveResponse(_ opcode: ATTOpcode, _ bytes: Span<UInt8>) -> Reception {
        guard let request, request.isSent else { return end(.unexpectedPDU(opcode, expected: nil)) }
        guard opcode == .errorResponse || opcode == request.opcode.answer else {
            return end(.unexpectedPDU(opcode, expected: request.opcode.answer))
        }
        guard bytes.count <= Int(mtu) else { return end(.responseTooLong(count: bytes.count, mtu: mtu)) }
        let pdu: ATTPDU
        do throws(DecodingError) { pdu = try ATTPDU(bytes) } catch { return end(.malformedResponse(error)) }
        switch pdu {
        case .errorResponse(let refused, let handle, let error):
            self.request = nil
            // The handle in the Error Response is ignored, because widely used servers report a different handle from
            // the requested one.
            guard refused == request.opcode else {
                counters.misdirectedErrors &+= 1
                return .errorForAnotherRequest(refused, expected: request.opcode, handle: handle, error: error)
            }
            return .errorResponse(request: refused, handle: handle, error: error)
        case .exchangeMTUResponse(let serverReceiveMTU):
            self.request = nil
            agreeMTU(peer: serverReceiveMTU)
            return .response(pdu)
        default:
            self.request = nil
            return .response(pdu)
        }
    }

    /// Confirms an indication; discards it if its handle is invalid or it is longer than this side's own MTU (Core 6.0,
    /// Vol 3, Part F, 3.4.7.2).
    private mutating func receiveIndication(_ bytes: Span<UInt8>) -> Reception {
        guard !confirmationWaiting else { return end(.notSequential(.handleValueIndication)) }
        confirmationWaiting = true
        counters.confirmed &+= 1
        queueConfirmation()
        guard bytes.count <= Int(localMTU) else {
            counters.tooLongValues &+= 1
            return ignore()
        }
        guard bytes.count >= 3 else { return ignore() }
        let handle = AttributeHandle(UInt16(bytes[1]) | UInt16(bytes[2]) &<< 8)
        return handle.isValid ? .value(ReceivedValue(handle: handle, kind: .indications)) : ignore()
    }

    private mutating func receiveConfirmation(_ opcode: ATTOpcode, _ bytes: Span<UInt8>) -> Reception {
        guard let indication, indication.isSent else { return end(.unexpectedPDU(opcode, expected: nil)) }
        do throws(DecodingError) { _ = try ATTPDU(bytes) } catch { return end(.malformedResponse(error)) }
        self.indication = nil
        return .confirmed
    }
}

extension ATTOpcode {
    fileprivate var isValue: Bool { self == .handleValueNotification || self == .handleValueIndication }
}
