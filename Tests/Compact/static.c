// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fully static form only: no shared library is loaded, so the C library's loader is not linked in either.

#include <stdbool.h>
#include <stddef.h>

#include "CLinux.h"

bool blewedge_loads_libraries(void) { return false; }

void *dlopen(const char *name, int mode) {
    (void)name, (void)mode;
    return NULL;
}

void *dlsym(void *library, const char *name) {
    (void)library, (void)name;
    return NULL;
}

char *dlerror(void) { return NULL; }
