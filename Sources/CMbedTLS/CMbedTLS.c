// SPDX-License-Identifier: GPL-2.0-or-later

#include "CMbedTLS.h"

#include <mbedtls/aes.h>
#include <mbedtls/bignum.h>
#include <mbedtls/cipher.h>
#include <mbedtls/cmac.h>
#include <mbedtls/ecp.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/version.h>
#include <string.h>

/// An uncompressed point: 4, X, Y.
enum { POINT_LENGTH = 65 };

const char *cmbedtls_version(void) {
    return MBEDTLS_VERSION_STRING;
}

int cmbedtls_aes128(const uint8_t key[16], const uint8_t block[16], uint8_t result[16]) {
    mbedtls_aes_context context;
    mbedtls_aes_init(&context);
    int outcome = mbedtls_aes_setkey_enc(&context, key, 128);
    if (outcome == 0) outcome = mbedtls_aes_crypt_ecb(&context, MBEDTLS_AES_ENCRYPT, block, result);
    mbedtls_aes_free(&context);
    return outcome;
}

int cmbedtls_cmac(const uint8_t key[16], const uint8_t *message, size_t length, uint8_t result[16]) {
    const mbedtls_cipher_info_t *cipher = mbedtls_cipher_info_from_type(MBEDTLS_CIPHER_AES_128_ECB);
    return mbedtls_cipher_cmac(cipher, key, 128, message ? message : key, length, result);
}

/// A stream of bytes that follows from a key: AES-128 of a counter.
struct stream {
    uint8_t key[16];
    uint8_t counter[16];
};

static int next_bytes(void *context, unsigned char *bytes, size_t length) {
    struct stream *stream = context;
    while (length > 0) {
        uint8_t block[16];
        size_t count = length < sizeof block ? length : sizeof block;
        for (size_t index = 0; index < sizeof stream->counter && ++stream->counter[index] == 0; index++) continue;
        int outcome = cmbedtls_aes128(stream->key, stream->counter, block);
        if (outcome != 0) return outcome;
        memcpy(bytes, block, count);
        bytes += count;
        length -= count;
    }
    return 0;
}

/// What is wrong with a key that mbedTLS refused, or its own error.
static int refusal(int outcome) {
    return outcome == MBEDTLS_ERR_ECP_INVALID_KEY || outcome == MBEDTLS_ERR_ECP_BAD_INPUT_DATA ? CMBEDTLS_REFUSED
                                                                                              : outcome;
}

static int read_point(const mbedtls_ecp_group *group, const uint8_t key[64], mbedtls_ecp_point *point) {
    uint8_t bytes[POINT_LENGTH] = {4};
    memcpy(bytes + 1, key, 64);
    int outcome = mbedtls_ecp_point_read_binary(group, point, bytes, sizeof bytes);
    if (outcome == 0) outcome = mbedtls_ecp_check_pubkey(group, point);
    return refusal(outcome);
}

/// Multiplies a point with a private key; the generator where `key` is null.
static int multiply(const uint8_t secret[32], const uint8_t *key, const uint8_t blinding[16],
                    uint8_t product[POINT_LENGTH]) {
    mbedtls_ecp_group group;
    mbedtls_ecp_point point, result;
    mbedtls_mpi scalar;
    struct stream stream = {{0}, {0}};
    memcpy(stream.key, blinding, sizeof stream.key);
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&point);
    mbedtls_ecp_point_init(&result);
    mbedtls_mpi_init(&scalar);
    int outcome = mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1);
    if (outcome == 0) outcome = key ? read_point(&group, key, &point) : mbedtls_ecp_copy(&point, &group.G);
    if (outcome == 0) outcome = mbedtls_mpi_read_binary(&scalar, secret, 32);
    if (outcome == 0) outcome = refusal(mbedtls_ecp_check_privkey(&group, &scalar));
    if (outcome == 0) outcome = mbedtls_ecp_mul(&group, &result, &scalar, &point, next_bytes, &stream);
    size_t length = 0;
    if (outcome == 0)
        outcome = mbedtls_ecp_point_write_binary(&group, &result, MBEDTLS_ECP_PF_UNCOMPRESSED, &length, product,
                                                 POINT_LENGTH);
    // The point at infinity has a single byte; it is no multiple of a point of this curve by 1 … n-1.
    if (outcome == 0 && length != POINT_LENGTH) outcome = CMBEDTLS_REFUSED;
    mbedtls_mpi_free(&scalar);
    mbedtls_ecp_point_free(&result);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    mbedtls_platform_zeroize(&stream, sizeof stream);
    return outcome;
}

int cmbedtls_p256_public(const uint8_t secret[32], const uint8_t blinding[16], uint8_t result[64]) {
    uint8_t product[POINT_LENGTH];
    int outcome = multiply(secret, NULL, blinding, product);
    if (outcome == 0) memcpy(result, product + 1, 64);
    return outcome;
}

int cmbedtls_p256_check(const uint8_t key[64]) {
    mbedtls_ecp_group group;
    mbedtls_ecp_point point;
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&point);
    int outcome = mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1);
    if (outcome == 0) outcome = read_point(&group, key, &point);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    return outcome;
}

int cmbedtls_p256_shared(const uint8_t secret[32], const uint8_t key[64], const uint8_t blinding[16],
                         uint8_t result[32]) {
    uint8_t product[POINT_LENGTH];
    int outcome = multiply(secret, key, blinding, product);
    if (outcome == 0) memcpy(result, product + 1, 32);
    mbedtls_platform_zeroize(product, sizeof product);
    return outcome;
}
