// SPDX-License-Identifier: GPL-2.0-or-later
//
// Clients of a control socket: some that send requests without a pause, and one that waits for each answer.
//
//     askers SOCKET FLOODS COUNT
//
// FLOODS connections send `status` without waiting, and read the answers as they arrive. Another connection sends
// `status` COUNT times, each time after the answer to the previous request. Prints
// {"p50":MS,"p99":MS,"most":MS,"flooded":N}: the response times of that connection, and the number of answers that the
// others received meanwhile.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FLOODS = 32, MOST_COUNT = 100000, BUFFER = 65536 };

static const char request[] = "status\n";

static void die(const char *what) {
    fprintf(stderr, "askers: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static int open_client(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) errno = ENAMETOOLONG, die(path);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) die(path);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0) die("O_NONBLOCK");
    return fd;
}

/// Reads all available data, and returns the number of lines in it.
static long lines_of(int fd) {
    static char buffer[BUFFER];
    long lines = 0;
    for (;;) {
        ssize_t count = read(fd, buffer, sizeof buffer);
        if (count == 0) errno = ECONNRESET, die("the daemon let a client go");
        if (count < 0 && errno == EAGAIN) return lines;
        if (count < 0) die("read");
        for (ssize_t at = 0; at < count; at++) lines += buffer[at] == '\n';
    }
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: askers SOCKET FLOODS COUNT\n"), 64;
    int floods = atoi(arguments[2]), wanted = atoi(arguments[3]);
    if (floods < 0 || floods > MOST_FLOODS || wanted < 1 || wanted > MOST_COUNT) return 64;
    struct pollfd fds[MOST_FLOODS + 1];
    for (int each = 0; each <= floods; each++) fds[each] = (struct pollfd){.fd = open_client(arguments[1]), .events = POLLIN | POLLOUT};
    fds[floods].events = POLLIN;
    // Many requests in one write, as an attacker would send them.
    static char many[(sizeof request - 1) * 512];
    for (size_t at = 0; at < sizeof many; at += sizeof request - 1) memcpy(many + at, request, sizeof request - 1);
    size_t offset[MOST_FLOODS] = {0};
    static double times[MOST_COUNT];
    long flooded = 0;
    int done = 0;
    double asked = 0;
    while (done < wanted) {
        if (asked == 0) {
            asked = now();
            if (write(fds[floods].fd, request, sizeof request - 1) != sizeof request - 1) die("write");
        }
        if (poll(fds, floods + 1, 60000) <= 0) errno = ETIMEDOUT, die("no answer");
        for (int each = 0; each < floods; each++) {
            if (fds[each].revents & POLLIN) flooded += lines_of(fds[each].fd);
            if (!(fds[each].revents & POLLOUT)) continue;
            ssize_t sent = write(fds[each].fd, many + offset[each], sizeof many - offset[each]);
            if (sent > 0) offset[each] = (offset[each] + sent) % sizeof many;
        }
        if (fds[floods].revents & POLLIN && lines_of(fds[floods].fd) > 0) {
            times[done++] = now() - asked;
            asked = 0;
        }
    }
    qsort(times, wanted, sizeof times[0], by_size);
    printf("{\"p50\":%.2f,\"p99\":%.2f,\"most\":%.2f,\"flooded\":%ld}\n", times[wanted / 2], times[wanted * 99 / 100],
           times[wanted - 1], flooded);
    return 0;
}
