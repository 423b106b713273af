// SPDX-License-Identifier: GPL-2.0-or-later
//
// A C interface to the TOML reader toml++ (libtomlplusplus-dev): it reports every key and value of a text with its
// line.

#ifndef BLEWEDGE_CTOML_H
#define BLEWEDGE_CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The kinds of items.
///
/// A table or an array is followed by its members and by a `CTOML_END`.
enum ctoml_kind {
    CTOML_STRING = 0,
    CTOML_INTEGER = 1,
    CTOML_BOOLEAN = 2,
    /// A fraction, a date or a time, which no configuration of this program has.
    CTOML_OTHER = 3,
    CTOML_ARRAY = 4,
    CTOML_TABLE = 5,
    CTOML_END = 6,
};

/// A key with its value, or an element of an array.
struct ctoml_item {
    int32_t kind;
    /// The line of the key, or of the value in an array, counted from 1.
    uint32_t line;
    /// The value of an integer, or 1 for true and 0 for false.
    int64_t number;
    /// The key, without a zero at its end; empty in an array.
    const char *key;
    size_t key_length;
    /// The text of a string, without a zero at its end.
    const char *text;
    size_t text_length;
};

/// The error of a text that is not TOML.
///
/// The line is 0 if the reader does not give it.
struct ctoml_fault {
    uint32_t line;
    uint32_t column;
    char reason[256];
};

/// Reads a text and passes its items to `take`.
///
/// Returns false and fills `fault` if the text is not TOML. The pointers in an item are valid until `take` returns.
bool ctoml_read(const char *bytes, size_t length, void *context, void (*take)(void *context, const struct ctoml_item *item),
                struct ctoml_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
