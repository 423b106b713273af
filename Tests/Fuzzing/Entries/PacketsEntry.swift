// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The input is the kind of a packet and the packet.
enum PacketsEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        let packet = Array(bytes.dropFirst())
        do throws(DecodingError) {
            switch (bytes.first ?? 0) % 8 {
            case 0: return try event(packet.span)
            case 1: return try data(packet.span)
            case 2: return try frame(packet)
            case 3:
                let signal = try L2CAPSignal(packet.span)
                let again = try L2CAPSignal(signal.encoded.span)
                return again == signal ? nil : "\(signal) is written as \(again)"
            case 4:
                let pdu = try SecurityManagerPDU(packet.span)
                let again = try SecurityManagerPDU(pdu.encoded.span)
                return again == pdu ? nil : "\(pdu) is written as \(again)"
            case 5: return try management(packet.span)
            case 6:
                let monitor = try MonitorPacket(packet.span, isTruncated: true)
                return monitor.payload.count <= packet.count ? nil : "more than came"
            default:
                let information = try ControllerInformation(returnParameters: packet.span)
                return NameCheck.fault(information.name) ?? NameCheck.fault(information.shortName)
            }
        } catch {
            return fault(error, packet.count)
        }
    }

    /// Checks that a decoding error has a description and a position within the packet or at its end.
    static func fault(_ error: DecodingError, _ count: Int) -> String? {
        guard (0...count).contains(error.offset), !error.description.isEmpty else {
            return "\(error) is no place in \(count) bytes"
        }
        return nil
    }

    private static func event(_ packet: Span<UInt8>) throws(DecodingError) -> String? {
        switch try HCIEvent(packet) {
        case .commandComplete(_, _, let returned):
            refused { () throws(DecodingError) in _ = try HCIReturn.address(returned) }
            refused { () throws(DecodingError) in _ = try HCIReturn.features(returned) }
            refused { () throws(DecodingError) in _ = try DataBuffers(leReadBufferSize: returned) }
            refused { () throws(DecodingError) in _ = try DataBuffers(readBufferSize: returned) }
        case .leMeta(let subevent, let parameters):
            refused { () throws(DecodingError) in _ = try LEConnectionComplete(subevent, parameters) }
            refused { () throws(DecodingError) in _ = try LEConnectionUpdateComplete(parameters) }
            refused { () throws(DecodingError) in _ = try LERemoteConnectionParameterRequest(parameters) }
            refused { () throws(DecodingError) in _ = try LELongTermKeyRequest(parameters) }
            refused { () throws(DecodingError) in _ = try LEAdvertisingSetTerminated(parameters) }
            guard AdvertisingReportReader.reads(subevent) else { return nil }
            return try reports(subevent, parameters)
        case .other(_, let parameters):
            let completed = try CompletedPackets(parameters)
            return completed.entries.count * 4 <= parameters.count ? nil : "more entries than there are"
        case .commandStatus, .disconnectionComplete, .hardwareError: break
        }
        return nil
    }

    private static func refused(_ read: () throws(DecodingError) -> Void) { try? read() }

    private static func reports(_ subevent: LESubevent, _ parameters: Span<UInt8>) throws(DecodingError) -> String? {
        var reader = try AdvertisingReportReader(subevent, parameters)
        var left = reader.remaining
        var bytes = 1
        while let report = reader.next() {
            left -= 1
            bytes += report.data.count + (subevent == .advertisingReport ? 10 : 24)
            _ = (report.eventType, report.dataStatus, report.sender, report.isResolved, report.advertisingSID)
            _ = (report.txPower, report.rssi, report.target, report.primaryPHY, report.secondaryPHY)
        }
        guard left == 0, reader.remaining == 0 else { return "\(left) reports too few" }
        return bytes == parameters.count ? nil : "reports of \(bytes) bytes in \(parameters.count)"
    }

    private static func data(_ packet: Span<UInt8>) throws(DecodingError) -> String? {
        let data = try ACLPacket(packet)
        let written = ACLPacket.encoded(handle: data.handle, data.boundary, data.data)
        let again = try ACLPacket(written.span)
        guard again.handle == data.handle, again.boundary == data.boundary, again.data.count == data.data.count else {
            return "a data packet is written as another"
        }
        return nil
    }

    private static func frame(_ packet: [UInt8]) throws(DecodingError) -> String? {
        let frame = try L2CAPFrame(packet.span)
        let written = L2CAPFrame.encoded(frame.channel, [UInt8](copying: frame.payload))
        return written == packet ? nil : "a frame is written as another"
    }

    private static func management(_ packet: Span<UInt8>) throws(DecodingError) -> String? {
        let event = try ManagementEvent(packet)
        return "\(event.kind)".isEmpty ? "an event without a name" : nil
    }
}
