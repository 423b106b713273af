// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "CPeers.h"
#include "reports.h"

static int64_t nanoseconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool hear(const uint8_t address[6], const uint8_t *packet, size_t length, size_t *reports) {
    bool heard = false;
    if (!is_sound(packet, length)) return false;
    struct reports rest = begin(packet);
    for (struct report report; next(&rest, &report);) {
        ++*reports;
        if (report.type != anonymous && memcmp(report.address, address, 6) == 0) heard = true;
    }
    return heard;
}

int64_t peer_radio_read(int fd, const uint8_t address[6], bool reads_all, size_t *reports) {
    uint8_t packet[258];
    struct epoll_event events[32], interest = {.events = EPOLLIN, .data.fd = fd};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool heard = false;
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest) != 0) return -1;
    *reports = 0;
    int64_t start = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
    while (!heard) {
        int count = epoll_wait(epoll, events, 32, -1);
        if (count < 0 && errno != EINTR) break;
        for (int event = 0; event < count; event++) {
            do {
                ssize_t length = recv(events[event].data.fd, packet, sizeof packet, 0);
                if (length <= 0) break;
                heard |= hear(address, packet, (size_t)length, reports);
            } while (reads_all && !heard);
        }
    }
    int64_t time = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
    close(epoll);
    return heard ? time : -1;
}

bool peer_radio_feed(int fd, const uint8_t *packets, const uint16_t *lengths, size_t packet_count, size_t count,
                     int64_t nanoseconds, const uint8_t *last, size_t last_length) {
    const uint8_t *packet = packets;
    int64_t next = nanoseconds_of(CLOCK_MONOTONIC);
    for (size_t sent = 0, index = 0; sent <= count; sent++) {
        if (nanoseconds > 0) {
            next += nanoseconds;
            while (nanoseconds_of(CLOCK_MONOTONIC) < next) {}
        }
        const uint8_t *bytes = sent < count ? packet : last;
        size_t length = sent < count ? lengths[index] : last_length;
        if (send(fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) return false;
        packet += lengths[index++];
        if (index == packet_count) {
            index = 0;
            packet = packets;
        }
    }
    return true;
}
