// SPDX-License-Identifier: GPL-2.0-or-later
//
// The data path as a C programmer would write it by hand, to measure ours against: ring, encoder, and the two together
// between two threads. It shares nothing with the product and is used by nothing but measurements.

#ifndef BLEWEDGE_CREFERENCE_H
#define BLEWEDGE_CREFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One turn of a spinning thread.
static inline void cref_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

// What a thread does when the ring is empty or full: 16 turns, for every contender alike.
static inline void cref_back_off(void) {
    for (int turn = 0; turn < 16; turn++) cref_pause();
}

// The ring: one producer, one consumer, bytes, a power of two.
typedef struct cref_ring cref_ring;
cref_ring *cref_ring_create(size_t capacity);
void cref_ring_destroy(cref_ring *ring);

// The bytes that are sent: `period` of them again and again, followed by as many as one chunk may reach beyond.
typedef struct {
    const uint8_t *bytes;
    size_t period; // a power of two
} cref_pattern;

// Pushes `total` bytes (a multiple of `chunk`) in chunks.
void cref_ring_produce(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total);
// Pops `total` bytes, at most `chunk` at a time; answers how many pops were not what the pattern says (0 unless asked).
size_t cref_ring_consume(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total, bool check);
// Both in one thread.
void cref_ring_turns(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total);

// The encoder: US layout, printable ASCII, Tab, Backspace, CR, LF and CR LF as one Enter; Shift held over a run.
// A batch, and so a write, has what fits in 16 KiB, as in the product.
enum { cref_batch_events = 16384 / 24 };
typedef struct cref_encoder cref_encoder;
cref_encoder *cref_encoder_create(void);
void cref_encoder_destroy(cref_encoder *encoder);
// Encodes into the encoder's batch, from its beginning; answers the bytes of events. `*taken` input bytes fitted.
size_t cref_encode(cref_encoder *encoder, const uint8_t *input, size_t count, size_t *taken);
const uint8_t *cref_encoder_output(const cref_encoder *encoder);
// Encodes all of `input` in blocks; answers the bytes of events.
size_t cref_encode_blocks(cref_encoder *encoder, const uint8_t *input, size_t count, size_t block);

// An encoder's loads and stores alone, in blocks of at most 64 bytes: no limit, no account, no line feed absorbed, no Shift
// released or held over what types nothing. What an encoder that stores each key's words can hardly fall below.
size_t cref_store_blocks(const cref_encoder *encoder, const uint8_t *input, size_t count, size_t block);

// Copies `count` times `lengths[i]` bytes from one place to the other with memcpy.
size_t cref_copy_blocks(uint8_t *to, const uint8_t *from, const uint32_t *lengths, size_t count);

// The whole path: records (length, link, time, bytes) through a ring with a sleeper's flag, aged, encoded, written to
// `fd`, counted.
typedef struct cref_path cref_path;
cref_path *cref_path_create(size_t capacity, int fd);
void cref_path_destroy(cref_path *path);
void cref_path_produce(cref_path *path, cref_pattern pattern, size_t chunk, size_t total);
void cref_path_consume(cref_path *path, size_t total);

// The thread that calls: bound to one processor (the n-th of those that the process may use; false where it has none),
// and how often it was made to wait.
bool cref_pin_thread(int processor);
int cref_processors(void);
long cref_preemptions(void);
// The processor's time that this thread has used, and the time, in nanoseconds.
int64_t cref_now(void);

// The time that one cache line takes from one thread to another and back, halved, in nanoseconds: turns of one side.
void cref_bounce(uint64_t *line, uint64_t turns, bool first);

#endif
