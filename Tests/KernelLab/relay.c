// SPDX-License-Identifier: GPL-2.0-or-later
//
// Joins a controller's user channel in the guest to a virtio-serial port, whose other end is a unix
// socket on the host: a Bluetooth host stack there (Bumble) then owns the controller.
//
//     relay INDEX PORTNAME
//
// The port is a stream of H4 packets; the user channel wants exactly one packet a write.
// Prints "ready" once both are open; ends when the host closes its end or the controller goes.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLUETOOTH = 31, HCI_PROTOCOL = 1, USER_CHANNEL = 1 };

struct hci_address {
    uint16_t family, device, channel;
};

static void die(const char *what) {
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int open_channel(uint16_t index) {
    int fd = socket(BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, HCI_PROTOCOL);
    if (fd < 0) die("socket");
    struct hci_address address = {BLUETOOTH, index, USER_CHANNEL};
    // A controller that was just registered is busy until the kernel has set it up: no event says when.
    for (int tries = 0; tries < 500; tries++) {
        if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
        if (errno != EBUSY && errno != ENODEV) break;
        usleep(20000);
    }
    die("bind to the user channel");
    return -1;
}

static int open_port(const char *wanted) {
    char path[64], name[64];
    for (int device = 0; device < 8; device++)
        for (int index = 0; index < 8; index++) {
            snprintf(path, sizeof path, "/sys/class/virtio-ports/vport%dp%d/name", device, index);
            FILE *file = fopen(path, "r");
            if (file == NULL) continue;
            if (fgets(name, sizeof name, file) == NULL) name[0] = 0;
            fclose(file);
            name[strcspn(name, "\n")] = 0;
            if (strcmp(name, wanted) != 0) continue;
            snprintf(path, sizeof path, "/dev/vport%dp%d", device, index);
            return open(path, O_RDWR | O_CLOEXEC);
        }
    errno = ENOENT;
    return -1;
}

/// The length of the H4 packet at `data`, 0 if its header is not complete, -1 if it is no packet.
static long packet_length(const uint8_t *data, size_t size) {
    switch (data[0]) {
    case 1: return size < 4 ? 0 : 4 + data[3];
    case 2: return size < 5 ? 0 : 5 + (data[3] | data[4] << 8);
    case 3: return size < 4 ? 0 : 4 + data[3];
    case 4: return size < 3 ? 0 : 3 + data[2];
    case 5: return size < 5 ? 0 : 5 + ((data[3] | data[4] << 8) & 0x3fff);
    default: return -1;
    }
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: relay INDEX PORTNAME\n");
        return 64;
    }
    int channel = open_channel((uint16_t)atoi(arguments[1]));
    int port = open_port(arguments[2]);
    if (port < 0) die(arguments[2]);
    puts("ready");
    fflush(stdout);

    static uint8_t from_host[1 << 17], packet[1 << 12];
    size_t held = 0;
    for (;;) {
        struct pollfd fds[2] = {{.fd = channel, .events = POLLIN}, {.fd = port, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0) die("poll");
        if (fds[0].revents) {
            ssize_t n = read(channel, packet, sizeof packet);
            if (n <= 0) die("the controller is gone");
            for (ssize_t sent = 0; sent < n;) {
                ssize_t written = write(port, packet + sent, (size_t)(n - sent));
                if (written < 0) die("write to the host");
                sent += written;
            }
        }
        if (fds[1].revents & POLLIN) {
            ssize_t n = read(port, from_host + held, sizeof from_host - held);
            if (n <= 0) return 0;
            held += (size_t)n;
            size_t at = 0;
            while (at < held) {
                long length = packet_length(from_host + at, held - at);
                if (length < 0) die("the host sent something that is not H4");
                if (length == 0 || (size_t)length > held - at) break;
                if (write(channel, from_host + at, (size_t)length) != length) die("write to the controller");
                at += (size_t)length;
            }
            held -= at;
            memmove(from_host, from_host + at, held);
        } else if (fds[1].revents & POLLHUP) {
            return 0;
        }
    }
}
