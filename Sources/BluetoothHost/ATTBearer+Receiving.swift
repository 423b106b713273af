// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension ATTBearer {
    /// Takes one arriving PDU.
    ///
    /// A notification costs a few comparisons and no memory.
    public mutating func receive(_ bytes: Span<UInt8>, now: Duration) -> Reception {
        if failure == nil, bytes.count >= 3, bytes.count <= Int(mtu),
            bytes[0] == ATTOpcode.handleValueNotification.rawValue
        {
            let handle = AttributeHandle(UInt16(bytes[1]) | UInt16(bytes[2]) &<< 8)
            if handle.isValid { return .notification(handle) }
        }
        return receiveOther(bytes, now: now)
    }

    private mutating func receiveOther(_ bytes: Span<UInt8>, now: Duration) -> Reception {
        handleDeadline(now: now)
        guard failure == nil else { return .failed }
        guard !bytes.isEmpty else { return ignore() }
        let opcode = ATTOpcode(rawValue: bytes[0])
        if bytes.count > Int(mtu) { counters.tooLong &+= 1 }
        switch opcode.kind {
        case .request: return receiveRequest(opcode, bytes)
        case .response: return receiveResponse(opcode, bytes)
        case .indication: return receiveIndication(bytes)
        case .confirmation: return receiveConfirmation(opcode, bytes)
        case .command, .notification: return ignore()
        case nil:
            guard !opcode.isCommand else { return ignore() }
            return answer(opcode, .refusal(.requestNotSupported))
        }
    }

    private mutating func ignore() -> Reception {
        counters.ignored &+= 1
        return .ignored
    }

    private mutating func end(_ reason: Failure) -> Reception {
        fail(reason)
        return .failed
    }

    /// A malformed request, or one longer than the MTU, is answered by Invalid PDU.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.1.1.
    private mutating func receiveRequest(_ opcode: ATTOpcode, _ bytes: Span<UInt8>) -> Reception {
        guard bytes.count <= Int(mtu), let pdu = try? ATTPDU(bytes) else {
            return answer(opcode, .refusal(.invalidPDU))
        }
        guard case .exchangeMTURequest(let clientReceiveMTU) = pdu else {
            return answer(opcode, ATTEmptyServer.answer(to: pdu))
        }
        guard !didAnswerMTU else { return answer(opcode, .refusal(.requestNotSupported)) }
        let reception = answer(opcode, .response(.exchangeMTUResponse(serverReceiveMTU: localMTU)))
        if failure == nil {
            didAnswerMTU = true
            agreeMTU(peer: clientReceiveMTU)
        }
        return reception
    }

    private mutating func answer(_ opcode: ATTOpcode, _ answer: ATTEmptyServer.Answer) -> Reception {
        guard !answerWaiting else { return end(.notSequential(opcode)) }
        answerWaiting = true
        counters.answered &+= 1
        switch answer {
        case .response(let pdu): queueAnswer(pdu)
        case .error(let error, let handle):
            queueAnswer(.errorResponse(request: opcode, handle: handle, error: error))
        }
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
            guard refused == request.opcode else {
                return end(.errorForAnotherRequest(refused, expected: request.opcode))
            }
            if let handles = request.handles, handle.isValid, !handles.contains(handle) {
                return end(.errorForAnotherHandle(handle))
            }
            self.request = nil
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

    /// Confirms once; an indication without a handle, or of no handle, or longer than the MTU is confirmed and discarded.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.2.
    private mutating func receiveIndication(_ bytes: Span<UInt8>) -> Reception {
        guard !confirmationWaiting else { return end(.notSequential(.handleValueIndication)) }
        confirmationWaiting = true
        counters.confirmed &+= 1
        queueAnswer(.handleValueConfirmation)
        guard bytes.count >= 3, bytes.count <= Int(mtu) else { return ignore() }
        let handle = AttributeHandle(UInt16(bytes[1]) | UInt16(bytes[2]) &<< 8)
        return handle.isValid ? .indication(handle) : ignore()
    }

    private mutating func receiveConfirmation(_ opcode: ATTOpcode, _ bytes: Span<UInt8>) -> Reception {
        guard let indication, indication.isSent else { return end(.unexpectedPDU(opcode, expected: nil)) }
        do throws(DecodingError) { _ = try ATTPDU(bytes) } catch { return end(.malformedResponse(error)) }
        self.indication = nil
        return .confirmed
    }
}
