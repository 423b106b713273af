// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets
import HIDReports

/// Writes the subscriptions of a HID device: input reports of keyboard services, and Service Changed.
///
/// Protocol Mode is written first where the boot protocol is used, because each connection begins with the report
/// protocol (HID Service 1.0, 2.4.1.1). After a reconnection, the device should still have its subscriptions; writing
/// them again cures devices that forget them. The lights are written last, without a response. HOGP 1.1, 4.8 and 4.12.
package struct HIDSubscriptions: Sendable {
    package enum Progress: Equatable, Sendable {
        /// A write waits for its response.
        case underWay
        /// All descriptors were written, apart from `refused` ones.
        case done(refused: Int)
        /// The bearer failed, or the device refused all input reports and may have no earlier subscriptions.
        case failed(GATTError)
    }

    private struct Write: Sendable {
        var handle: AttributeHandle
        var kind: GATTSubscriptionKind
        var isReport: Bool
    }

    /// Value of Protocol Mode for the boot protocol.
    private static let boot: [UInt8] = [0]

    /// Maximum number of output reports that are written.
    private static let mostLights = 8

    private let modes: [AttributeHandle]
    private let lights: [(handle: AttributeHandle, payload: [UInt8])]
    private var writes: ArraySlice<Write>
    private let hasEarlier: Bool
    private var current: Write?
    private var procedure: GATTClient.ProcedureID?
    private var refused = 0
    /// True after the device has accepted an input report's subscription.
    private var hasAccepted = false
    /// First error for an input report.
    private var refusal: GATTError?

    /// Creates the writes for one connection.
    ///
    /// If `hasEarlier` is true, the device was subscribed to on an earlier connection, and may refuse all writes.
    /// `numLock` is the state of the NumLock light; all other lights are switched off.
    package init(_ device: HIDDevice, hasEarlier: Bool = false, numLock: Bool) {
        self.hasEarlier = hasEarlier
        let keyboards = device.services.filter(\.hasKeyboard)
        lights = Array(keyboards.flatMap { $0.lights(numLock: numLock) }.prefix(Self.mostLights))
        modes = keyboards.filter { $0.bootInput != nil }.compactMap(\.protocolMode)
        var writes = keyboards.flatMap(\.inputs).compactMap(\.configuration).map {
            Write(handle: $0, kind: .notifications, isReport: true)
        }
        if let handle = device.serviceChanged?.configuration {
            writes.append(Write(handle: handle, kind: .indications, isReport: false))
        }
        self.writes = writes[...]
    }

    package mutating func begin(_ client: inout GATTClient, now: Duration) -> Progress {
        do throws(GATTError) {
            for mode in modes { try client.writeWithoutResponse(Self.boot, to: mode, now: now) }
        } catch {
            return .failed(error)
        }
        return next(&client, now)
    }

    /// Handles the end of a write, and begins the next one.
    package mutating func handle(_ event: GATTClient.Event, _ client: inout GATTClient, now: Duration) -> Progress {
        guard let current, event.procedure == procedure else { return .underWay }
        procedure = nil
        switch event.result {
        case .success: hasAccepted = hasAccepted || current.isReport
        case .failure(let error):
            guard error.isRefusal else { return .failed(error) }
            refused &+= 1
            if current.isReport, refusal == nil { refusal = error }
        }
        return next(&client, now)
    }

    private mutating func next(_ client: inout GATTClient, _ now: Duration) -> Progress {
        current = writes.popFirst()
        guard let current else {
            if let refusal, !hasAccepted, !hasEarlier { return .failed(refusal) }
            return writeLights(&client, now)
        }
        do throws(GATTError) {
            let value = [UInt8(truncatingIfNeeded: current.kind.rawValue), 0]
            procedure = try client.write(value, to: current.handle, now: now)
            return .underWay
        } catch {
            return .failed(error)
        }
    }

    private func writeLights(_ client: inout GATTClient, _ now: Duration) -> Progress {
        do throws(GATTError) {
            for light in lights { try client.writeWithoutResponse(light.payload, to: light.handle, now: now) }
            return .done(refused: refused)
        } catch {
            return .failed(error)
        }
    }
}

extension HIDDevice.Service {
    /// Returns the reports that set the lights, and their handles.
    fileprivate func lights(numLock: Bool) -> [(handle: AttributeHandle, payload: [UInt8])] {
        guard let map = try? ReportMap(map) else { return [] }
        return map.lights(numLock: numLock).compactMap { light in
            let output = reports.first { $0.kind == .output && $0.id == light.id }
            return output.map { ($0.value, light.payload) }
        }
    }
}

extension GATTError {
    /// True if the device answered the request with an error, so that others may still succeed.
    var isRefusal: Bool {
        switch self {
        case .errorResponse, .errorForAnotherRequest: true
        default: false
        }
    }

    /// True if the device demands a pairing, encryption or a better key.
    var isLackOfSecurity: Bool {
        guard case .errorResponse(_, _, let error) = self else { return false }
        switch error {
        case .insufficientAuthentication, .insufficientAuthorization, .encryptionKeySizeTooShort,
            .insufficientEncryption:
            return true
        default: return false
        }
    }
}
