// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Decides which payloads of a device are typed, and counts them.
package struct ValueReader: Sendable {
    package let settings: ValueSettings
    /// True if the payloads are advertised, and therefore received several times.
    private let isAdvertised: Bool
    package private(set) var account = ValueAccount()
    /// Latest value of a device whose values are typed on request; nil before the first.
    private var kept: SensorReading?
    /// Value that was typed last; nil if none was, or if an unstable value followed.
    private var last: SensorReading?
    /// True once an unstable value was received; a value whose load is removed is typed only then.
    private var wasUnstable = false
    /// Latest payload; nil before the first.
    private var previous: (payload: [UInt8], packet: UInt8?)?

    package init(_ settings: ValueSettings, isAdvertised: Bool) {
        self.settings = settings
        self.isAdvertised = isAdvertised
    }

    /// Handles a payload; returns its outcome, and the bytes to type, which may be none.
    package mutating func receive(_ payload: Span<UInt8>) -> (outcome: ValueOutcome, text: [UInt8]) {
        let (outcome, reading) = judge(payload)
        account.count(outcome)
        guard outcome == .typed, let reading else { return (outcome, []) }
        return (outcome, settings.bytes(for: reading))
    }

    /// Returns the bytes of the latest value, which a client requests; nil if there is none.
    package func request() -> [UInt8]? { kept.map { settings.bytes(for: $0) } }

    /// Forgets the values of the last link, but not their counts.
    package mutating func endLink() { (kept, last, wasUnstable, previous) = (nil, nil, false, nil) }

    private mutating func judge(_ payload: Span<UInt8>) -> (ValueOutcome, SensorReading?) {
        if isAdvertised, let previous, previous.payload.count == payload.count,
            previous.payload.span.begins(with: payload)
        {
            return (.repeated, nil)
        }
        let values: SensorValues
        do throws(SensorFault) {
            values = try settings.decode(payload)
        } catch {
            previous = ([UInt8](copying: payload), nil)
            return (ValueOutcome(error), nil)
        }
        let isSamePacket = isAdvertised && values.packet != nil && values.packet == previous?.packet
        previous = ([UInt8](copying: payload), values.packet)
        if isSamePacket { return (.repeated, nil) }
        guard let reading = settings.reading(of: values) else { return (.unreadable, nil) }
        if settings.moment == .each { return (.typed, reading) }
        if values.isStable == false {
            (last, wasUnstable) = (nil, true)
            return (.unstable, nil)
        }
        if reading == last { return (.unchanged, nil) }
        // After the start, the device may still advertise the value of an earlier load.
        if values.isRemoved == true, !wasUnstable { return (.removed, nil) }
        (last, wasUnstable) = (reading, false)
        guard settings.moment == .stable else {
            kept = reading
            return (.kept, nil)
        }
        return (.typed, reading)
    }
}
