// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one function of the C library that Swift's standard library needs in a version newer than 2.34 (hypotf@GLIBC_2.35,
// by its module Glibc), so that the program runs where the C library is 2.34. Nothing of ours calls it.

#include <math.h>

/// sqrt(x² + y²): exact in double until the result is rounded, as in the C library. Within this program only.
__attribute__((visibility("hidden"))) float hypotf(float x, float y) {
    if (isinf(x) || isinf(y)) return INFINITY;
    return (float)__builtin_sqrt((double)x * x + (double)y * y);
}
