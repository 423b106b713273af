// SPDX-License-Identifier: GPL-2.0-or-later

#ifndef BLEWEDGE_CREFERENCE_RING_H
#define BLEWEDGE_CREFERENCE_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "CReference.h"

// A ring. The cache line of each side holds its own counter and the value of the other side's that it last read.
struct cref_ring {
    alignas(128) _Atomic size_t tail;
    size_t seen_head;
    alignas(128) _Atomic size_t head;
    size_t seen_tail;
    alignas(128) _Atomic bool sleeps;
    alignas(128) size_t mask;
    uint8_t *bytes;
};

// Copies up to 256 bytes by words that may overlap each other, more by memcpy.
static inline __attribute__((always_inline)) void cref_copy(uint8_t *to, const uint8_t *from, size_t count) {
    typedef uint8_t vector __attribute__((vector_size(16)));
    if (count >= 16) {
        if (count > 256) {
            memcpy(to, from, count);
            return;
        }
        vector part;
        for (size_t at = 0; at < count - 16; at += 16) {
            memcpy(&part, from + at, 16);
            memcpy(to + at, &part, 16);
        }
        memcpy(&part, from + count - 16, 16);
        memcpy(to + count - 16, &part, 16);
    } else if (count >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + count - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + count - 8, &last, 8);
    } else if (count >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + count - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + count - 4, &last, 4);
    } else {
        for (size_t at = 0; at < count; at++) to[at] = from[at];
    }
}

static inline __attribute__((always_inline)) bool cref_has_room(cref_ring *ring, size_t tail, size_t count) {
    if (ring->mask + 1 - (tail - ring->seen_head) >= count) return true;
    ring->seen_head = atomic_load_explicit(&ring->head, memory_order_acquire);
    return ring->mask + 1 - (tail - ring->seen_head) >= count;
}

static inline __attribute__((always_inline)) void cref_put(cref_ring *ring, size_t at, const uint8_t *from, size_t count) {
    size_t offset = at & ring->mask, until_end = ring->mask + 1 - offset;
    if (count <= until_end) {
        cref_copy(ring->bytes + offset, from, count);
    } else {
        cref_copy(ring->bytes + offset, from, until_end);
        cref_copy(ring->bytes, from + until_end, count - until_end);
    }
}

static inline __attribute__((always_inline)) void cref_get(cref_ring *ring, size_t at, uint8_t *to, size_t count) {
    size_t offset = at & ring->mask, until_end = ring->mask + 1 - offset;
    if (count <= until_end) {
        cref_copy(to, ring->bytes + offset, count);
    } else {
        cref_copy(to, ring->bytes + offset, until_end);
        cref_copy(to + until_end, ring->bytes, count - until_end);
    }
}

static inline __attribute__((always_inline)) bool cref_push(cref_ring *ring, const uint8_t *from, size_t count) {
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (!cref_has_room(ring, tail, count)) return false;
    cref_put(ring, tail, from, count);
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
    return true;
}

static inline __attribute__((always_inline)) size_t cref_pop(cref_ring *ring, uint8_t *to, size_t wanted) {
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (ring->seen_tail - head < wanted) ring->seen_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t count = ring->seen_tail - head;
    if (count > wanted) count = wanted;
    if (count == 0) return 0;
    cref_get(ring, head, to, count);
    atomic_store_explicit(&ring->head, head + count, memory_order_release);
    return count;
}

#endif
