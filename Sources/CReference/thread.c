// SPDX-License-Identifier: GPL-2.0-or-later

#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "CReference.h"

// The processors that the process could use when it first asked.
static bool allowed(cpu_set_t *set) {
    static cpu_set_t first;
    static _Atomic int known;
    if (atomic_load(&known) == 0) {
        cpu_set_t now;
        if (sched_getaffinity(0, sizeof now, &now) != 0) return false;
        first = now;
        atomic_store(&known, 1);
    }
    *set = first;
    return true;
}

int cref_processors(void) {
    cpu_set_t set;
    return allowed(&set) ? CPU_COUNT(&set) : 0;
}

bool cref_pin_thread(int processor) {
    cpu_set_t set, one;
    if (!allowed(&set)) return false;
    for (int number = 0; number < CPU_SETSIZE; number++) {
        if (!CPU_ISSET(number, &set) || processor-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(number, &one);
        return sched_setaffinity(0, sizeof one, &one) == 0;
    }
    return false;
}

long cref_preemptions(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

int64_t cref_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void cref_bounce(uint64_t *line, uint64_t turns, bool first) {
    _Atomic uint64_t *word = (_Atomic uint64_t *)line;
    for (uint64_t turn = 0; turn < turns; turn++) {
        uint64_t mine = 2 * turn + (first ? 0 : 1);
        while (atomic_load_explicit(word, memory_order_acquire) != mine) cref_pause();
        atomic_store_explicit(word, mine + 1, memory_order_release);
    }
}
