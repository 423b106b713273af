// SPDX-License-Identifier: GPL-2.0-or-later

/// How much work takes a given time.
package enum Calibration {
    /// The number of units that take about `span` nanoseconds, by what `run` takes for more and more of them.
    ///
    /// Where they seem to take no time, it is asked for no more than a number of `Count` can say, nor for more than 2^33.
    package static func units<Count: FixedWidthInteger, Failure: Error>(
        span: Int64,
        _ run: (_ count: Count) throws(Failure) -> Int64
    ) throws(Failure) -> Count {
        var count: Count = 64
        while true {
            let time = try run(count)
            let (twice, isTooLarge) = count.multipliedReportingOverflow(by: 2)
            if time >= span / 4 || isTooLarge || Int64(clamping: count) > Int64(1) << 32 {
                let wanted = Double(count) * Double(span) / Double(max(1, time))
                return wanted < Double(Count.max) ? max(64, Count(wanted)) : .max
            }
            count = twice
        }
    }
}
