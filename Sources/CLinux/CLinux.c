// SPDX-License-Identifier: GPL-2.0-or-later

#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>

// D-19: an input event is 24 bytes where long has 64 bits, 16 where it has 32.
_Static_assert(sizeof(struct input_event) == (sizeof(long) == 8 ? 24 : 16), "unexpected layout of struct input_event");

_Static_assert(sizeof(struct blewedge_message) == sizeof(struct mmsghdr), "unexpected layout of struct mmsghdr");

int blewedge_receive_many(int fd, struct blewedge_message *messages, unsigned int count) {
    return recvmmsg(fd, (struct mmsghdr *)messages, count, MSG_DONTWAIT, NULL);
}

int blewedge_ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout) {
    return ppoll(entries, count, timeout, NULL);
}

int blewedge_set_thread_name(const char *name) {
    return pthread_setname_np(pthread_self(), name);
}

void blewedge_ignore_signal(int number) {
    signal(number, SIG_IGN);
}

int blewedge_accept(int fd, void *address, socklen_t *length) {
    return accept4(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int blewedge_pipe(int ends[2]) {
    return pipe2(ends, O_NONBLOCK | O_CLOEXEC);
}

char **blewedge_environment(void) {
    return environ;
}
