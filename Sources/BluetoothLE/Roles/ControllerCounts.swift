// SPDX-License-Identifier: GPL-2.0-or-later

/// The counts of what was done so that a controller goes on.
///
/// All but the last stay 0 on an adapter of the kernel, which does such things by itself.
package struct ControllerCounts: Equatable, Sendable {
    /// The times that a silent controller in use was asked whether it is there.
    package var probes: UInt64 = 0
    /// The times that Reset was sent again because the one before was not answered.
    package var repeatedResets: UInt64 = 0
    /// The connections that could not be established (0x3E), and were tried again.
    package var repeatedConnections: UInt64 = 0
    /// The bytes on a line that came before the answer to Reset, and were dropped.
    package var droppedBytes: UInt64 = 0
    /// The peers' wishes for other connection parameters that were granted, as a whole or in part.
    package var grantedParameters: UInt64 = 0
    /// The peers' wishes for other connection parameters that were refused.
    package var refusedParameters: UInt64 = 0
    /// The L2CAP frames that were broken, or too long to be a value.
    package var badFrames: UInt64 = 0
    /// The links that were ended because they had come up as their attempt was given up and the kernel knew nothing of
    /// them.
    package var crossedLinks: UInt64 = 0

    /// Counts of nothing.
    package init() {}

    /// Adds the counts of another controller.
    mutating func add(_ other: ControllerCounts) {
        probes &+= other.probes
        repeatedResets &+= other.repeatedResets
        repeatedConnections &+= other.repeatedConnections
        droppedBytes &+= other.droppedBytes
        grantedParameters &+= other.grantedParameters
        refusedParameters &+= other.refusedParameters
        badFrames &+= other.badFrames
        crossedLinks &+= other.crossedLinks
    }
}
