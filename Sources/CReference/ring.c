// SPDX-License-Identifier: GPL-2.0-or-later

#include "ring.h"

#include <stdlib.h>

cref_ring *cref_ring_create(size_t capacity) {
    cref_ring *ring = aligned_alloc(128, sizeof *ring);
    if (ring == NULL) return NULL;
    memset(ring, 0, sizeof *ring);
    ring->mask = capacity - 1;
    ring->bytes = aligned_alloc(128, capacity < 128 ? 128 : capacity);
    if (ring->bytes == NULL) {
        free(ring);
        return NULL;
    }
    memset(ring->bytes, 0, capacity);
    return ring;
}

void cref_ring_destroy(cref_ring *ring) {
    free(ring->bytes);
    free(ring);
}

// The compiler knows the length of a chunk in none of the compared implementations. The popped bytes have a cache
// line of their own.
void cref_ring_produce(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total) {
    for (size_t sent = 0; sent < total; sent += chunk) {
        const uint8_t *from = pattern.bytes + (sent & (pattern.period - 1));
        while (!cref_push(ring, from, chunk)) cref_back_off();
    }
}

size_t cref_ring_consume(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total, bool check) {
    alignas(128) uint8_t target[256];
    size_t faults = 0;
    for (size_t received = 0; received < total;) {
        size_t count = cref_pop(ring, target, chunk);
        if (count == 0) {
            cref_back_off();
            continue;
        }
        __asm__ volatile("" : : "r"(target) : "memory");
        if (check && memcmp(target, pattern.bytes + (received & (pattern.period - 1)), count) != 0) faults++;
        received += count;
    }
    return faults;
}

void cref_ring_turns(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total) {
    alignas(128) uint8_t target[256];
    for (size_t sent = 0; sent < total; sent += chunk) {
        cref_push(ring, pattern.bytes + (sent & (pattern.period - 1)), chunk);
        cref_pop(ring, target, chunk);
        __asm__ volatile("" : : "r"(target) : "memory");
    }
}
