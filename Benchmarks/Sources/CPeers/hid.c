// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdlib.h>
#include <string.h>

#include "CPeers.h"

enum { most_bytes = 64, most_held = 64, roll_over = 1 };

struct peer_hid {
    size_t field_count, report_bytes, held_count;
    // Held keys, the oldest press first.
    uint16_t held[most_held];
    uint8_t last[most_bytes];
    peer_hid_field fields[];
};

peer_hid *peer_hid_create(const peer_hid_field *fields, size_t field_count, size_t report_bytes) {
    if (report_bytes > most_bytes) return NULL;
    struct peer_hid *decoder = calloc(1, sizeof *decoder + field_count * sizeof *fields);
    if (!decoder) return NULL;
    decoder->field_count = field_count;
    decoder->report_bytes = report_bytes;
    memcpy(decoder->fields, fields, field_count * sizeof *fields);
    return decoder;
}

void peer_hid_destroy(peer_hid *decoder) { free(decoder); }

// Returns a slot's bits, at any position in the report: 1 to 32 bits, least significant bit first.
static uint32_t bits(const uint8_t *report, size_t offset, unsigned size) {
    uint64_t value = 0;
    size_t first = offset / 8, last = (offset + size - 1) / 8;
    for (size_t byte = last + 1; byte-- > first;) value = value << 8 | report[byte];
    return (uint32_t)(value >> offset % 8 & ((UINT64_C(1) << size) - 1));
}

static uint32_t slot(const peer_hid_field *field, const uint8_t *report, size_t index) {
    return bits(report, field->bit_offset + index * field->size, field->size);
}

static void release(struct peer_hid *decoder, uint16_t key) {
    for (size_t index = 0; index < decoder->held_count; index++)
        if (decoder->held[index] == key) {
            memmove(decoder->held + index, decoder->held + index + 1,
                    (--decoder->held_count - index) * sizeof *decoder->held);
            return;
        }
}

static void press(struct peer_hid *decoder, uint16_t key) {
    for (size_t index = 0; index < decoder->held_count; index++)
        if (decoder->held[index] == key) return;
    if (decoder->held_count < most_held) decoder->held[decoder->held_count++] = key;
}

// Returns the key of an array's value; 0 if the value is out of range or means no key.
static uint16_t key_of(const peer_hid_field *field, uint32_t value) {
    if (value < field->minimum || value > field->maximum) return 0;
    uint32_t key = field->first_usage + value - field->minimum;
    return key > 3 ? (uint16_t)key : 0;
}

static bool contains(const peer_hid_field *field, const uint8_t *report, uint16_t key) {
    for (size_t index = 0; index < field->count; index++)
        if (key_of(field, slot(field, report, index)) == key) return true;
    return false;
}

static bool is_roll_over(const peer_hid_field *field, const uint8_t *report) {
    for (size_t index = 0; index < field->count; index++)
        if (field->first_usage + slot(field, report, index) - field->minimum == roll_over) return true;
    return false;
}

// Replaces the slots of a field by those of the last report.
static void keep_last(const struct peer_hid *decoder, const peer_hid_field *field, uint8_t *report) {
    size_t end = field->bit_offset + (size_t)field->count * field->size;
    for (size_t bit = field->bit_offset; bit < end; bit++) {
        uint8_t mask = (uint8_t)(1 << bit % 8);
        report[bit / 8] = (uint8_t)((report[bit / 8] & ~mask) | (decoder->last[bit / 8] & mask));
    }
}

static void apply_array(struct peer_hid *decoder, const peer_hid_field *field, const uint8_t *report) {
    for (size_t index = 0; index < field->count; index++) {
        uint16_t old = key_of(field, slot(field, decoder->last, index));
        if (old && !contains(field, report, old)) release(decoder, old);
    }
    for (size_t index = 0; index < field->count; index++) {
        uint16_t new = key_of(field, slot(field, report, index));
        if (new && !contains(field, decoder->last, new)) press(decoder, new);
    }
}

static void apply_variable(struct peer_hid *decoder, const peer_hid_field *field, const uint8_t *report) {
    for (size_t index = 0; index < field->count; index++) {
        uint32_t value = slot(field, report, index);
        if (value == slot(field, decoder->last, index)) continue;
        uint16_t key = (uint16_t)(field->first_usage + index);
        if (value) press(decoder, key);
        else release(decoder, key);
    }
}

size_t peer_hid_read(peer_hid *decoder, const uint8_t *payload) {
    uint8_t report[most_bytes];
    memcpy(report, payload, decoder->report_bytes);
    for (size_t index = 0; index < decoder->field_count; index++) {
        const peer_hid_field *field = &decoder->fields[index];
        if (field->is_variable) apply_variable(decoder, field, report);
        else if (is_roll_over(field, report)) keep_last(decoder, field, report);
        else apply_array(decoder, field, report);
    }
    memcpy(decoder->last, report, decoder->report_bytes);
    size_t sum = 0;
    for (size_t index = 0; index < decoder->held_count; index++) sum = 31 * sum + decoder->held[index];
    return sum;
}

size_t peer_hid_read_all(peer_hid *decoder, const uint8_t *reports, size_t count) {
    size_t sum = 0;
    for (size_t index = 0; index < count; index++)
        sum += peer_hid_read(decoder, reports + index * decoder->report_bytes);
    return sum;
}
