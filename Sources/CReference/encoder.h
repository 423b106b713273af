// SPDX-License-Identifier: GPL-2.0-or-later

#ifndef BLEWEDGE_CREFERENCE_ENCODER_H
#define BLEWEDGE_CREFERENCE_ENCODER_H

#include <linux/input.h>
#include <stdalign.h>
#include <string.h>

#include "CReference.h"

enum { cref_event = sizeof(struct input_event), cref_word = cref_event - 8, cref_key = 4 * cref_event };

// The words of all bytes, as five planes: a byte is the place of each of its words.
struct cref_rows {
    uint64_t down[256];  // the event of the press; 0 for a byte that types nothing
    uint64_t keep[256];  // what Shift's state goes through: 0 for a key, all ones for a byte that types nothing
    uint64_t shift[256]; // the event that brings Shift, stored in any case
    uint64_t held[256];  // Shift as the key needs it: the size of an event where it is down
    uint64_t size[256];  // bytes of the key's events, without Shift's
};

struct cref_encoder {
    struct cref_rows rows[2]; // without CapsLock, and with it
    size_t discarded; // of all calls of cref_encode
    // One event before the first, which the end of an empty batch is written to, and room for one key more than the limit.
    alignas(64) uint8_t memory[(1 + cref_batch_events + 8) * sizeof(struct input_event)];
};

static inline uint8_t *cref_batch(struct cref_encoder *encoder) {
    return encoder->memory + cref_event;
}

static inline void cref_store(uint8_t *place, uint64_t word) {
    memcpy(place + cref_word, &word, 8);
}

// The state of an encoder between calls: the end of the events, Shift (the size of an event where it is down), and the
// last byte.
struct cref_state {
    size_t end;
    uint64_t held;
    size_t discarded; // bytes that typed nothing
    uint8_t last;
};

// Fills in five words, after which Shift is as `held` says and the place stands `size` further.
static inline __attribute__((always_inline)) void cref_fill(const struct cref_rows *rows, uint8_t byte, uint64_t after,
                                                            uint64_t size, uint8_t **place, uint64_t *held) {
    const uint64_t released = ~((uint64_t)UINT32_MAX << 32);
    uint8_t *key = *place + (after ^ *held);
    cref_store(*place, rows->shift[byte]);
    cref_store(key, rows->down[byte]);
    cref_store(key + cref_event, 0);
    cref_store(key + 2 * cref_event, rows->down[byte] & released);
    cref_store(key + 3 * cref_event, 0);
    *place = key + size;
    *held = after;
}

// Encodes the bytes that fit into the batch; returns their number. As the product does: two keys at a time while nothing but
// keys comes and all fit whatever they are, then byte by byte without a branch for those that type nothing.
static inline __attribute__((always_inline)) size_t cref_type(struct cref_encoder *encoder,
                                                              const struct cref_rows *rows, struct cref_state *state,
                                                              const uint8_t *input, size_t count) {
    uint8_t *const first = cref_batch(encoder);
    uint8_t *place = first + state->end;
    uint64_t held = state->held;
    size_t index = 0, discarded = 0;
    while (index < count) {
        size_t rest = cref_batch_events * cref_event - (size_t)(place - first);
        // So many keys fit, each with a change of Shift, and its release after them: five events have at most 128 bytes.
        size_t sure = index + (rest < cref_event ? 0 : (rest - cref_event) >> 7);
        if (sure > count) sure = count;
        if (sure <= index) {
            uint8_t byte = input[index] == '\n' ? '\r' : input[index];
            uint64_t after = (held & rows->keep[byte]) | rows->held[byte];
            if ((held ^ after) + after + rows->size[byte] > rest) break;
            sure = index + 1;
        }
        while (index + 1 < sure) {
            uint8_t one = input[index], two = input[index + 1];
            if (rows->down[one] == 0 || rows->down[two] == 0) break;
            cref_fill(rows, one, rows->held[one], cref_key, &place, &held);
            cref_fill(rows, two, rows->held[two], cref_key, &place, &held);
            index += 2;
        }
        for (; index < sure; index++) {
            uint8_t byte = input[index];
            // A line feed has no row of its own: it is Enter, unless a carriage return stands before it.
            if (byte == '\n') {
                if ((index > 0 ? input[index - 1] : state->last) == '\r') continue;
                byte = '\r';
            }
            discarded -= rows->keep[byte];
            cref_fill(rows, byte, (held & rows->keep[byte]) | rows->held[byte], rows->size[byte], &place, &held);
        }
    }
    state->discarded += discarded;
    if (index > 0) state->last = input[index - 1];
    state->end = (size_t)(place - first);
    state->held = held;
    return index;
}

// Releases a Shift that is down, together with the last key, without a branch; returns the bytes of events in the batch.
static inline size_t cref_finish(struct cref_encoder *encoder, struct cref_state *state) {
    uint8_t *end = cref_batch(encoder) + state->end;
    cref_store(end - cref_event, ((uint64_t)KEY_LEFTSHIFT << 16 | EV_KEY) * (state->held / cref_event));
    cref_store(end, 0);
    state->end += state->held;
    state->held = 0;
    return state->end;
}

#endif
