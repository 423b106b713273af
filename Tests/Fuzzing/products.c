// SPDX-License-Identifier: GPL-2.0-or-later

// Caches scalar products on the curve P-256: each pairing computes four, which takes most of its time, but the targets
// use only a few private keys. The linker redirects the product's calls to these functions (`--wrap`).

#include <stdint.h>
#include <string.h>

enum { PLACES = 1 << 14 };

/// Cached multiplication of the point `key` by `secret`; if `key` is all zero, of the generator.
struct product {
    uint8_t secret[32];
    uint8_t key[64];
    uint8_t result[64];
    int outcome;
    int isKnown;
};

static struct product products[PLACES];

/// Returns the cache slot (FNV-1a).
///
/// Sets `isKnown` to 1 only if it contains the product of `secret` and `key`.
static struct product *find(const uint8_t secret[32], const uint8_t key[64]) {
    uint32_t hash = 2166136261;
    for (int index = 0; index < 32; index++) hash = (hash ^ secret[index]) * 16777619;
    for (int index = 0; index < 64; index++) hash = (hash ^ key[index]) * 16777619;
    struct product *product = &products[(hash ^ hash >> 16) % PLACES];
    int isSame = memcmp(product->secret, secret, 32) == 0 && memcmp(product->key, key, 64) == 0;
    if (!isSame) *product = (struct product){0};
    memcpy(product->secret, secret, 32);
    memcpy(product->key, key, 64);
    return product;
}

int __real_cmbedtls_p256_public(const uint8_t secret[32], const uint8_t blinding[16], uint8_t result[64]);
int __real_cmbedtls_p256_shared(const uint8_t secret[32], const uint8_t key[64], const uint8_t blinding[16],
                                uint8_t result[32]);

int __wrap_cmbedtls_p256_public(const uint8_t secret[32], const uint8_t blinding[16], uint8_t result[64]) {
    struct product *product = find(secret, (const uint8_t[64]){0});
    if (!product->isKnown) {
        product->outcome = __real_cmbedtls_p256_public(secret, blinding, product->result);
        product->isKnown = 1;
    }
    memcpy(result, product->result, 64);
    return product->outcome;
}

int __wrap_cmbedtls_p256_shared(const uint8_t secret[32], const uint8_t key[64], const uint8_t blinding[16],
                                uint8_t result[32]) {
    // Zero coordinates are not on the curve and denote the generator in the cache.
    if (memcmp(key, (const uint8_t[64]){0}, 64) == 0) return __real_cmbedtls_p256_shared(secret, key, blinding, result);
    struct product *product = find(secret, key);
    if (!product->isKnown) {
        product->outcome = __real_cmbedtls_p256_shared(secret, key, blinding, product->result);
        product->isKnown = 1;
    }
    memcpy(result, product->result, 32);
    return product->outcome;
}
