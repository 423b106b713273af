// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parts of Swift's runtime that the product has no use for, in the place of the runtime's own.

#include <stddef.h>
#include <stdint.h>

// No name of a Unicode character is ever asked for: without the runtime's function its half megabyte of names is left out.
intptr_t _swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
    (void)scalar, (void)buffer, (void)capacity;
    return 0;
}

// No program for backtraces lies beside this one. The runtime's function looks for one before main, and ends the program
// where /proc is not mounted.
char *swift_copyAuxiliaryExecutablePath(const char *name) {
    (void)name;
    return NULL;
}
