// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Picks what belongs into a capture: what concerns one controller, and nothing that other programs say to the kernel.
///
/// Which controller that is may be known only after its first packets: until then they wait, within a bound.
public struct CaptureSelection: Sendable {
    /// The most bytes of packets that wait for the controller to be known; more are dropped and counted.
    public static let waitingCapacity = 1 << 18

    private var index: ControllerIndex?
    private var waiting: [BtsnoopRecord] = []
    private var waitingBytes = 0
    private var dropped: UInt32 = 0

    /// A selection that waits to be told the controller.
    public init() {}

    /// Keeps what concerns this controller from now on, and gives what has waited for it.
    public mutating func follow(_ index: ControllerIndex) -> [BtsnoopRecord] {
        self.index = index
        defer { waiting = [] }
        waitingBytes = 0
        return waiting.filter { $0.index == index }
    }

    /// The record as it is to be written; nil where it is not.
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
