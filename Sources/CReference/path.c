// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdlib.h>
#include <unistd.h>

#include "encoder.h"
#include "ring.h"

struct cref_path {
    cref_ring *ring;
    cref_encoder *encoder;
    int fd;
    // Orders of other threads: bytes received until a time are not typed, nor those of links until a number; CapsLock is on.
    alignas(128) _Atomic int64_t refused_through;
    _Atomic uint32_t dropped_through;
    _Atomic bool caps_lock;
    // The account: one thread counts the received bytes, the other what became of them.
    alignas(128) _Atomic uint64_t received;
    bool is_missing; // whether records were lost after the last one
    alignas(128) _Atomic uint64_t typed;
    _Atomic uint64_t discarded, refused, dropped, too_old;
};

struct header {
    uint32_t length, link;
    int64_t time;
};

enum { lost_before = 1u << 31 }; // in the length of a record: others before it were lost
static const int64_t greatest_age = 5000000000, line_end_time = 100000000, barcode_gap = 100000000;

cref_path *cref_path_create(size_t capacity, int fd) {
    cref_path *path = aligned_alloc(128, sizeof *path);
    if (path == NULL) return NULL;
    memset(path, 0, sizeof *path);
    path->fd = fd;
    atomic_store(&path->refused_through, INT64_MIN);
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

// Pushes one record; false when it does not fit now.
static inline __attribute__((always_inline)) bool produce(cref_path *path, const uint8_t *bytes, size_t chunk) {
    cref_ring *ring = path->ring;
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    struct header header = {(uint32_t)chunk | (path->is_missing ? lost_before : 0), 1, cref_now()};
    if (!cref_has_room(ring, tail, sizeof header + chunk)) return false;
    add(&path->received, chunk);
    cref_put(ring, tail, (const uint8_t *)&header, sizeof header);
    cref_put(ring, tail + sizeof header, bytes, chunk);
    atomic_store_explicit(&ring->tail, tail + sizeof header + chunk, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    // A program would wake the other thread here; this consumer spins, as the others do.
    if (atomic_load_explicit(&ring->sleeps, memory_order_relaxed)) {
        atomic_exchange_explicit(&ring->sleeps, false, memory_order_seq_cst);
    }
    return true;
}

// Outcome of the byte before a place.
enum outcome { none, is_typed, is_refused };

// The place in the ring up to which records were consumed, the record that is begun, and the byte before it.
struct place {
    size_t head, seen, left;
    struct header record, before;
    enum outcome outcome;
    int64_t free, stale_before; // what came before has waited for too long while nothing was typed
};

// Returns the counter that refuses the next bytes, or NULL. A barcode that was begun is finished however old it grows; the
// rest of a refused one is refused.
static __attribute__((noinline)) _Atomic uint64_t *refusal(cref_path *path, const struct place *at, uint8_t last,
                                                           bool is_start) {
    if (at->record.time <= atomic_load_explicit(&path->refused_through, memory_order_acquire)) return &path->refused;
    if (at->record.link <= atomic_load_explicit(&path->dropped_through, memory_order_acquire)) return &path->dropped;
    bool is_gap = at->record.link != at->before.link || at->record.time - at->before.time > barcode_gap;
    if (at->outcome == none || last == '\r' || last == '\n' || last == '\t' || (is_start && is_gap)) {
        return at->record.time < at->stale_before ? &path->too_old : NULL;
    }
    return at->outcome == is_refused ? &path->too_old : NULL;
}

// The bytes of a record up to and with the end of a barcode.
static size_t barcode_length(const uint8_t *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (bytes[index] == '\r' || bytes[index] == '\n' || bytes[index] == '\t') return index + 1;
    }
    return count;
}

// Types all that waits in the ring, one write a batch; returns the bytes taken.
static inline __attribute__((always_inline)) size_t consume(cref_path *path, struct place *at, struct cref_state *state) {
    cref_ring *ring = path->ring;
    cref_encoder *encoder = path->encoder;
    int64_t now = cref_now();
    if (now - at->free > greatest_age) at->stale_before = now - greatest_age;
    at->free = now;
    int64_t border = atomic_load_explicit(&path->refused_through, memory_order_acquire);
    if (at->stale_before > border) border = at->stale_before;
    uint32_t dropped_through = atomic_load_explicit(&path->dropped_through, memory_order_acquire);
    const struct cref_rows *rows = &encoder->rows[atomic_load_explicit(&path->caps_lock, memory_order_relaxed)];
    size_t taken = 0, refused = 0;
    bool full = false;
    state->discarded = 0;
    while (!full) {
        bool is_start = at->left == 0;
        if (is_start) {
            if (at->seen == at->head) at->seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
            if (at->seen == at->head) break;
            at->before = at->record;
            cref_get(ring, at->head, (uint8_t *)&at->record, sizeof at->record);
            at->head += sizeof at->record;
            at->left = at->record.length & ~lost_before;
            // A line feed belongs to a carriage return before it on the same link, in time, and with nothing lost between.
            if (at->record.link != at->before.link || at->record.time - at->before.time > line_end_time ||
                at->record.length & lost_before) {
                state->last = 0;
            }
        }
        size_t offset = at->head & ring->mask, until_end = ring->mask + 1 - offset;
        size_t count = at->left < until_end ? at->left : until_end;
        _Atomic uint64_t *refuses = NULL;
        if (at->record.time <= border || at->record.link <= dropped_through || at->outcome == is_refused) {
            refuses = refusal(path, at, state->last, is_start);
        }
        if (refuses == NULL) {
            size_t typed = cref_type(encoder, rows, state, ring->bytes + offset, count);
            full = typed < count;
            count = typed;
            taken += typed;
            at->outcome = is_typed;
        } else {
            if (taken > 0) break;
            count = barcode_length(ring->bytes + offset, count);
            add(refuses, count);
            refused += count;
            state->last = ring->bytes[offset + count - 1];
            at->outcome = is_refused;
        }
        at->head += count;
        at->left -= count;
    }
    size_t bytes = cref_finish(encoder, state);
    // A program would count those as lost whose keystrokes the device did not take; this one has no such device.
    if (bytes > 0 && write(path->fd, cref_batch(encoder), bytes) != (ssize_t)bytes) abort();
    state->end = 0;
    add(&path->typed, taken - state->discarded);
    if (state->discarded > 0) add(&path->discarded, state->discarded);
    atomic_store_explicit(&ring->head, at->head, memory_order_release);
    return taken + refused;
}

static struct place start(cref_path *path) {
    size_t head = atomic_load_explicit(&path->ring->head, memory_order_relaxed);
    return (struct place){.head = head, .seen = head, .free = cref_now(), .stale_before = INT64_MIN};
}

void cref_path_produce(cref_path *path, cref_pattern pattern, size_t chunk, size_t total) {
    for (size_t sent = 0; sent < total; sent += chunk) {
        while (!produce(path, pattern.bytes + (sent & (pattern.period - 1)), chunk)) cref_back_off();
    }
}

void cref_path_consume(cref_path *path, size_t total) {
    struct place at = start(path);
    struct cref_state state = {0};
    for (size_t done = 0; done < total;) {
        size_t taken = consume(path, &at, &state);
        done += taken;
        if (taken == 0) {
            atomic_store_explicit(&path->ring->sleeps, true, memory_order_seq_cst);
            cref_back_off();
        }
    }
}

void cref_path_turns(cref_path *path, cref_pattern pattern, size_t chunk, size_t burst, size_t turns) {
    struct place at = start(path);
    struct cref_state state = {0};
    size_t sent = 0;
    for (size_t turn = 0; turn < turns; turn++) {
        for (size_t record = 0; record < burst; record++, sent += chunk) {
            produce(path, pattern.bytes + (sent & (pattern.period - 1)), chunk);
        }
        while (consume(path, &at, &state) > 0) {}
        atomic_store_explicit(&path->ring->sleeps, true, memory_order_seq_cst);
    }
}
