// SPDX-License-Identifier: GPL-2.0-or-later

#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

// Searches the program's own headers for the name of a loader.
bool blewedge_loads_libraries(void) {
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    for (unsigned long left = getauxval(AT_PHNUM); left > 0; left--, header++) {
        if (header->p_type == PT_INTERP) return true;
    }
    return false;
}

// Before main, Swift's runtime looks for a program that prints backtraces: below SWIFT_ROOT, or beside the running program,
// which it finds by /proc and aborts where that is not mounted.
__attribute__((constructor(101))) static void name_root_without_proc(void) {
    if (access("/proc/self/exe", F_OK) != 0) setenv("SWIFT_ROOT", "/", 0);
}
