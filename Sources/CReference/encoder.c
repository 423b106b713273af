// SPDX-License-Identifier: GPL-2.0-or-later

#include "encoder.h"

#include <stdlib.h>

static uint64_t word(uint16_t key, uint64_t value) {
    return value << 32 | (uint64_t)key << 16 | EV_KEY;
}

static void set(cref_encoder *encoder, uint8_t byte, uint16_t key, unsigned shift) {
    bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
    for (unsigned caps_lock = 0; caps_lock < 2; caps_lock++) {
        struct cref_rows *rows = &encoder->rows[caps_lock];
        unsigned down = is_letter ? shift ^ caps_lock : shift;
        rows->down[byte] = word(key, 1);
        rows->keep[byte] = 0;
        rows->shift[byte] = word(KEY_LEFTSHIFT, down);
        rows->held[byte] = down ? cref_event : 0;
        rows->size[byte] = cref_key;
    }
}

static void set_row(cref_encoder *encoder, uint16_t first, const char *plain, const char *shifted) {
    for (uint16_t at = 0; plain[at] != 0; at++) set(encoder, plain[at], first + at, 0);
    for (uint16_t at = 0; shifted[at] != 0; at++) set(encoder, shifted[at], first + at, 1);
}

cref_encoder *cref_encoder_create(void) {
    cref_encoder *encoder = aligned_alloc(64, (sizeof *encoder + 63) / 64 * 64);
    if (encoder == NULL) return NULL;
    memset(encoder, 0, sizeof *encoder);
    // A byte that types nothing moves no end and leaves Shift as it is.
    for (int bank = 0; bank < 2; bank++) memset(encoder->rows[bank].keep, 0xFF, sizeof encoder->rows[bank].keep);
    set_row(encoder, KEY_1, "1234567890-=", "!@#$%^&*()_+");
    set_row(encoder, KEY_Q, "qwertyuiop[]", "QWERTYUIOP{}");
    set_row(encoder, KEY_A, "asdfghjkl;'`", "ASDFGHJKL:\"~");
    set_row(encoder, KEY_BACKSLASH, "\\zxcvbnm,./", "|ZXCVBNM<>?");
    set(encoder, ' ', KEY_SPACE, 0);
    set(encoder, '\r', KEY_ENTER, 0);
    set(encoder, '\t', KEY_TAB, 0);
    set(encoder, '\b', KEY_BACKSPACE, 0);
    return encoder;
}

void cref_encoder_destroy(cref_encoder *encoder) {
    free(encoder);
}

const uint8_t *cref_encoder_output(const cref_encoder *encoder) {
    return encoder->memory + cref_event;
}

size_t cref_encode(cref_encoder *encoder, const uint8_t *input, size_t count, size_t *taken) {
    struct cref_state state = {0};
    *taken = cref_type(encoder, encoder->rows, &state, input, count);
    encoder->discarded += state.discarded;
    return cref_finish(encoder, &state);
}

size_t cref_encode_blocks(cref_encoder *encoder, const uint8_t *input, size_t count, size_t block) {
    size_t bytes = 0, taken;
    for (size_t at = 0; at < count; at += taken) {
        size_t rest = count - at;
        bytes += cref_encode(encoder, input + at, rest < block ? rest : block, &taken);
    }
    return bytes;
}

// The parts of the rows that `cref_store_blocks` loads, each as an array.
struct bare_rows {
    uint64_t down[256], shift[256], held[256], size[256];
};

size_t cref_store_blocks(const cref_encoder *encoder, const uint8_t *input, size_t count, size_t block) {
    static struct bare_rows rows;
    for (int byte = 0; byte < 256; byte++) {
        uint8_t from = byte == '\n' ? '\r' : (uint8_t)byte;
        rows.down[byte] = encoder->rows[0].down[from];
        rows.shift[byte] = encoder->rows[0].shift[from];
        rows.held[byte] = encoder->rows[0].held[from];
        rows.size[byte] = encoder->rows[0].size[from];
    }
    alignas(64) static uint8_t batch[(64 * 5 + 8) * sizeof(struct input_event)];
    size_t bytes = 0;
    for (size_t at = 0; at < count; at += block) {
        size_t last = count - at < block ? count : at + block;
        uint8_t *place = batch;
        uint64_t held = 0;
#pragma clang loop unroll_count(2)
        for (size_t index = at; index < last; index++) {
            uint8_t byte = input[index];
            uint8_t *key = place + (rows.held[byte] ^ held);
            cref_store(place, rows.shift[byte]);
            cref_store(key, rows.down[byte]);
            cref_store(key + cref_event, 0);
            cref_store(key + 2 * cref_event, (uint32_t)rows.down[byte]);
            cref_store(key + 3 * cref_event, 0);
            place = key + rows.size[byte];
            held = rows.held[byte];
        }
        __asm__ volatile("" : : "r"(batch) : "memory");
        bytes += (size_t)(place - batch);
    }
    return bytes;
}

size_t cref_copy_blocks(uint8_t *to, const uint8_t *from, const uint32_t *lengths, size_t count) {
    size_t bytes = 0;
    for (size_t index = 0; index < count; index++) {
        memcpy(to, from, lengths[index]);
        __asm__ volatile("" : : "r"(to) : "memory");
        bytes += lengths[index];
    }
    return bytes;
}
