// SPDX-License-Identifier: GPL-2.0-or-later

#ifndef BLEWEDGE_CREFERENCE_ENCODER_H
#define BLEWEDGE_CREFERENCE_ENCODER_H

#include <linux/input.h>
#include <stdalign.h>
#include <string.h>

#include "CReference.h"

// The events of a byte when Shift is up (0) or down (1).
struct cref_row {
    uint64_t shift;      // the word of Shift's change, stored in any case
    uint64_t down, up;   // the words of the key
    uint16_t key, next;  // bytes from the end of the events
    uint16_t tail;       // bytes that a Shift still down will need
    uint8_t held;        // Shift afterwards
    uint8_t types;
};

struct cref_encoder {
    struct cref_row rows[2][256];
    // The batch has room for one key more than its limit, because a key is stored before the limit is checked.
    alignas(64) uint8_t batch[(cref_batch_events + 8) * sizeof(struct input_event)];
};

enum { cref_event = sizeof(struct input_event), cref_word = cref_event - 8 };

static inline void cref_store(uint8_t *batch, size_t at, uint64_t word) {
    memcpy(batch + at + cref_word, &word, 8);
}

// The state of an encoder between bytes: the end of the events, Shift, and the previous byte.
struct cref_state {
    size_t end;
    unsigned held;
    uint8_t previous;
};

// Encodes the bytes that fit into the batch; returns their number.
static inline __attribute__((always_inline)) size_t cref_type(struct cref_encoder *encoder, struct cref_state *state,
                                                              const uint8_t *input, size_t count) {
    uint8_t *batch = encoder->batch;
    size_t end = state->end;
    unsigned held = state->held;
    size_t index = 0;
    uint8_t previous = state->previous;
    for (; index < count; index++) {
        uint8_t byte = input[index];
        if (byte == '\n' && previous == '\r') {
            previous = byte;
            continue;
        }
        const struct cref_row *row = &encoder->rows[held][byte];
        if (end + row->next + row->tail > cref_batch_events * cref_event) break;
        cref_store(batch, end, row->shift);
        cref_store(batch, end + row->key, row->down);
        cref_store(batch, end + row->key + cref_event, 0);
        cref_store(batch, end + row->key + 2 * cref_event, row->up);
        cref_store(batch, end + row->key + 3 * cref_event, 0);
        end += row->next;
        held = row->held;
        previous = byte;
    }
    state->end = end;
    state->held = held;
    state->previous = previous;
    return index;
}

// Releases a Shift that is down, together with the last key; returns the bytes of events in the batch.
static inline size_t cref_finish(struct cref_encoder *encoder, struct cref_state *state) {
    if (state->held != 0) {
        cref_store(encoder->batch, state->end - cref_event, (uint64_t)KEY_LEFTSHIFT << 16 | EV_KEY);
        cref_store(encoder->batch, state->end, 0);
        state->end += cref_event;
        state->held = 0;
    }
    return state->end;
}

#endif
