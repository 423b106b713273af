// SPDX-License-Identifier: GPL-2.0-or-later
//
// Scans without the kernel's management interface, as `hcitool lescan` does: runs an active scan with raw commands for
// one second. Afterwards, kernels since 6.12 believe that a discovery is running, and do not start any connection.
//
//     rawscan INDEX
//
// Standard output, at the end of the scan: {"scanned":true}

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLUETOOTH = 31, HCI = 1, SOL_HCI_ = 0, HCI_FILTER_ = 2, RAW_CHANNEL = 0 };
enum { EVENT = 4, COMMAND_COMPLETE = 0x0e };

static void die(const char *what) {
    perror(what);
    exit(1);
}

/// Sends a command and waits for its Command Complete event.
static void command(int controller, const uint8_t *packet, size_t size) {
    if (write(controller, packet, size) != (ssize_t)size) die("write");
    uint8_t event[260];
    struct pollfd readable = {.fd = controller, .events = POLLIN};
    for (;;) {
        if (poll(&readable, 1, 10000) != 1) die("no answer");
        ssize_t count = read(controller, event, sizeof event);
        if (count < 7) die("read");
        if (event[4] == packet[1] && event[5] == packet[2]) break;
    }
    if (event[6] != 0) fprintf(stderr, "command %02x%02x: status %02x\n", packet[2], packet[1], event[6]), exit(1);
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: rawscan INDEX\n"), 64;
    int controller = socket(BLUETOOTH, SOCK_RAW, HCI);
    struct {
        uint32_t types, events[2];
        uint16_t opcode, padding;
    } filter = {.types = 1 << EVENT, .events = {1 << COMMAND_COMPLETE}};
    struct {
        uint16_t family, index, channel;
    } address = {.family = BLUETOOTH, .index = (uint16_t)atoi(arguments[1]), .channel = RAW_CHANNEL};
    if (controller < 0 || setsockopt(controller, SOL_HCI_, HCI_FILTER_, &filter, sizeof filter) < 0) die("socket");
    if (bind(controller, (struct sockaddr *)&address, sizeof address) < 0) die("bind");
    static const uint8_t parameters[] = {1, 0x41, 0x20, 8, 0, 0, 1, 1, 0x10, 0, 0x10, 0};
    static const uint8_t on[] = {1, 0x42, 0x20, 6, 1, 0, 0, 0, 0, 0}, off[] = {1, 0x42, 0x20, 6, 0, 0, 0, 0, 0, 0};
    command(controller, parameters, sizeof parameters);
    command(controller, on, sizeof on);
    poll(NULL, 0, 1000);
    command(controller, off, sizeof off);
    puts("{\"scanned\":true}");
    return 0;
}
