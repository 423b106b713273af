// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// Discovers all services, one after another, on a server whose responses come from the input.
///
/// After the end of the input, the server either responds forever or not at all.
struct DiscoveryEntry {
    private var client: GATTClient
    private var input: FuzzInput
    private let isEndless: Bool
    private var now = Duration.zero
    private var requests = 0
    private var answers: [[UInt8]] = []
    private var services: [GATTService] = []
    private var characteristics: [GATTCharacteristic] = []

    static func fault(in bytes: [UInt8]) -> String? {
        var entry = DiscoveryEntry(bytes)
        return entry.run()
    }

    private init(_ bytes: [UInt8]) {
        input = FuzzInput(bytes)
        let kind = input.byte()
        isEndless = kind & 1 != 0
        var limits = GATTClient.Limits()
        // Lower than usual, so that each input is processed quickly.
        limits.requests = 48
        limits.attributes = 24
        client = GATTClient(localMTU: kind & 2 == 0 ? 23 : 517, limits: limits)
    }

    private mutating func run() -> String? {
        for step in 0..<40 {
            requests = 0
            do throws(GATTError) {
                guard try begin(step) else { return nil }
            } catch {
                // Anything that the server reports must be a valid argument of the next procedure.
                return "\(error) for what was found"
            }
            if let fault = finish() { return fault }
            if client.failure != nil { return nil }
        }
        return nil
    }

    /// Starts the next procedure; returns false if there is none.
    private mutating func begin(_ step: Int) throws(GATTError) -> Bool {
        switch step {
        case 0: _ = try client.exchangeMTU(now: now)
        case 1: _ = try client.discoverPrimaryServices(now: now)
        default:
            if let characteristic = characteristics.popLast() {
                _ = try client.discoverDescriptors(of: characteristic, now: now)
            } else if let service = services.popLast() {
                _ = try client.discoverCharacteristics(of: service, now: now)
            } else {
                return false
            }
        }
        return true
    }

    private mutating func finish() -> String? {
        for _ in 0..<500 {
            while let pdu = client.nextOutgoing() {
                guard pdu.count <= Int(client.mtu), let request = try? ATTPDU(pdu.span) else { return "sent \(pdu)" }
                guard request.opcode.kind == .request else { continue }
                requests += 1
                answer(request)
            }
            if let event = client.nextEvent() {
                answers = []
                guard requests <= client.limits.requests else { return "\(requests) requests" }
                return take(event.result)
            }
            if answers.isEmpty {
                guard let deadline = client.deadline else { return "nothing to wait for" }
                now = max(now, deadline)
                client.handleDeadline(now: now)
            } else {
                let answer = answers.removeFirst()
                _ = client.receive(answer.span, now: now)
            }
        }
        return "no end"
    }

    /// Checks that the discovered attributes are sorted and within the requested range, and stores them for the next
    /// steps.
    private mutating func take(_ result: Result<GATTClient.Outcome, GATTError>) -> String? {
        guard case .success(let outcome) = result else { return nil }
        guard ClientProcedures.size(outcome) <= client.limits.attributes else { return "an outcome too large" }
        switch outcome {
        case .services(let found):
            for (one, next) in zip(found, found.dropFirst()) where next.handles.start <= one.handles.end {
                return "services that overlap"
            }
            guard found.allSatisfy({ $0.handles.isValid }) else { return "a service without handles" }
            services = Array(found.prefix(4))
        case .characteristics(let found):
            for one in found where one.valueHandle <= one.declaration || one.end < one.valueHandle {
                return "a characteristic that ends before it begins"
            }
            characteristics = Array(found.prefix(4))
        default: break
        }
        return nil
    }

    private mutating func answer(_ request: ATTPDU) {
        guard !input.isAtEnd else {
            if isEndless { answers.append(plausible(request)) }
            return
        }
        let response = request.opcode.answer?.rawValue ?? 0x01
        switch input.below(8) {
        case 0: answers.append([response] + input.bytes(60))
        case 1: answers.append(input.bytes(60))
        case 2: answers.append([0x01, request.opcode.rawValue, input.byte(), input.byte(), input.byte()])
        // Attribute Not Found.
        case 3, 4: answers.append([0x01, request.opcode.rawValue] + request.encoded.dropFirst().prefix(2) + [0x0A])
        case 5: break
        case 6:
            answers.append([0x1B] + input.bytes(20))
            answers.append(plausible(request))
        default: answers.append(plausible(request))
        }
    }

    /// Returns a plausible response with handles slightly above the requested one.
    private mutating func plausible(_ request: ATTPDU) -> [UInt8] {
        func bytes(_ handle: UInt16) -> [UInt8] { [UInt8(handle & 0xFF), UInt8(handle >> 8)] }
        let skip = UInt16(input.below(4))
        switch request {
        case .exchangeMTURequest: return [0x03, input.byte(), input.byte() & 3]
        case .readByGroupTypeRequest(let range, _):
            let start = range.start.rawValue &+ skip
            return [0x11, 6] + bytes(start) + bytes(start &+ UInt16(input.byte())) + [0x00, 0x18]
        case .readByTypeRequest(let range, _):
            let start = range.start.rawValue &+ skip
            return [0x09, 7] + bytes(start) + [0x10] + bytes(start &+ 1 &+ UInt16(input.below(3))) + [0x00, 0x2A]
        case .findInformationRequest(let range): return [0x05, 1] + bytes(range.start.rawValue &+ skip) + [0x02, 0x29]
        default: return [0x01, request.opcode.rawValue, 0, 0, 6]
        }
    }
}
