// SPDX-License-Identifier: GPL-2.0-or-later
//
// An independent reader of an evdev node: decodes US layout key events with a table of its own.
//
//     evread NODE [--stall MS]      MS between the start of one drain and the next (0: as they come)
//
// Standard output, one JSON object a line: {"ready":true} once the node is open and grabbed,
// {"text":"..."} for each drain, and {"summary":{...}} at the end: after SIGTERM, or when the device
// is gone. "disorder" counts a press of a pressed key or a release of a released one, "repeats"
// value 2, "held" the keys that were down when it ended, "worst" the longest gap in microseconds.

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended;
static void on_signal(int number) { (void)number, ended = 1; }

static char plain[KEY_CNT], shifted[KEY_CNT];

static void row(int first, const char *low, const char *high) {
    for (int i = 0; low[i] != 0; i++) {
        plain[first + i] = low[i];
        shifted[first + i] = high[i];
    }
}

static void build_table(void) {
    row(KEY_1, "1234567890-=", "!@#$%^&*()_+");
    row(KEY_Q, "qwertyuiop[]", "QWERTYUIOP{}");
    row(KEY_A, "asdfghjkl;'`", "ASDFGHJKL:\"~");
    row(KEY_BACKSLASH, "\\zxcvbnm,./", "|ZXCVBNM<>?");
    row(KEY_SPACE, " ", " ");
    row(KEY_TAB, "\t", "\t");
    row(KEY_ENTER, "\r", "\r");
    row(KEY_BACKSPACE, "\b", "\b");
}

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/// Sleeps until shortly before `when`, then spins: a reader that wakes late would not be the one asked for.
static void wait_until(int64_t when) {
    int64_t early = when - 10000;
    struct timespec t = {.tv_sec = early / 1000000, .tv_nsec = early % 1000000 * 1000};
    while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
    while (!ended && now_us() < when) continue;
}

static bool down[KEY_CNT];
static long presses, releases, frames, dropped, disorder, repeats, unknown;
static char text[1 << 16];
static size_t length;

static void take(const struct input_event *event) {
    if (event->type == EV_SYN && event->code == SYN_DROPPED) dropped++;
    if (event->type == EV_SYN && event->code == SYN_REPORT) frames++;
    if (event->type != EV_KEY) return;
    if (event->value == 2) repeats++;
    if (event->value == 1) {
        presses++;
        disorder += down[event->code];
        down[event->code] = true;
        bool shift = down[KEY_LEFTSHIFT] || down[KEY_RIGHTSHIFT];
        char c = shift ? shifted[event->code] : plain[event->code];
        if (c != 0 && length < sizeof text) text[length++] = c;
        if (c == 0 && event->code != KEY_LEFTSHIFT && event->code != KEY_RIGHTSHIFT) unknown++;
    }
    if (event->value == 0) {
        releases++;
        disorder += !down[event->code];
        down[event->code] = false;
    }
}

static void print_text(void) {
    if (length == 0) return;
    fputs("{\"text\":\"", stdout);
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] == '"' || text[i] == '\\')
            printf("\\u%04x", text[i]);
        else
            putchar(text[i]);
    fputs("\"}\n", stdout);
    fflush(stdout);
    length = 0;
}

int main(int count, char **arguments) {
    int64_t stall = 0;
    if (count == 4 && strcmp(arguments[2], "--stall") == 0) {
        stall = (int64_t)atoi(arguments[3]) * 1000;
    } else if (count != 2) {
        fprintf(stderr, "usage: evread NODE [--stall MS]\n");
        return 64;
    }
    build_table();
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 10});
    int fd = open(arguments[1], O_RDONLY | O_NONBLOCK);
    if (fd < 0 || ioctl(fd, EVIOCGRAB, 1) < 0) {
        fprintf(stderr, "evread: %s: %s\n", arguments[1], strerror(errno));
        return 1;
    }
    puts("{\"ready\":true}");
    fflush(stdout);

    bool gone = false;
    int64_t last = now_us(), worst = 0;
    while (!ended && !gone) {
        if (stall > 0)
            wait_until(last + stall);
        else
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
        int64_t start = now_us();
        if (stall > 0 && start - last > worst) worst = start - last;
        last = start;
        struct input_event events[64];
        ssize_t n;
        while ((n = read(fd, events, sizeof events)) > 0)
            for (ssize_t i = 0; i < n / (ssize_t)sizeof events[0]; i++) take(&events[i]);
        gone = n < 0 && errno == ENODEV;
        print_text();
    }
    printf("{\"summary\":{\"presses\":%ld,\"releases\":%ld,\"frames\":%ld,\"dropped\":%ld,\"disorder\":%ld,"
           "\"repeats\":%ld,\"unknown\":%ld,\"worst\":%lld,\"gone\":%s,\"held\":[",
           presses, releases, frames, dropped, disorder, repeats, unknown, (long long)worst, gone ? "true" : "false");
    for (int code = 0, any = 0; code < KEY_CNT; code++)
        if (down[code]) printf("%s%d", any++ ? "," : "", code);
    puts("]}}");
    return 0;
}
