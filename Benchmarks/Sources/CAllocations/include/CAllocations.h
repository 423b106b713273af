// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counts heap allocations by replacing the allocator of the C library.

#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

// Returns the number of blocks allocated by all threads since the start of the program.
uint64_t allocations_count(void);

#endif
