// SPDX-License-Identifier: GPL-2.0-or-later

/// Times at which a receiver listens: during a window at the start of every interval.
struct ScanWindow {
    /// Valid intervals, in units of 0.625 ms, of the legacy commands (Core 6.0, Vol 4, Part E, 7.8.10) and the extended
    /// commands (7.8.64).
    static let legacyIntervals: ClosedRange<UInt16> = 0x0004...0x4000
    static let extendedIntervals: ClosedRange<UInt16> = 0x0004...0xFFFF

    /// Interval in units of 0.625 ms.
    private var interval: UInt16 = 0x0010
    /// Window in units of 0.625 ms; not longer than the interval.
    private var window: UInt16 = 0x0010
    var start = Duration.zero

    init() {}

    /// Reads an interval and a window from a command; the first interval starts now.
    init(_ command: inout CommandReader, in range: ClosedRange<UInt16>) throws(Refusal) {
        interval = try command.readUInt16(in: range)
        window = try command.readUInt16(in: range)
        start = command.now
        guard window <= interval else { throw .invalid }
    }

    func isOpen(at time: Duration) -> Bool {
        let unit = Duration.microseconds(625).attoseconds
        let passed = (time - start).attoseconds % (Int128(interval) * unit)
        return passed < Int128(window) * unit
    }
}

/// Bits of Scanning_PHYs and Initiating_PHYs (Core 6.0, Vol 4, Part E, 7.8.64 and 7.8.66).
enum PHYBit {
    static let le1M: UInt8 = 1 << 0
    static let le2M: UInt8 = 1 << 1
    static let leCoded: UInt8 = 1 << 2

    /// Reads and checks the PHYs of a command; this controller supports only LE 1M.
    static func check(_ command: inout CommandReader, known: UInt8) throws(Refusal) {
        let phys = try command.readUInt8()
        guard phys != 0, phys & ~known == 0 else { throw .invalid }
        guard phys == le1M else { throw .unsupported }
    }
}
