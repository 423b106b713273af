// SPDX-License-Identifier: GPL-2.0-or-later
//
// Programs to compare the product with, besides our own C code: other queues, those of the kernel, and a loop over
// advertising events.

#ifndef CPEERS_H
#define CPEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A queue between two threads. The first `period` bytes of `bytes`, a power of two, are sent repeatedly.
typedef struct peer_queue {
    void *state;
    void (*produce)(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total);
    // Returns the number of pops with wrong data. The data is compared only if `check` is not 0.
    size_t (*consume)(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total, int check);
    void (*destroy)(void *state);
} peer_queue;

// boost::lockfree::spsc_queue<uint8_t> with a capacity of `capacity` bytes, and with bulk push and pop.
peer_queue peer_boost(size_t capacity);
// GLib's GAsyncQueue, with a heap block for each chunk.
peer_queue peer_glib(void);
// pipe(2), and an AF_UNIX SOCK_SEQPACKET socket pair.
peer_queue peer_pipe(void);
peer_queue peer_seqpacket(void);

// List of discovered devices as a C programmer would write it: looks up the address, compares the data, and stores the
// signal strength and the time.
typedef struct peer_devices peer_devices;
peer_devices *peer_devices_create(void);
void peer_devices_destroy(peer_devices *devices);
// Handles one HCI event packet. Returns the number of reports in it, or -1 if it is malformed.
int peer_devices_handle(peer_devices *devices, const uint8_t *packet, size_t length, int64_t now);
// Handles `count` consecutive packets. Returns the number of reports in them.
size_t peer_devices_handle_all(peer_devices *devices, const uint8_t *packets, const uint16_t *lengths, size_t count,
                               int64_t now);
size_t peer_devices_count(const peer_devices *devices);

// Returns the number of heap bytes in use, including large blocks.
size_t peer_heap_bytes(void);

// Returns the number of reports from iBeacons whose UUID is one of the `regions` UUIDs of 16 bytes each.
size_t peer_beacons_handle_all(
    const uint8_t *uuids, size_t regions, const uint8_t *packets, const uint16_t *lengths, size_t count);

// Looks for one device by its address, as a C programmer would write it. Returns the number of its reports.
size_t peer_chosen_handle_all(const uint8_t address[6], const uint8_t *packets, const uint16_t *lengths, size_t count);

// Looks for one device by its complete or shortened name, ignoring case, without a list of the other devices. Returns
// the number of its reports.
size_t peer_named_handle_all(const char *name, const uint8_t *packets, const uint16_t *lengths, size_t count);

// A radio thread as a C programmer would write it: waits with epoll for a socket, reads one packet or all available
// ones, and looks for a device by its address until it is found. Returns the processor time of the calling thread in
// nanoseconds, or -1. `*reports` is the number of reports.
int64_t peer_radio_read(int fd, const uint8_t address[6], bool reads_all, size_t *reports);
// Sends `count` of the consecutive packets, starting again after the last of them, and then the packet `last`. Sends
// one packet every `nanoseconds`, or as fast as possible if that is 0. Returns false if a packet was not sent
// completely.
bool peer_radio_feed(int fd, const uint8_t *packets, const uint16_t *lengths, size_t packet_count, size_t count,
                     int64_t nanoseconds, const uint8_t *last, size_t last_length);

// Input field of a keyboard, as parsed from a report descriptor: `count` slots of `size` bits each (1 to 32). Slot i of a
// variable field is the state of the key `first_usage` + i; a slot of an array is the index of a held key, counted from
// `minimum`.
typedef struct peer_hid_field {
    uint32_t bit_offset, minimum, maximum;
    uint16_t count, first_usage;
    uint8_t size;
    bool is_variable;
} peer_hid_field;
// Decodes the reports of any such fields, as a C programmer would write it: reads slots of any position and size, and
// keeps a list of the held keys. Returns NULL if a report is longer than 64 bytes.
typedef struct peer_hid peer_hid;
peer_hid *peer_hid_create(const peer_hid_field *fields, size_t field_count, size_t report_bytes);
void peer_hid_destroy(peer_hid *decoder);
// Decodes one report. Returns a checksum of the held keys in the order of their presses.
size_t peer_hid_read(peer_hid *decoder, const uint8_t *payload);
// Decodes `count` consecutive reports. Returns the sum of the checksums.
size_t peer_hid_read_all(peer_hid *decoder, const uint8_t *reports, size_t count);

// Runs a program with its standard input and output connected to files. Returns the duration in nanoseconds, or -1.
int64_t peer_run(const char *const arguments[], const char *input, const char *output);

#ifdef __cplusplus
}
#endif
#endif
