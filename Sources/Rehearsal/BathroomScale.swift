// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// Advertisements of the simulated bathroom scale, in the format of the Mi Smart Scale.
enum BathroomScale {
    /// Weights that are measured one after another, in units of 5 g.
    private static let weights: [UInt16] = [14_490, 16_260, 16_260, 13_001]
    /// States during one weighing: the flags, and the part of the weight in percent.
    private static let states: [(flags: UInt8, percent: UInt32)] =
        [(0x00, 40), (0x00, 97)] + Array(repeating: (0x20, 100), count: 4) + Array(repeating: (0xA0, 100), count: 4)
    /// Date and time of a weighing, without the seconds.
    private static let stamp: [UInt8] = [0xE8, 0x07, 0x01, 0x01, 0x08, 0x00]

    /// Returns the advertisement number `number`.
    static func content(_ number: Int) -> AdvertisementLayout.Content {
        let (weighing, step) = number.quotientAndRemainder(dividingBy: states.count)
        let state = states[step]
        let weight = UInt32(weights[weighing % weights.count]) * state.percent / 100
        var data = [state.flags, UInt8(weight & 0xFF), UInt8(weight >> 8)] + stamp
        data.append(UInt8(weighing % 60))
        return .init(
            localName: "BATH-SCALE",
            serviceData: [AdvertisementData.ServiceData(service: 0x181D, data: data)]
        )
    }
}
