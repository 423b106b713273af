// SPDX-License-Identifier: GPL-2.0-or-later
//
// The smallest program that does the product's work: a link, a subscription with a known handle, and keys without
// pacing. It types digits and Enter and checks nothing. The product's latency is compared with it.
//
//     minimal ADDRESS HANDLE    a random address; handle of the Client Characteristic Configuration descriptor
//
// Standard output: {"node":...}, then {"subscribed":true}; at the end, the number of packets that it lost (losses.h).

#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>

#include "keyboard.h"
#include "losses.h"

enum { BLUETOOTH = 31, L2CAP = 0, ATT_CHANNEL = 4, LE_PUBLIC = 1, LE_RANDOM = 2 };
enum { WRITE_REQUEST = 0x12, WRITE_RESPONSE = 0x13, NOTIFICATION = 0x1b };

struct l2cap_address {
    uint16_t family, psm;
    uint8_t address[6];
    uint16_t channel;
    uint8_t type;
};

static volatile sig_atomic_t ended;
static void on_signal(int number) { (void)number, ended = 1; }

int main(int count, char **arguments) {
    struct l2cap_address here = {.family = BLUETOOTH, .channel = ATT_CHANNEL, .type = LE_PUBLIC};
    struct l2cap_address peer = {.family = BLUETOOTH, .channel = ATT_CHANNEL, .type = LE_RANDOM};
    uint8_t *a = peer.address;
    if (count != 3 || sscanf(arguments[1], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", a + 5, a + 4, a + 3, a + 2, a + 1, a) != 6) {
        fprintf(stderr, "usage: minimal ADDRESS HANDLE\n");
        return 64;
    }
    int keyboard = open_keyboard("lab minimal", 0);
    sigset_t end, none;
    sigemptyset(&none);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL); // unblocked only while it waits
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
    int link = socket(BLUETOOTH, SOCK_SEQPACKET, L2CAP);
    if (link < 0 || bind(link, (struct sockaddr *)&here, sizeof here) < 0) die("socket");
    set_receive_queue(link, RECEIVE_QUEUE);
    if (connect(link, (struct sockaddr *)&peer, sizeof peer) < 0) die("connect");
    unsigned handle = (unsigned)atoi(arguments[2]);
    uint8_t request[] = {WRITE_REQUEST, (uint8_t)handle, (uint8_t)(handle >> 8), 1, 0};
    if (write(link, request, sizeof request) < 0) die("subscribe");
    uint8_t pdu[512];
    ssize_t size;
    struct pollfd readable = {.fd = link, .events = POLLIN};
    // In older kernels, a blocking read holds the socket's lock, so that no data would ever be queued.
    while (ppoll(&readable, 1, NULL, &none) == 1 && (size = recv(link, pdu, sizeof pdu, MSG_DONTWAIT)) > 0) {
        if (pdu[0] == WRITE_RESPONSE) puts("{\"subscribed\":true}"), fflush(stdout);
        if (pdu[0] != NOTIFICATION) continue;
        for (ssize_t i = 3; i < size; i++)
            stroke(pdu[i] == '\r' ? KEY_ENTER : pdu[i] == '0' ? KEY_0 : KEY_1 + (unsigned)(pdu[i] - '1'));
        flush_events(keyboard);
    }
    tell_lost(drops_at(link), true);
    return ended ? 0 : 1;
}
