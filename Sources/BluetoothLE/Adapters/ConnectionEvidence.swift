// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The look for signs that the kernel has begun to make a connection, on the caller's clock.
///
/// The kernel takes a connect for done when it has put the device on its list, and begins with the next change of its own
/// passive scan. Where it believes that a discovery runs, as after another program's active scan (kernels from 6.12 on),
/// it begins never, and says nothing. What it does first, whatever its version, is a command: to scan for the devices of its
/// list, to put the device on the controller's, or to connect. So an answer to one of these is the sign.
///
/// The corresponding C functions are `hci_connect_le_scan` and `hci_update_passive_scan_sync`.
struct ConnectionEvidence: Sendable {
    /// What is to be done at a deadline.
    enum Step: Equatable, Sendable {
        /// Nothing before the next deadline.
        case wait
        /// End the discovery that the kernel believes to run.
        case endDiscovery
    }

    /// The time in which the kernel has to begin.
    static let limit = Duration.seconds(3)

    /// The time at which `check` is to be called; nil when a sign was seen, or nothing more can be done.
    private(set) var deadline: Duration?

    /// The look at a connection that the kernel was asked for now.
    init(now: Duration) {
        deadline = now + Self.limit
    }

    /// True when a sign was seen.
    private(set) var isBegun = false

    /// Takes an event packet, its indicator included, as a raw socket passes it.
    mutating func handle(_ packet: Span<UInt8>) {
        guard !isBegun, let event = try? HCIEvent(packet) else { return }
        switch event {
        case .commandComplete(_, let opcode, let returnParameters)
        where !returnParameters.isEmpty && returnParameters[0] == HCIStatus.success.rawValue:
            note(opcode)
        case .commandStatus(.success, _, let opcode): note(opcode)
        default: break
        }
    }

    private mutating func note(_ opcode: HCIOpcode) {
        switch opcode {
        case .leAddDeviceToFilterAcceptList, .leSetScanEnable, .leSetExtendedScanEnable, .leCreateConnection,
            .leExtendedCreateConnection:
            isBegun = true
            deadline = nil
        default: break
        }
    }

    /// Decides what is to be done now: once for each `limit` without a sign.
    mutating func check(now: Duration) -> Step {
        guard let deadline, now >= deadline else { return .wait }
        self.deadline = now + Self.limit
        return .endDiscovery
    }
}
