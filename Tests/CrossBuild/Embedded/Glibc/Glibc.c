// SPDX-License-Identifier: GPL-2.0-or-later
//
// A test that traps, or is stopped, ends by itself: the next one goes on with what it has left behind.

#include "Glibc.h"

#include <setjmp.h>

// Swift's traps, and what a fault of the processor or of memory is.
static const int signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
static sigjmp_buf end;

static void died(int signal) { siglongjmp(end, signal); }

static void on_signals(void (*handler)(int)) {
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) signal(signals[index], handler);
}

/// Lines are seen as they are written, also those before a crash.
__attribute__((constructor)) static void by_lines(void) { setvbuf(stdout, NULL, _IOLBF, BUFSIZ); }

int test_guarded(void (*test)(void *context), void *context) {
    int outcome = sigsetjmp(end, 1);
    if (outcome == 0) {
        on_signals(died);
        test(context);
    }
    // A fault between tests ends the program.
    on_signals(SIG_DFL);
    return outcome;
}

_Noreturn void test_stop(void) { siglongjmp(end, 1); }
