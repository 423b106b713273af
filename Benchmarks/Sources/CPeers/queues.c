// SPDX-License-Identifier: GPL-2.0-or-later

#define _GNU_SOURCE
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CPeers.h"

struct block {
    size_t count;
    uint8_t bytes[];
};

static void glib_produce(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total) {
    for (size_t sent = 0; sent < total; sent += chunk) {
        struct block *block = g_malloc(sizeof *block + chunk);
        block->count = chunk;
        memcpy(block->bytes, bytes + (sent & (period - 1)), chunk);
        g_async_queue_push(state, block);
    }
}

static size_t glib_consume(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total, int check) {
    uint8_t target[256];
    size_t faults = 0;
    (void)chunk;
    for (size_t received = 0; received < total;) {
        struct block *block = g_async_queue_pop(state);
        size_t count = block->count;
        memcpy(target, block->bytes, count);
        g_free(block);
        __asm__ volatile("" : : "r"(target) : "memory");
        if (check && memcmp(target, bytes + (received & (period - 1)), count) != 0) faults++;
        received += count;
    }
    return faults;
}

static void glib_destroy(void *state) {
    g_async_queue_unref(state);
}

peer_queue peer_glib(void) {
    return (peer_queue){g_async_queue_new(), glib_produce, glib_consume, glib_destroy};
}

static void descriptor_produce(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total) {
    int *ends = state;
    for (size_t sent = 0; sent < total; sent += chunk) {
        if (write(ends[1], bytes + (sent & (period - 1)), chunk) != (ssize_t)chunk) abort();
    }
}

static size_t descriptor_consume(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total, int check) {
    int *ends = state;
    uint8_t target[256];
    size_t faults = 0;
    for (size_t received = 0; received < total;) {
        ssize_t count = read(ends[0], target, chunk);
        if (count <= 0) abort();
        if (check && memcmp(target, bytes + (received & (period - 1)), (size_t)count) != 0) faults++;
        received += (size_t)count;
    }
    return faults;
}

static void descriptor_destroy(void *state) {
    int *ends = state;
    close(ends[0]);
    close(ends[1]);
    free(ends);
}

static peer_queue over(int *ends) {
    return (peer_queue){ends, descriptor_produce, descriptor_consume, descriptor_destroy};
}

peer_queue peer_pipe(void) {
    int *ends = malloc(2 * sizeof *ends);
    if (ends == NULL || pipe(ends) != 0) abort();
    return over(ends);
}

peer_queue peer_seqpacket(void) {
    int *ends = malloc(2 * sizeof *ends);
    if (ends == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) abort();
    return over(ends);
}
