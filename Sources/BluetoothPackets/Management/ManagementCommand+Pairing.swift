// SPDX-License-Identifier: GPL-2.0-or-later

/// What a device can show and be told at a pairing.
///
/// Core 6.0, Vol 3, Part H, 2.3.2; the numbers are those of the management protocol too.
public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
    /// It shows a number.
    case displayOnly = 0
    /// It shows a number, and is told yes or no.
    case displayYesNo = 1
    /// It is told a number.
    case keyboardOnly = 2
    /// Neither: Just Works.
    case noInputNoOutput = 3
    /// It shows a number, and is told one.
    case keyboardDisplay = 4
}

extension ManagementCommand {
    /// Set Bondable: whether pairings leave keys; returns `ManagementReturn.settings`.
    public static func setBondable(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setBondable, index, [isOn ? 1 : 0])
    }

    /// Set Secure Simple Pairing, without which a controller with BR/EDR refuses Secure Connections; returns
    /// `ManagementReturn.settings`.
    public static func setSecureSimplePairing(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setSecureSimplePairing, index, [isOn ? 1 : 0])
    }

    /// Set Secure Connections: preferred where it is on, and legacy pairing is possible still; returns
    /// `ManagementReturn.settings`.
    public static func setSecureConnections(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setSecureConnections, index, [isOn ? 1 : 0])
    }

    /// Set IO Capability.
    public static func setIOCapability(_ index: ControllerIndex, _ capability: IOCapability) -> ManagementCommand {
        ManagementCommand(.setIOCapability, index, [capability.rawValue])
    }

    /// Load Long Term Keys: these, and no other, are the kernel's for this controller from now on.
    public static func loadLongTermKeys(
        _ index: ControllerIndex,
        _ keys: [ManagementLongTermKey]
    ) -> ManagementCommand {
        var writer = ByteWriter(reservingCapacity: 2 + 36 * keys.count)
        writer.write(UInt16(truncatingIfNeeded: keys.count))
        for key in keys { key.write(to: &writer) }
        return ManagementCommand(.loadLongTermKeys, index, writer.bytes)
    }

    /// Load Identity Resolving Keys: these, and no other, are the kernel's for this controller from now on.
    public static func loadIdentityResolvingKeys(
        _ index: ControllerIndex,
        _ keys: [ManagementResolvingKey]
    ) -> ManagementCommand {
        var writer = ByteWriter(reservingCapacity: 2 + 23 * keys.count)
        writer.write(UInt16(truncatingIfNeeded: keys.count))
        for key in keys { key.write(to: &writer) }
        return ManagementCommand(.loadIdentityResolvingKeys, index, writer.bytes)
    }

    /// Pair Device: connects where there is no link, and pairs; returns `ManagementReturn.device`, the identity where it
    /// is known.
    public static func pairDevice(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ capability: IOCapability
    ) -> ManagementCommand {
        about(.pairDevice, index, device, [capability.rawValue])
    }

    /// Cancel Pair Device: ends a Pair Device that has not ended yet.
    public static func cancelPairDevice(_ index: ControllerIndex, _ device: ManagementAddress) -> ManagementCommand {
        about(.cancelPairDevice, index, device)
    }

    /// Unpair Device: the kernel forgets the device's keys; `disconnects` ends a link too.
    public static func unpairDevice(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        disconnects: Bool
    ) -> ManagementCommand {
        about(.unpairDevice, index, device, [disconnects ? 1 : 0])
    }

    /// User Confirmation Reply or User Confirmation Negative Reply, the answer to a User Confirmation Request.
    public static func userConfirmationReply(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        accepts: Bool
    ) -> ManagementCommand {
        about(accepts ? .userConfirmationReply : .userConfirmationNegativeReply, index, device)
    }

    /// User Passkey Reply, or without a passkey User Passkey Negative Reply, the answer to a User Passkey Request.
    public static func userPasskeyReply(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ passkey: UInt32?
    ) -> ManagementCommand {
        guard let passkey else { return about(.userPasskeyNegativeReply, index, device) }
        var writer = ByteWriter()
        writer.write(passkey)
        return about(.userPasskeyReply, index, device, writer.bytes)
    }

    private static func about(
        _ opcode: ManagementOpcode,
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ rest: [UInt8] = []
    ) -> ManagementCommand {
        var writer = ByteWriter()
        device.write(to: &writer)
        writer.write(rest)
        return ManagementCommand(opcode, index, writer.bytes)
    }
}
