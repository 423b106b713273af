// SPDX-License-Identifier: GPL-2.0-or-later

import CMbedTLS

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
