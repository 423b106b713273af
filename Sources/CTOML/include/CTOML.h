// SPDX-License-Identifier: GPL-2.0-or-later
//
// TOML as C sees it: toml++ (libtomlplusplus-dev) reads a text, and every key and value is handed over with its place.

#ifndef BLEWEDGE_CTOML_H
#define BLEWEDGE_CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What an item is. A table or an array is followed by its members and by an end.
enum ctoml_kind {
    CTOML_STRING = 0,
    CTOML_INTEGER = 1,
    CTOML_BOOLEAN = 2,
    /// A fraction, a date or a time: nothing that a configuration here has.
    CTOML_OTHER = 3,
    CTOML_ARRAY = 4,
    CTOML_TABLE = 5,
    CTOML_END = 6,
};

/// A key with its value, or a member of an array.
struct ctoml_item {
    int32_t kind;
    /// The key's line, or the value's in an array, counted from 1.
    uint32_t line;
    /// 1 or 0 of a boolean, or an integer.
    int64_t number;
    /// The key; empty in an array.
    const char *key;
    size_t key_length;
    /// A string's text.
    const char *text;
    size_t text_length;
};

/// Why a text is not TOML; the line is 0 where the reader does not say it.
struct ctoml_fault {
    uint32_t line;
    uint32_t column;
    char reason[256];
};

/// Hands the items of a text to `take`, or says why it is not TOML; the pointers of an item hold until `take` returns.
bool ctoml_read(const char *bytes, size_t length, void *context, void (*take)(void *context, const struct ctoml_item *item),
                struct ctoml_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
