// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a program of the lab says what it lost itself, so that nobody takes it for a loss of the product's: a line
// {"event":"lost","count":N} on standard output whenever the count has risen, and one at the end in any case.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

enum { MEMORY_OF_SOCKET = 55, MEMORY_FIELDS = 9, DROPS = 8 }; // SO_MEMINFO, SK_MEMINFO_VARS, SK_MEMINFO_DROPS
enum { RECEIVE_QUEUE = 8 << 20 };                             // the kernel doubles it

/// The receive queue of a socket, in bytes: packets for which it has no room are dropped, and nobody is told.
static inline void set_receive_queue(int fd, int bytes) {
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0) perror("SO_RCVBUFFORCE");
}

/// How many packets the kernel has dropped at this socket since it was opened.
static inline long drops_at(int fd) {
    uint32_t memory[MEMORY_FIELDS] = {0};
    socklen_t size = sizeof memory;
    if (getsockopt(fd, SOL_SOCKET, MEMORY_OF_SOCKET, memory, &size) == 0) return memory[DROPS];
    perror("SO_MEMINFO");
    return 0;
}

/// Prints the count where it has risen since it was printed last, or in any case.
static inline void tell_lost(long count, bool in_any_case) {
    static long told;
    if (count <= told && !in_any_case) return;
    told = count;
    printf("{\"event\":\"lost\",\"count\":%ld}\n", count);
    fflush(stdout);
}
