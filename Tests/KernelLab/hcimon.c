// SPDX-License-Identifier: GPL-2.0-or-later
//
// Follows the kernel's HCI monitor channel, which shows the commands that a controller really receives.
//
//     hcimon [FILE]      FILE: also record everything as btsnoop (btmon -r FILE reads it)
//
// Standard output is one JSON object per line for each controller ("index"):
//   added, ready, closed, removed
//   scan (on, active) | attempt (interval, latency, timeout) | link (up, handle, reason)
//
// "attempt" is a request for a connection, with the minimum and maximum interval in units of 1.25 ms and the time-out
// in units of 10 ms. "time" is the kernel's time in seconds. SIGUSR1 prints statistics about the notifications since
// the last SIGUSR1:
//   {"index":0,"event":"stats","notifications":1000,"first":1.25,"last":3.5}
//
// Packets lost by this program are counted too (losses.h).

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "losses.h"

enum { BLUETOOTH = 31, HCI_PROTOCOL = 1, MONITOR_CHANNEL = 2, NO_DEVICE = 0xffff, INDEXES = 64 };
enum { NEW_INDEX = 0, DEL_INDEX = 1, COMMAND = 2, EVENT = 3, ACL_RX = 5, CLOSE_INDEX = 9, INDEX_INFO = 10 };
enum { RESET = 0x0c03, SCAN_PARAMETERS = 0x200b, SCAN_ENABLE = 0x200c, CONNECT = 0x200d };
enum { EXTENDED_SCAN_PARAMETERS = 0x2041, EXTENDED_SCAN_ENABLE = 0x2042, EXTENDED_CONNECT = 0x2043 };

struct hci_address {
    uint16_t family, device, channel;
};

static struct controller {
    bool wanted, scanning, active;
    long notifications;
    double first, last;
} controllers[INDEXES];

static double now; // kernel time of the current packet

static unsigned u16(const uint8_t *at) { return at[0] | (unsigned)at[1] << 8; }

static void say(unsigned index, const char *event) { printf("{\"index\":%u,\"event\":\"%s\"}\n", index, event); }

static void set_scanning(unsigned index, bool on) {
    if (controllers[index].scanning == on) return;
    controllers[index].scanning = on;
    printf("{\"index\":%u,\"event\":\"scan\",\"on\":%s,\"active\":%s,\"time\":%.6f}\n", index, on ? "true" : "false",
           controllers[index].active ? "true" : "false", now);
}

static void on_event(unsigned index, const uint8_t *event, size_t size) {
    struct controller *c = &controllers[index];
    if (size >= 6 && event[0] == 0x0e && event[5] == 0) {
        unsigned opcode = u16(event + 3);
        if (opcode == SCAN_ENABLE || opcode == EXTENDED_SCAN_ENABLE) set_scanning(index, c->wanted);
        if (opcode == RESET) set_scanning(index, false);
    } else if (size >= 6 && event[0] == 0x05 && event[2] == 0) {
        printf("{\"index\":%u,\"event\":\"link\",\"up\":false,\"handle\":%u,\"reason\":%u,\"time\":%.6f}\n", index,
               u16(event + 3), event[5], now);
    } else if (size >= 6 && event[0] == 0x3e && (event[2] == 0x01 || event[2] == 0x0a) && event[3] == 0) {
        printf("{\"index\":%u,\"event\":\"link\",\"up\":true,\"handle\":%u,\"time\":%.6f}\n", index,
               u16(event + 4), now);
    }
}

/// Prints a connection attempt, whose parameters start at `at`.
static void say_attempt(unsigned index, const uint8_t *at) {
    printf("{\"index\":%u,\"event\":\"attempt\",\"interval\":[%u,%u],\"latency\":%u,\"timeout\":%u,\"time\":%.6f}\n", index,
           u16(at), u16(at + 2), u16(at + 4), u16(at + 6), now);
}

static void on_command(unsigned index, const uint8_t *command, size_t size) {
    struct controller *c = &controllers[index];
    if (size < 4) return;
    switch (u16(command)) {
    case SCAN_PARAMETERS: c->active = command[3] == 1; break;
    case EXTENDED_SCAN_PARAMETERS: c->active = size > 6 && command[6] == 1; break;
    case SCAN_ENABLE:
    case EXTENDED_SCAN_ENABLE: c->wanted = command[3]; break;
    case CONNECT:
        if (size >= 24) say_attempt(index, command + 16);
        break;
    case EXTENDED_CONNECT: // parameters for the first PHY
        if (size >= 25) say_attempt(index, command + 17);
        break;
    default: break;
    }
}

