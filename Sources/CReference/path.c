// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdlib.h>
#include <unistd.h>

#include "encoder.h"
#include "ring.h"

struct cref_path {
    cref_ring *ring;
    cref_encoder *encoder;
    int fd;
    // The counters of a careful program: one thread counts the received bytes, the other the typed ones.
    alignas(128) _Atomic uint64_t received;
    alignas(128) _Atomic uint64_t typed;
    _Atomic uint64_t lost;
};

struct header {
    uint32_t length, link;
    int64_t time;
};

cref_path *cref_path_create(size_t capacity, int fd) {
    cref_path *path = aligned_alloc(128, sizeof *path);
    if (path == NULL) return NULL;
    memset(path, 0, sizeof *path);
    path->fd = fd;
    path->ring = cref_ring_create(capacity);
    path->encoder = cref_encoder_create();
    if (path->ring == NULL || path->encoder == NULL) abort();
    return path;
}

void cref_path_destroy(cref_path *path) {
    cref_ring_destroy(path->ring);
    cref_encoder_destroy(path->encoder);
    free(path);
}

static void add(_Atomic uint64_t *counter, uint64_t count) {
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + count, memory_order_release);
}

void cref_path_produce(cref_path *path, cref_pattern pattern, size_t chunk, size_t total) {
    cref_ring *ring = path->ring;
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (size_t sent = 0; sent < total; sent += chunk) {
        struct header header = {(uint32_t)chunk, 1, cref_now()};
        add(&path->received, chunk);
        while (!cref_has_room(ring, tail, sizeof header + chunk)) cref_back_off();
        cref_put(ring, tail, (const uint8_t *)&header, sizeof header);
        cref_put(ring, tail + sizeof header, pattern.bytes + (sent & (pattern.period - 1)), chunk);
        tail += sizeof header + chunk;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        // A program would wake the other thread here; this consumer spins, as the others do.
        if (atomic_load_explicit(&ring->sleeps, memory_order_relaxed)) {
            atomic_exchange_explicit(&ring->sleeps, false, memory_order_seq_cst);
        }
    }
}

void cref_path_consume(cref_path *path, size_t total) {
    const int64_t greatest_age = 5000000000;
    cref_ring *ring = path->ring;
    cref_encoder *encoder = path->encoder;
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    size_t seen = head, done = 0, left = 0;
    bool too_old = false;
    struct cref_state state = {0};
    while (done < total) {
        int64_t now = cref_now();
        size_t typed = 0, lost = 0;
        bool full = false;
        while (!full) {
            if (left == 0) {
                if (seen == head) seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
                if (seen == head) break;
                struct header header;
                cref_get(ring, head, (uint8_t *)&header, sizeof header);
                head += sizeof header;
                left = header.length;
                too_old = now - header.time > greatest_age;
            }
            size_t offset = head & ring->mask, until_end = ring->mask + 1 - offset;
            size_t count = left < until_end ? left : until_end;
            if (too_old) {
                lost += count;
            } else {
                size_t taken = cref_type(encoder, &state, ring->bytes + offset, count);
                full = taken < count;
                count = taken;
                typed += taken;
            }
            head += count;
            left -= count;
        }
        size_t bytes = cref_finish(encoder, &state);
        if (bytes > 0 && write(path->fd, cref_batch(encoder), bytes) != (ssize_t)bytes) abort();
        state.end = 0;
        add(&path->typed, typed);
        if (lost > 0) add(&path->lost, lost);
        atomic_store_explicit(&ring->head, head, memory_order_release);
        done += typed + lost;
        if (typed + lost == 0) {
            atomic_store_explicit(&ring->sleeps, true, memory_order_seq_cst);
            cref_back_off();
        }
    }
}
