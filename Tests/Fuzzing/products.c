// SPDX-License-Identifier: GPL-2.0-or-later

// Remembers products on the curve P-256: a pairing computes four, they take nearly all of its time, and the private keys of
// the targets are few. The linker gives the calls of the product to these functions (`--wrap`).

#include <stdint.h>
#include <string.h>

enum { PLACES = 1 << 14 };

/// A multiplication that was done: `secret` times the point `key`, or times the generator where `key` is all zero.
struct product {
    uint8_t secret[32];
    uint8_t key[64];
    uint8_t result[64];
    int outcome;
    int isKnown;
};

static struct product products[PLACES];

/// The product in its place (FNV-1a); `isKnown` is 0 unless it is that of `secret` and `key`.
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
    // The point of zeros is on no curve: its place is the generator's.
    if (memcmp(key, (const uint8_t[64]){0}, 64) == 0) return __real_cmbedtls_p256_shared(secret, key, blinding, result);
    struct product *product = find(secret, key);
    if (!product->isKnown) {
        product->outcome = __real_cmbedtls_p256_shared(secret, key, blinding, product->result);
        product->isKnown = 1;
    }
    memcpy(result, product->result, 32);
    return product->outcome;
}
