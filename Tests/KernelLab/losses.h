// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reports the data that a program of the lab has lost itself, so that it is not mistaken for a loss of the product: a
// line {"event":"lost","count":N} on standard output whenever the count has increased, and always one at the end.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

enum { MEMORY_OF_SOCKET = 55, MEMORY_FIELDS = 9, DROPS = 8 }; // SO_MEMINFO, SK_MEMINFO_VARS, SK_MEMINFO_DROPS
enum { RECEIVE_QUEUE = 8 << 20 };                             // the kernel doubles it

/// Sets the size of a socket's receive queue in bytes. Packets that do not fit are dropped silently.
static inline void set_receive_queue(int fd, int bytes) {
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0) perror("SO_RCVBUFFORCE");
}

/// Returns the number of packets that the kernel has dropped at this socket since it was opened.
static inline long drops_at(int fd) {
    uint32_t memory[MEMORY_FIELDS] = {0};
    socklen_t size = sizeof memory;
    if (getsockopt(fd, SOL_SOCKET, MEMORY_OF_SOCKET, memory, &size) == 0) return memory[DROPS];
    perror("SO_MEMINFO");
    return 0;
}

/// Prints the count if it has increased since it was last printed, or always with `in_any_case`.
static inline void tell_lost(long count, bool in_any_case) {
    static long told;
    if (count <= told && !in_any_case) return;
    told = count;
    printf("{\"event\":\"lost\",\"count\":%ld}\n", count);
    fflush(stdout);
}
