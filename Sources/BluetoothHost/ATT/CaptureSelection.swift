// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The choice of records for a capture: those of one controller, and none between other programs and the kernel.
///
/// The controller may become known only after its first packets: until then they wait, within a bound.
public struct CaptureSelection: Sendable {
    /// The most bytes of packets that wait for the controller to be known; more are dropped and counted.
    public static let waitingCapacity = 1 << 18

    private var index: ControllerIndex?
    private var waiting: [BtsnoopRecord] = []
    private var waitingBytes = 0
    private var dropped: UInt32 = 0

    /// A selection that waits to be told the controller.
    public init() {}

    /// Keeps the records of this controller from now on, and returns those that have waited.
    public mutating func follow(_ index: ControllerIndex) -> [BtsnoopRecord] {
        self.index = index
        defer { waiting = [] }
        waitingBytes = 0
        return waiting.filter { $0.index == index }
    }

    /// The record as it is to be written; nil for one that is left out or waits.
    public mutating func take(_ record: BtsnoopRecord) -> BtsnoopRecord? {
        guard record.opcode.concernsController, record.index != .none else { return nil }
        var record = record
        record.drops &+= dropped
        guard let index else {
            let bytes = record.payload.count &+ Btsnoop.recordHeaderByteCount
            if waitingBytes &+ bytes <= Self.waitingCapacity {
                waitingBytes &+= bytes
                waiting.append(record)
            } else {
                dropped &+= 1
            }
            return nil
        }
        return record.index == index ? record : nil
    }
}
