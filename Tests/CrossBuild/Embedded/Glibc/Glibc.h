// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the tests and what is below them use of the C library.

#ifndef BLEWEDGE_GLIBC_H
#define BLEWEDGE_GLIBC_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Runs a test; 0 when it came to its end, 1 when it stopped itself, and the number of the signal that it died of.
int test_guarded(void (*test)(void *context), void *context);

/// Ends the test that runs.
_Noreturn void test_stop(void);

#endif
