// SPDX-License-Identifier: GPL-2.0-or-later

#include "CLinux.h"

// D-19: an input event is 24 bytes where long has 64 bits, 16 where it has 32.
_Static_assert(sizeof(struct input_event) == (sizeof(long) == 8 ? 24 : 16), "unexpected layout of struct input_event");
