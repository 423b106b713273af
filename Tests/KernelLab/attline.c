// SPDX-License-Identifier: GPL-2.0-or-later
//
// An ATT client that is controlled line by line. Scenarios use it to check the lab's peers independently of the product.
//
//     attline ADDRESS LEVEL    a random address, and the security level of the link: 1 (none) or 2 (encrypted)
//
// Standard input: one ATT packet a line, as hexadecimal digits. Standard output: {"connected":LEVEL} with the level that the
// kernel reports, and {"pdu":"..."} for each packet received; at the end, the number of packets that it lost (losses.h).

#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "losses.h"

enum { BLUETOOTH = 31, L2CAP = 0, ATT_CHANNEL = 4, LE_PUBLIC = 1, LE_RANDOM = 2 };
enum { LEVEL_BLUETOOTH = 274, SECURITY = 4 }; // SOL_BLUETOOTH, BT_SECURITY

struct l2cap_address {
    uint16_t family, psm;
    uint8_t address[6];
    uint16_t channel;
    uint8_t type;
};

struct security {
    uint8_t level, key_size;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void tell_pdu(const uint8_t *pdu, ssize_t size) {
    printf("{\"pdu\":\"");
    for (ssize_t at = 0; at < size; at++) printf("%02x", pdu[at]);
    puts("\"}");
    fflush(stdout);
}

/// Sends the packet of one input line. Returns false at the end of the input.
static bool send_line(int link) {
    char line[1200];
    uint8_t pdu[sizeof line / 2];
    size_t size = 0;
    unsigned octet;
    if (!fgets(line, sizeof line, stdin)) return false;
    for (char *at = line; sscanf(at, "%2x", &octet) == 1; at += 2) pdu[size++] = (uint8_t)octet;
    if (write(link, pdu, size) < 0) die("send");
    return true;
}

int main(int count, char **arguments) {
    struct l2cap_address here = {.family = BLUETOOTH, .channel = ATT_CHANNEL, .type = LE_PUBLIC};
    struct l2cap_address peer = {.family = BLUETOOTH, .channel = ATT_CHANNEL, .type = LE_RANDOM};
    uint8_t *a = peer.address;
    if (count != 3 || sscanf(arguments[1], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", a + 5, a + 4, a + 3, a + 2, a + 1, a) != 6) {
        fprintf(stderr, "usage: attline ADDRESS LEVEL\n");
        return 64;
    }
    setvbuf(stdin, NULL, _IONBF, 0); // poll does not see what is in a buffer
    struct security security = {.level = (uint8_t)atoi(arguments[2])};
    int link = socket(BLUETOOTH, SOCK_SEQPACKET, L2CAP);
    if (link < 0 || bind(link, (struct sockaddr *)&here, sizeof here) < 0) die("socket");
    set_receive_queue(link, RECEIVE_QUEUE);
    if (setsockopt(link, LEVEL_BLUETOOTH, SECURITY, &security, sizeof security) < 0) die("security");
    if (connect(link, (struct sockaddr *)&peer, sizeof peer) < 0) die("connect");
    socklen_t size = sizeof security;
    if (getsockopt(link, LEVEL_BLUETOOTH, SECURITY, &security, &size) < 0) die("security");
    printf("{\"connected\":%d}\n", security.level);
    fflush(stdout);
    uint8_t pdu[600];
    struct pollfd ends[] = {{.fd = link, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    ssize_t length;
    while (poll(ends, 2, -1) > 0) {
        if (ends[0].revents) {
            // In older kernels, a blocking read holds the socket's lock, so that no data would ever be queued.
            if ((length = recv(link, pdu, sizeof pdu, MSG_DONTWAIT)) <= 0) break;
            tell_pdu(pdu, length);
        }
        if (ends[1].revents && !send_line(link)) break;
    }
    tell_lost(drops_at(link), true);
    return 0;
}
