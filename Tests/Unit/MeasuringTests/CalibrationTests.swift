// SPDX-License-Identifier: GPL-2.0-or-later

import Measuring
import Testing

@Suite struct CalibrationTests {
    @Test("Work that seems to take no time is not asked for more than a number of 32 bits, or of 64, can say")
    func calibration() {
        var greatest32: Int32 = 0
        let most32 = Calibration.units(span: 4_000_000) { (count: Int32) in
            greatest32 = count
            return 0
        }
        #expect(greatest32 == 1 << 30 && most32 == .max)
        var greatest64: Int64 = 0
        let most64 = Calibration.units(span: 4_000_000) { (count: Int64) in
            greatest64 = count
            return 0
        }
        #expect(greatest64 == 1 << 33 && most64 == 4_000_000 << 33)
        #expect(Calibration.units(span: 4_000_000) { (count: Int32) in Int64(count) * 100 } == 40_000)
        #expect(Calibration.units(span: 4_000_000) { (count: Int32) in Int64(count) * 1_000_000 } == 64)
    }
}
