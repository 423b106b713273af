// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counts what is asked of the heap, by standing in front of the C library's allocator.

#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

// Blocks asked for since the program began, by all threads.
uint64_t allocations_count(void);

#endif
