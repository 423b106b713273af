// SPDX-License-Identifier: GPL-2.0-or-later
//
// The data path in hand-written C, as a reference for measurements of the Swift one: the ring, the encoder, and both
// together between two threads. It shares nothing with the product, and only measurements use it.

#ifndef BLEWEDGE_CREFERENCE_H
#define BLEWEDGE_CREFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pauses the processor for one turn of a spinning thread.
static inline void cref_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

// The wait of a thread at an empty or full ring: 16 turns, the same in all implementations that are compared.
static inline void cref_back_off(void) {
    for (int turn = 0; turn < 16; turn++) cref_pause();
}

// A ring of bytes for one producer and one consumer; the capacity is a power of two.
typedef struct cref_ring cref_ring;
cref_ring *cref_ring_create(size_t capacity);
void cref_ring_destroy(cref_ring *ring);

// The bytes that are sent: `period` bytes, repeated. They are followed in memory by as many more as a chunk may reach
// beyond the period.
typedef struct {
    const uint8_t *bytes;
    size_t period; // a power of two
} cref_pattern;

// Pushes `total` bytes, a multiple of `chunk`, in chunks.
void cref_ring_produce(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total);
// Pops `total` bytes, at most `chunk` at a time. Returns the number of pops that differ from the pattern, 0 if
// `check` is false.
size_t cref_ring_consume(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total, bool check);
// Pushes and pops in turns, in one thread.
void cref_ring_turns(cref_ring *ring, cref_pattern pattern, size_t chunk, size_t total);

// An encoder of keystrokes: US layout with printable ASCII, Tab, Backspace, CR and LF as Enter, CR LF as one Enter,
// and Shift held down over several characters. A batch, which is one write, has at most 16 KiB, as in the product.
enum { cref_batch_events = 16384 / 24 };
typedef struct cref_encoder cref_encoder;
cref_encoder *cref_encoder_create(void);
void cref_encoder_destroy(cref_encoder *encoder);
// Encodes into the batch, from its beginning. Returns the bytes of events; `*taken` is the number of input bytes that
// fitted.
size_t cref_encode(cref_encoder *encoder, const uint8_t *input, size_t count, size_t *taken);
const uint8_t *cref_encoder_output(const cref_encoder *encoder);
// Encodes all of `input` in blocks; returns the bytes of events.
size_t cref_encode_blocks(cref_encoder *encoder, const uint8_t *input, size_t count, size_t block);

// The loads and stores of an encoder alone, in blocks of at most 64 bytes: without limit, counters, CR LF handling,
// and the release or holding of Shift. An encoder that stores the words of each key can hardly be faster.
size_t cref_store_blocks(const cref_encoder *encoder, const uint8_t *input, size_t count, size_t block);

// Copies `lengths[i]` bytes with memcpy, for each i below `count`, from one place to the other.
size_t cref_copy_blocks(uint8_t *to, const uint8_t *from, const uint32_t *lengths, size_t count);

// The whole path: records (length, link, time, bytes) pass through a ring with a flag of the sleeping reader. They are
// refused where another thread has said so, and where they are too old though no barcode was begun with them; else they are
// encoded for CapsLock as it is, CR LF as one Enter on one link and in time, written to `fd`, and counted by what became of
// them.
typedef struct cref_path cref_path;
cref_path *cref_path_create(size_t capacity, int fd);
void cref_path_destroy(cref_path *path);
void cref_path_produce(cref_path *path, cref_pattern pattern, size_t chunk, size_t total);
void cref_path_consume(cref_path *path, size_t total);
// Both in one thread: `turns` times, `burst` records are pushed, and typed until nothing waits.
void cref_path_turns(cref_path *path, cref_pattern pattern, size_t chunk, size_t burst, size_t turns);

// The calling thread. `cref_pin_thread` binds it to the n-th processor that the process may use, and returns false if
// there is none; `cref_preemptions` is the number of its involuntary context switches.
bool cref_pin_thread(int processor);
int cref_processors(void);
long cref_preemptions(void);
// The monotonic time in nanoseconds.
int64_t cref_now(void);

// Passes one cache line to and fro between two threads: each side waits for the line and passes it on, `turns` times.
// `first` is true for the side that begins.
void cref_bounce(uint64_t *line, uint64_t turns, bool first);

#endif
