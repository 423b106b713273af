// SPDX-License-Identifier: GPL-2.0-or-later
//
// What ours is measured against beside our own C: other people's queues, the kernel's, and a loop over advertising events.

#ifndef CPEERS_H
#define CPEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A queue between two threads. `period` bytes of `bytes`, a power of two, are sent again and again.
typedef struct peer_queue {
    void *state;
    void (*produce)(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total);
    // Answers how many pops were not what was sent; looks only when `check` is not 0.
    size_t (*consume)(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total, int check);
    void (*destroy)(void *state);
} peer_queue;

// boost::lockfree::spsc_queue<uint8_t> of `capacity` bytes, push and pop in bulk.
peer_queue peer_boost(size_t capacity);
// GLib's GAsyncQueue, a block of the heap for each chunk.
peer_queue peer_glib(void);
// pipe(2), and an AF_UNIX SOCK_SEQPACKET pair.
peer_queue peer_pipe(void);
peer_queue peer_seqpacket(void);

// Devices heard, as a C programmer would list them: found by address, data compared, strength and time kept.
typedef struct peer_devices peer_devices;
peer_devices *peer_devices_create(void);
void peer_devices_destroy(peer_devices *devices);
// Takes one HCI event packet; answers how many reports it held, or -1 when it is not sound.
int peer_devices_handle(peer_devices *devices, const uint8_t *packet, size_t length, int64_t now);
// Takes packets that lie one after the other, `count` of them; answers how many reports they held.
size_t peer_devices_handle_all(peer_devices *devices, const uint8_t *packets, const uint16_t *lengths, size_t count,
                               int64_t now);
size_t peer_devices_count(const peer_devices *devices);

// The bytes of the heap that are in use, the large blocks among them.
size_t peer_heap_bytes(void);

// iBeacons among the reports whose UUID is one of so many, 16 bytes each: how many were heard.
size_t peer_beacons_handle_all(
    const uint8_t *uuids, size_t regions, const uint8_t *packets, const uint16_t *lengths, size_t count);

// One device among others, as a C programmer would look for it by its address. Answers how many reports are its own.
size_t peer_chosen_handle_all(const uint8_t address[6], const uint8_t *packets, const uint16_t *lengths, size_t count);

// One device among others by its complete or shortened name, letters of either case being equal, with no list of the
// others. Answers how many reports are its own.
size_t peer_named_handle_all(const char *name, const uint8_t *packets, const uint16_t *lengths, size_t count);

// A radio thread as a C programmer would write it: waits with epoll for a socket of packets, reads one, or all that wait,
// and looks for a device by its address, until that is heard. Answers the processor time of the calling thread in
// nanoseconds, or -1; `*reports` is the number of reports.
int64_t peer_radio_read(int fd, const uint8_t address[6], bool reads_all, size_t *reports);
// Sends `count` packets of those that lie one after the other, from the beginning again after the last of them, and then
// the `last` one: one every `nanoseconds`, or as fast as they are taken with 0. Answers false when one was not taken whole.
bool peer_radio_feed(int fd, const uint8_t *packets, const uint16_t *lengths, size_t packet_count, size_t count,
                     int64_t nanoseconds, const uint8_t *last, size_t last_length);

// Runs a program with its standard input from one file and its output to another; answers its time in nanoseconds, or -1.
int64_t peer_run(const char *const arguments[], const char *input, const char *output);

#ifdef __cplusplus
}
#endif
#endif
