// SPDX-License-Identifier: GPL-2.0-or-later
//
// Joins a controller's user channel in the guest to a virtio-serial port, whose other end is a unix
// socket on the host: a Bluetooth host stack there (Bumble) then owns the controller.
//
//     relay INDEX PORTNAME
//     relay INDEX listen:PATH  to a unix socket in the guest instead: a line to the controller, for one program after another
//     relay vhci PORTNAME      a new controller of the kernel's instead, which is what answers at the other end of the port
//
// The port is a stream of H4 packets; the user channel, and /dev/vhci, want exactly one packet a write.
// Prints "ready" once both are open; ends when the host closes its end or the controller goes. Says what the kernel
// dropped at the user channel (losses.h). After SIGTERM it sends nothing more to the host, and says how many bytes have
// gone over the port, then and whenever more have come: {"event":"port","to_host":N,"from_host":N}; a line just ends.
// For the lab's own controls:
//   SIGUSR1    the next ACL data packet of the controller is thrown away, and counted as if the kernel had dropped it
//   SIGUSR2    the receive queue is made as short as the kernel allows, or as long again as it was
// Each is answered by {"event":"ordered"} once it is so.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "losses.h"

enum { ACL_DATA = 2, VENDOR = 0xff };
enum { BLUETOOTH = 31, HCI_PROTOCOL = 1, USER_CHANNEL = 1 };

struct hci_address {
    uint16_t family, device, channel;
};

static int channel = -1, port = -1, listener = -1;
static long thrown_away, to_host, from_host;
static bool is_virtual, is_to_throw_away, is_short, is_ending;

// What the kernel sends a virtual controller waits in a queue without a limit.
static void tell_losses(bool in_any_case) {
    tell_lost((is_virtual ? 0 : drops_at(channel)) + thrown_away, in_any_case);
}

static void tell_all(void) {
    if (channel >= 0) tell_losses(true);
}

static void die(const char *what) {
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int open_channel(uint16_t index) {
    int fd = socket(BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, HCI_PROTOCOL);
    if (fd < 0) die("socket");
    set_receive_queue(fd, RECEIVE_QUEUE);
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

/// A controller that the kernel has from now on until this is closed. Its answer says the controller's index.
static int open_virtual(void) {
    int fd = open("/dev/vhci", O_RDWR | O_CLOEXEC);
    if (fd < 0) die("/dev/vhci");
    uint8_t primary[2] = {VENDOR, 0}, answer[4];
    if (write(fd, primary, sizeof primary) != sizeof primary) die("a new controller");
    if (read(fd, answer, sizeof answer) != sizeof answer || answer[0] != VENDOR) die("the answer of /dev/vhci");
    return fd;
}

static void listen_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) die("the path is too long");
    strcpy(address.sun_path, path);
    unlink(path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0)
        die("listen");
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
            return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
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

/// Hands a packet to the host; false if the host has closed its end.
static bool send_to_host(const uint8_t *packet, size_t size) {
    while (size > 0) {
        ssize_t n = write(port, packet, size);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd writable = {.fd = port, .events = POLLOUT};
            if (poll(&writable, 1, -1) < 0) die("poll");
            if (writable.revents & POLLHUP) return false;
            continue;
        }
        if (n < 0 && listener >= 0 && errno == EPIPE) return false;
        if (n < 0) die("write to the host");
        packet += n;
        size -= (size_t)n;
        to_host += n;
    }
    return true;
}

/// One packet of the controller's to the host; false if the host has closed its end.
static bool read_channel(void) {
    static uint8_t packet[1 << 12];
    ssize_t n = is_virtual ? read(channel, packet, sizeof packet) : recv(channel, packet, sizeof packet, MSG_TRUNC);
    if (n <= 0) die("the controller is gone");
    if ((size_t)n > sizeof packet) die("the controller sent a packet that is too long");
    if (is_to_throw_away && packet[0] == ACL_DATA) {
        is_to_throw_away = false;
        thrown_away++;
        n = 0;
    }
    tell_losses(false);
    return send_to_host(packet, (size_t)n);
}

static void tell_port(void) {
    printf("{\"event\":\"port\",\"to_host\":%ld,\"from_host\":%ld}\n", to_host, from_host);
    fflush(stdout);
}

/// What the host has sent and is no whole packet yet.
static size_t held;

/// What the host has sent, packet by packet to the controller; false if the host has closed its end.
static bool read_port(void) {
    static uint8_t data[1 << 17];
    ssize_t n = read(port, data + held, sizeof data - held);
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) return false; // also ECONNRESET: a program that was killed
    held += (size_t)n;
    from_host += n;
    size_t at = 0;
    while (at < held) {
        long length = packet_length(data + at, held - at);
        if (length < 0) die("the host sent something that is not H4");
        if (length == 0 || (size_t)length > held - at) break;
        if (write(channel, data + at, (size_t)length) != length) die("write to the controller");
        at += (size_t)length;
    }
    held -= at;
    memmove(data, data + at, held);
    if (is_ending) tell_port();
    return true;
}

static void obey(int signals) {
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof info) != sizeof info) die("read of a signal");
    if (info.ssi_signo == SIGTERM) {
        if (listener >= 0) exit(0); // nobody counts at the other end
        is_ending = true;
        tell_port();
    } else {
        if (info.ssi_signo == SIGUSR1) is_to_throw_away = true;
        if (info.ssi_signo == SIGUSR2) set_receive_queue(channel, (is_short = !is_short) ? 1 : RECEIVE_QUEUE);
        puts("{\"event\":\"ordered\"}");
        fflush(stdout);
    }
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: relay INDEX|vhci PORTNAME|listen:PATH\n");
        return 64;
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    is_virtual = strcmp(arguments[1], "vhci") == 0;
    channel = is_virtual ? open_virtual() : open_channel((uint16_t)atoi(arguments[1]));
    atexit(tell_all);
    signal(SIGPIPE, SIG_IGN);
    if (strncmp(arguments[2], "listen:", 7) == 0)
        listen_at(arguments[2] + 7);
    else if ((port = open_port(arguments[2])) < 0)
        die(arguments[2]);
    puts("ready");
    fflush(stdout);

    for (bool is_open = true; is_open;) {
        struct pollfd fds[3] = {{.fd = signals, .events = POLLIN},
                                {.fd = is_ending || port < 0 ? -1 : channel, .events = POLLIN},
                                {.fd = port < 0 ? listener : port, .events = POLLIN}};
        if (poll(fds, 3, -1) < 0) die("poll");
        if (fds[0].revents) obey(signals);
        if (fds[1].revents && !is_ending) is_open = read_channel();
        if (port < 0 && fds[2].revents) {
            if ((port = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0) die("accept");
            held = 0;
            continue;
        }
        if (fds[2].revents & POLLIN)
            is_open = read_port() && is_open;
        else if (fds[2].revents & POLLHUP)
            is_open = false;
        if (!is_open && listener >= 0) {
            close(port);
            port = -1;
            is_open = true;
        }
    }
    return 0;
}
