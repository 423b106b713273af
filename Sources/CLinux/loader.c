// SPDX-License-Identifier: GPL-2.0-or-later

#include "CLinux.h"

// The fully static form brings its own, which says no.
__attribute__((weak)) bool blewedge_loads_libraries(void) { return true; }
