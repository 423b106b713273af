// SPDX-License-Identifier: GPL-2.0-or-later

import CMbedTLS

/// The block cipher AES with keys of 128 bits.
///
/// Keys and blocks are numbers: their first byte, as FIPS 197 writes them, is the most significant.
public enum AES128 {
    /// Encrypts one block.
    ///
    /// The security function e of Core 6.0, Vol 3, Part H, 2.2.1; FIPS 197.
    public static func encrypt(_ block: UInt128, key: UInt128) throws(CryptographyError) -> UInt128 {
        var result = [UInt8](repeating: 0, count: 16)
        try CryptographyError.check(unsafe cmbedtls_aes128(key.bytes, block.bytes, &result))
        return UInt128(bytes: result)
    }

    /// The authentication code AES-CMAC of a message of any length.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.5; RFC 4493.
    public static func cmac(_ message: [UInt8], key: UInt128) throws(CryptographyError) -> UInt128 {
        var result = [UInt8](repeating: 0, count: 16)
        try CryptographyError.check(unsafe cmbedtls_cmac(key.bytes, message, message.count, &result))
        return UInt128(bytes: result)
    }
}
