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

/// The reason why a function of this module has no result.
public enum CryptographyError: Error, Hashable, Sendable {
    /// A private key outside 1 … n-1, or a public key that is no point of the curve.
    case keyRefused
    /// An error of the library, by its number: there was no memory.
    case library(Int32)

    /// Throws for every outcome but success.
    static func check(_ outcome: Int32) throws(CryptographyError) {
        switch UInt32(bitPattern: outcome) {
        case CMBEDTLS_SUCCESS.rawValue: return
        case CMBEDTLS_REFUSED.rawValue: throw .keyRefused
        default: throw .library(outcome)
        }
    }
}

/// The library that carries out the algorithms.
package enum CryptographyLibrary {
    /// Version of mbedTLS that is linked in, such as `2.28.3`.
    package static var version: String {
        // Sound: a constant text of the C code.
        unsafe String(cString: cmbedtls_version())
    }
}

extension UInt128 {
    /// The 16 bytes of the number, the most significant first.
    public var bytes: [UInt8] {
        stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self &>> UInt128($0)) }
    }

    /// The number that the bytes are, the most significant first; of more than 16 bytes the last 16.
    public init(bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 &<< 8 | UInt128($1) }
    }
}
