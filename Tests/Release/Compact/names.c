// SPDX-License-Identifier: GPL-2.0-or-later
//
// Replaces the standard library's function for the names of Unicode characters, which the program does not use, so that the
// linker discards the table of all names (`--wrap`).

#include <stdint.h>

/// Returns the length of a name: 0, that of a character without a name.
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
    (void)scalar;
    (void)buffer;
    (void)capacity;
    return 0;
}
