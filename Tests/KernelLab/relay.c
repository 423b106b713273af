// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connects a controller's user channel in the guest to a virtio-serial port, whose other end is a unix socket on the
// host, so that a Bluetooth host stack there (Bumble) controls the controller.
//
//     relay INDEX PORTNAME
//     relay INDEX listen:PATH  uses a unix socket in the guest instead, for one program after another
//     relay vhci PORTNAME      creates a controller in the kernel, which is simulated at the other end of the port
//
// The port is a stream of H4 packets. The user channel and /dev/vhci require exactly one packet in each write.
//
// Prints "ready" when both are open. Ends when the host closes its end or the controller is removed. Reports the
// packets that the kernel dropped at the user channel (losses.h). After SIGTERM, it sends nothing more to the host, and
// reports the number of bytes transferred over the port now and whenever more have arrived:
// {"event":"port","to_host":N,"from_host":N}. With listen:, it simply ends.
//
// For the negative controls of the lab:
//   SIGUSR1    discards the next ACL data packet of the controller, and counts it as dropped by the kernel
//   SIGUSR2    makes the receive queue as short as possible, or restores its length
// Each of these is answered with {"event":"ordered"} when it has taken effect.

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

// Packets to a virtual controller are not dropped, because the kernel's queue for them is unlimited.
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
    // A new controller is busy until the kernel has set it up, and no event reports this.
    for (int tries = 0; tries < 500; tries++) {
        if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
        if (errno != EBUSY && errno != ENODEV) break;
        usleep(20000);
    }
    die("bind to the user channel");
    return -1;
}

/// Creates a controller in the kernel that exists until the returned descriptor is closed.
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

/// Returns the length of the H4 packet at `data`, 0 if its header is incomplete, or -1 if it is invalid.
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

/// Sends a packet to the host. Returns false if the host has closed its end.
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

/// Forwards one packet from the controller to the host. Returns false if the host has closed its end.
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

/// Size of the incomplete packet received from the host.
static size_t held;

/// Forwards the host's data to the controller, packet by packet. Returns false if the host has closed its end.
static bool read_port(void) {
    static uint8_t data[1 << 17];
    ssize_t n = read(port, data + held, sizeof data - held);
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) return false; // also ECONNRESET, if the program was killed
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
        if (listener >= 0) exit(0); // there is no other end that counts bytes
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
