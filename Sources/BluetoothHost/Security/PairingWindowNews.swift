// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The news of a time in which a central may pair with this host.
public enum PairingWindowNews: Equatable, Sendable {
    /// The user is to answer.
    case ask(ManagedPairing.Question, of: DeviceAddress)
    /// The user is to enter this number at the central.
    case show(passkey: UInt32, at: DeviceAddress)
    /// A central's pairing gave no bond, and its question is settled; another central may pair.
    case failed(DeviceAddress, ManagedPairing.Failure)
    /// The kernel has refused what the window needs: nobody can pair.
    case refused(ManagementOpcode, ManagementStatus)
    /// The window is closed: by the bond that is given here, which its owner has to keep, or with nil by its limit.
    case ended(Bond?)
}
