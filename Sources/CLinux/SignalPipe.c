// SPDX-License-Identifier: GPL-2.0-or-later
//
// Signals on a kernel without signalfd.

#include "CLinux.h"

// Where signals go that no signalfd takes. Nothing else may be done in a handler (signal-safety(7)); a pipe that is full holds
// more signals than anybody counts.
static volatile int signal_pipe = -1;

static void pass_on(int number) {
    int kept = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t written = write(signal_pipe, &byte, 1);
    (void)written;
    errno = kept;
}

int blewedge_pass_signal(int number, int pipe) {
    signal_pipe = pipe;
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}
