// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LowEnergyHost {
    /// The bit of LE Data Packet Length Extension in the LE features.
    ///
    /// Core 6.0, Vol 6, Part B, 4.6.
    private static let dataLengthFeature: UInt64 = 1 &<< 5
    /// The bit of LE 2M PHY in the LE features.
    ///
    /// Core 6.0, Vol 6, Part B, 4.6.
    private static let fastPHYFeature: UInt64 = 1 &<< 8

    /// The subevents that tell of changes which the controller's features allow.
    var qualityEvents: LEEventMask {
        var mask: LEEventMask = []
        if leFeatures & Self.dataLengthFeature != 0 { mask.insert(.dataLengthChange) }
        if leFeatures & Self.fastPHYFeature != 0 { mask.insert(.phyUpdateComplete) }
        return mask
    }

    /// Asks for the longest packets and the faster PHY on a new connection, where the controller offers them.
    ///
    /// The controllers agree on what both can do. A connection without either is as good a connection.
    mutating func improve(_ handle: UInt16) {
        if leFeatures & Self.dataLengthFeature != 0 {
            requestOptional(.leSetDataLength(handle: handle), .leSetDataLength, handle)
        }
        if leFeatures & Self.fastPHYFeature != 0 {
            requestOptional(.leSetPHY(handle: handle, .fast), .leSetPHY, handle)
        }
    }

    /// Puts a command at the end that a connection goes on without: nothing where the controller does not know it, or
    /// has left it without an answer, or is behind.
    private mutating func requestOptional(_ command: HCICommand, _ bit: SupportedCommands.Bit, _ handle: UInt16) {
        guard supportedCommands?.contains(bit) == true, !unanswered.contains(command.opcode),
            waiting.count < Self.commandCapacity
        else { return }
        request(command, .optional(handle))
    }

    /// The PHY on which a connection's peer sends; nil as long as no change was told.
    public func phy(of handle: UInt16) -> PHY? { links[handle]?.phy }

    /// The longest data of one packet from a connection's peer, in bytes; nil as long as no change was told.
    public func receivedDataLength(of handle: UInt16) -> UInt16? { links[handle]?.receivedDataLength }

    /// The timing in force on a connection; nil where there is none.
    public func timing(of handle: UInt16) -> ConnectionTiming? { links[handle]?.timing }

    /// The signal strength of a connection's peer in dBm, as it was read last; nil before that.
    public func rssi(of handle: UInt16) -> Int8? { links[handle]?.rssi }

    /// Asks the controller for the signal strength of a connection's peer, unless that was done within `life`.
    ///
    /// A controller that does not answer is not asked again.
    public mutating func readRSSI(of handle: UInt16, life: Duration, now: Duration) {
        guard isReady, let link = links[handle], link.disconnectDeadline == nil else { return }
        if let asked = link.rssiAsked, now - asked < life { return }
        links[handle]?.rssiAsked = now
        requestOptional(.readRSSI(handle: handle), .readRSSI, handle)
    }

    /// Takes the answer to a command that the link goes on without.
    mutating func takeOptional(_ outcome: HCICommandQueue.Outcome, of handle: UInt16) {
        guard case .completed(.readRSSI, let returned) = outcome else { return }
        do throws(DecodingError) {
            links[handle]?.rssi = try HCIReturn.rssi(returned.span, of: handle)
        } catch {
            counters.badPackets &+= 1
        }
    }
}
