// SPDX-License-Identifier: GPL-2.0-or-later

/// The simulated devices around an adapter in memory.
///
/// Its text form, which follows `memory:`, is a list of device names separated by commas; an empty text means all
/// devices except the crowd and the bathroom scale.
public struct SimulatedCast: Hashable, Sendable, CustomStringConvertible {
    /// A simulated device; the raw value is its name in the text form.
    public enum Device: String, Hashable, Sendable, CaseIterable {
        /// A barcode scanner with a LINBLE module.
        case linble
        /// A barcode scanner with the Nordic UART Service.
        case nordic
        /// A scale that sends each weight as text.
        case scale
        /// A keyboard over HID, which has no serial service.
        case hid
        /// A badge that is an iBeacon and accepts no connection.
        case badge
        /// A bathroom scale that advertises its weights and accepts no connection.
        case bathroom
        /// Fifty devices that only advertise.
        case crowd
    }

    /// The devices, each once, in the order of `Device.allCases`.
    public let devices: [Device]

    /// An error in the text of a cast: no device has this name.
    public struct ParsingError: Error, Hashable, Sendable {
        /// The name from the text.
        public var name: String
    }

    /// Creates a cast; the order of the devices does not matter, and repetitions are ignored.
    public init(_ devices: some Sequence<Device> = Device.allCases.dropLast(2)) {
        let chosen = Set(devices)
        self.devices = Device.allCases.filter(chosen.contains)
    }

    /// Parses the text form.
    public init(text: some StringProtocol) throws(ParsingError) {
        guard !text.isEmpty else {
            self.init()
            return
        }
        var chosen: [Device] = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let device = Device(rawValue: String(name)) else { throw ParsingError(name: String(name)) }
            chosen.append(device)
        }
        self.init(chosen)
    }

    /// The text form.
    public var description: String {
        self == SimulatedCast() ? "" : devices.map(\.rawValue).joined(separator: ",")
    }
}
