// SPDX-License-Identifier: GPL-2.0-or-later

import CMbedTLS

/// The library that carries out the algorithms.
package enum CryptographyLibrary {
    /// Version of mbedTLS that is linked in, such as `2.28.3`.
    package static var version: String {
        // Sound: a constant text of the C code.
        unsafe String(cString: cmbedtls_version())
    }
}
