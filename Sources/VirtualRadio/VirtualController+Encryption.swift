// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Encryption as hosts see it: who has the key gets the data. Nothing is ciphered.
extension VirtualController {
    /// LE Enable Encryption: the central's.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.24.
    func enableEncryption(_ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        let random = try parameters.readUInt64()
        let diversifier = try parameters.readUInt16()
        let key = try readKey(&parameters)
        guard role == .central, link.encryption == nil else { throw .disallowed }
        try add(.encrypt(key: key, random: random, diversifier: diversifier), link, role)
    }

    /// LE Long Term Key Request Reply.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.25.
    func replyWithKey(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        try answerKeyRequest(link, role, try readKey(&parameters))
        return Self.bytes(link[role].handle)
    }

    /// LE Long Term Key Request Negative Reply.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.26.
    func refuseKey(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        try answerKeyRequest(link, role, nil)
        return Self.bytes(link[role].handle)
    }

    private func readKey(_ parameters: inout CommandParameters) throws(Refusal) -> UInt128 {
        let low = try parameters.readUInt64()
        return UInt128(try parameters.readUInt64()) &<< 64 | UInt128(low)
    }

    private func answerKeyRequest(_ link: Link, _ role: ConnectionRole, _ key: UInt128?) throws(Refusal) {
        guard role == .peripheral, link.encryption?.isAsked == true else { throw .disallowed }
        link.encryption?.isAsked = false
        try add(.startEncryption(key: key), link, role)
    }

    // MARK: Events

    /// LE Long Term Key Request; false when the host does not want to be asked.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.5.
    func emitKeyRequest(handle: UInt16, random: UInt64, diversifier: UInt16) -> Bool {
        guard isWanted(.longTermKeyRequest) else { return false }
        var writer = ByteWriter()
        writer.write(handle)
        writer.write(random)
        writer.write(diversifier)
        emit(.longTermKeyRequest, writer.bytes)
        return true
    }

    /// Encryption Change, or Encryption Key Refresh Complete.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.8 and 7.7.39.
    func emitEncryption(handle: UInt16, _ status: HCIStatus, isRefresh: Bool) {
        let isOn: [UInt8] = status == .success ? [1] : [0]
        emit(
            event: isRefresh ? HCIEvent.Code.encryptionKeyRefreshComplete : HCIEvent.Code.encryptionChange,
            [status.rawValue] + Self.bytes(handle) + (isRefresh ? [] : isOn)
        )
    }
}
