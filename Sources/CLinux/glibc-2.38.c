// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions that glibc has since 2.38 and that Debian's Swift library for aarch64 was built with, for where the headers
// are of an older one (Debian 12); see hypotf.c. Nothing of ours calls them, and swift.org's library does not either.

#include <features.h>

#if !__GLIBC_PREREQ(2, 38)

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WITHIN_THIS_PROGRAM __attribute__((visibility("hidden")))

size_t strlcpy(char *target, const char *source, size_t size);
long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
int __isoc23_sscanf(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));

/// Copies as much as there is room for, with a zero byte at its end; the length of all.
WITHIN_THIS_PROGRAM size_t strlcpy(char *target, const char *source, size_t size) {
    size_t length = strlen(source);
    if (size > 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(target, source, copied);
        target[copied] = 0;
    }
    return length;
}

// Of C23 these differ from their elders in one thing: they read numbers that begin with 0b where the base is 0 or 2.

WITHIN_THIS_PROGRAM long __isoc23_strtol(const char *text, char **end, int base) {
    return strtol(text, end, base);
}

WITHIN_THIS_PROGRAM long long __isoc23_strtoll(const char *text, char **end, int base) {
    return strtoll(text, end, base);
}

WITHIN_THIS_PROGRAM int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsscanf(text, format, arguments);
    va_end(arguments);
    return count;
}

#endif
