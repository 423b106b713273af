// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothAdapters

/// A change of a connection.
public enum ConnectionEvent: Hashable, Sendable {
    /// The connection is ready, and the subscriptions of earlier connections are renewed.
    case connected
    /// The connection ended for this reason.
    case disconnected(DisconnectReason)
}
