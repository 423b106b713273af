// SPDX-License-Identifier: GPL-2.0-or-later
//
// A C interface to the few functions of mbedTLS (libmbedtls-dev, 2.28 and 3.6) that pairing needs. Every number is
// written most significant byte first. No function makes a system call or takes random numbers from anywhere but its
// arguments.

#ifndef BLEWEDGE_CMBEDTLS_H
#define BLEWEDGE_CMBEDTLS_H

#include <stddef.h>
#include <stdint.h>

/// The outcomes of a function.
///
/// Every other value is an error of mbedTLS: there was no memory.
enum cmbedtls_outcome {
    CMBEDTLS_SUCCESS = 0,
    /// The private key is not in 1 … n-1, or the public key is no point of the curve.
    CMBEDTLS_REFUSED = 1,
};

/// The version of mbedTLS that is linked in, such as `2.28.3`.
const char *cmbedtls_version(void);

/// Encrypts one block with AES-128.
///
/// FIPS 197.
int cmbedtls_aes128(const uint8_t key[16], const uint8_t block[16], uint8_t result[16]);

/// The AES-CMAC of a message.
///
/// RFC 4493.
int cmbedtls_cmac(const uint8_t key[16], const uint8_t *message, size_t length, uint8_t result[16]);

/// The public key, X and Y, of a private key on P-256.
///
/// `blinding` is 16 random bytes, which hide the private key from who measures time.
int cmbedtls_p256_public(const uint8_t secret[32], const uint8_t blinding[16], uint8_t result[64]);

/// Refuses a public key that is no point of P-256.
int cmbedtls_p256_check(const uint8_t key[64]);

/// The X coordinate of the product of a private key and the public key of another, which must be a point of P-256.
///
/// `blinding` is as for `cmbedtls_p256_public`.
int cmbedtls_p256_shared(const uint8_t secret[32], const uint8_t key[64], const uint8_t blinding[16],
                         uint8_t result[32]);

#endif