static void on_packet(unsigned opcode, unsigned index, const uint8_t *data, size_t size) {
    if (index >= INDEXES) return;
    struct controller *c = &controllers[index];
    switch (opcode) {
    case NEW_INDEX: *c = (struct controller){0}, say(index, "added"); break;
    case INDEX_INFO: say(index, "ready"); break;
    case CLOSE_INDEX: say(index, "closed"); break;
    case DEL_INDEX: *c = (struct controller){0}, say(index, "removed"); break;
    case COMMAND: on_command(index, data, size); break;
    case EVENT: on_event(index, data, size); break;
    case ACL_RX: // first fragment of a notification on the ATT channel
        if (size >= 9 && (data[1] >> 4 & 3) != 1 && u16(data + 6) == 4 && data[8] == 0x1b) {
            if (c->notifications++ == 0) c->first = now;
            c->last = now;
        }
        break;
    default: break;
    }
}

static void print_stats(void) {
    for (unsigned i = 0; i < INDEXES; i++) {
        struct controller *c = &controllers[i];
        if (c->notifications > 0 || i == 0)
            printf("{\"index\":%u,\"event\":\"stats\",\"notifications\":%ld,\"first\":%.6f,\"last\":%.6f}\n", i,
                   c->notifications, c->first, c->last);
        c->notifications = 0;
        c->first = c->last = 0;
    }
}

static void put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void record(FILE *file, unsigned opcode, unsigned index, const uint8_t *data, size_t size, struct timeval t) {
    uint8_t head[24] = {0};
    uint64_t stamp = ((uint64_t)t.tv_sec - 946684800) * 1000000 + (uint64_t)t.tv_usec + 0x00E03AB44A676000;
    put32(head, (uint32_t)size);
    put32(head + 4, (uint32_t)size);
    put32(head + 8, index << 16 | opcode);
    put32(head + 16, (uint32_t)(stamp >> 32));
    put32(head + 20, (uint32_t)stamp);
    fwrite(head, sizeof head, 1, file);
    fwrite(data, size, 1, file);
}

int main(int count, char **arguments) {
    FILE *file = count > 1 ? fopen(arguments[1], "we") : NULL;
    if (file) fwrite("btsnoop\0\0\0\0\1\0\0\7\xd1", 16, 1, file);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    int fd = socket(BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, HCI_PROTOCOL);
    struct hci_address address = {BLUETOOTH, NO_DEVICE, MONITOR_CHANNEL};
    int yes = 1;
    long cut = 0; // number of packets that were longer than the buffer
    if (fd >= 0) set_receive_queue(fd, RECEIVE_QUEUE); // before the first packet arrives
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        fprintf(stderr, "hcimon: %s\n", strerror(errno));
        return 1;
    }
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &yes, sizeof yes);
    puts("{\"event\":\"ready\"}");
    fflush(stdout);

    for (;;) {
        struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0) continue;
        uint8_t data[4096], control[256];
        struct iovec vector = {data, sizeof data};
        for (;;) {
            struct msghdr message = {
                .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
            ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
            if (n < 6) break;
            cut += (message.msg_flags & MSG_TRUNC) != 0;
            struct timeval t = {0};
            for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
                if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMP)
                    memcpy(&t, CMSG_DATA(c), sizeof t);
            unsigned opcode = u16(data), index = u16(data + 2);
            now = (double)t.tv_sec + (double)t.tv_usec / 1e6;
            on_packet(opcode, index, data + 6, (size_t)n - 6);
            if (file) record(file, opcode, index, data + 6, (size_t)n - 6, t);
        }
        if (file) fflush(file);
        if (fds[1].revents & POLLIN) {
            struct signalfd_siginfo info;
            if (read(signals, &info, sizeof info) != sizeof info) continue;
            if (info.ssi_signo == SIGTERM) break;
            print_stats();
        }
        tell_lost(drops_at(fd) + cut, false);
        fflush(stdout);
    }
    tell_lost(drops_at(fd) + cut, true);
    return 0;
}
