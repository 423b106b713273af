// SPDX-License-Identifier: GPL-2.0-or-later
//
// An independent reader of an evdev node, which decodes key events with its own table of the US layout.
//
//     evread NODE [--stall MS] [--stopped] [--share] [--keys]
//
//     --stall MS    reads only every MS, half a millisecond early so as not to be late (0: at once)
//     --stopped     the process is sometimes stopped on purpose, so being late is not an error
//     --share       does not grab the node, so other readers also receive the events
//     --keys        also prints {"keys":[[KEY,VALUE],...]}, for other decoders
//
// Standard output is one JSON object per line: {"ready":true} when the node is open, {"text":"...","first":T,"last":T}
// for each drain, with the kernel's time stamps of the first and the last key press (seconds, wall clock), and
// {"summary":{...}} at the end, after SIGTERM or when the device is removed.
//
// In the summary, "disorder" counts presses of pressed keys and releases of released keys, "repeats" events with value
// 2, and "others" events that are not keys, reports, scan codes or LEDs. "held" lists the keys that were down at the
// end, and "worst" is the longest gap in microseconds. "late" counts the drains that finished their first read more
// than MS after the start of the previous drain. "in_time" counts SYN_DROPPED in all other drains, which this reader
// cannot have caused.
//
// Without --stall, the reader drains every 10 ms even if there is no event, and is late after 20 ms. Events dropped in
// a late drain count as lost by the lab (losses.h), unless --stopped is given.

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "losses.h"

enum { SLACK = 500, LATE = 20000, BEAT_MS = 10 }; // in microseconds, except the last one

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

/// Sleeps until shortly before `when`, then spins, so as not to wake up late.
static void wait_until(int64_t when, int64_t spin) {
    int64_t early = when - spin;
    struct timespec t = {.tv_sec = early / 1000000, .tv_nsec = early % 1000000 * 1000};
    while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
    while (!ended && now_us() < when) continue;
}

static bool down[KEY_CNT];
static long presses, releases, frames, dropped, disorder, repeats, unknown, others, drains, late, in_time;
static double first, last_press; // time stamps of the text that is not printed yet
static char text[1 << 16];
static size_t length;
static bool shows_keys;
static long shown; // number of keys on the current, incomplete line

static void print_text(void) {
    if (shown) puts("]}"), fflush(stdout), shown = 0;
    if (length == 0) return;
    fputs("{\"text\":\"", stdout);
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] == '"' || text[i] == '\\')
            printf("\\u%04x", text[i]);
        else
            putchar(text[i]);
    printf("\",\"first\":%.6f,\"last\":%.6f}\n", first, last_press);
    fflush(stdout);
    length = 0;
}

static void take(const struct input_event *event) {
    if (event->type == EV_SYN && event->code == SYN_DROPPED) dropped++;
    if (event->type == EV_SYN && event->code == SYN_REPORT) frames++;
    others += event->type != EV_SYN && event->type != EV_KEY && event->type != EV_MSC && event->type != EV_LED;
    if (event->type != EV_KEY) return;
    if (shows_keys) printf("%s[%d,%d]", shown++ ? "," : "{\"keys\":[", event->code, event->value);
    if (event->value == 2) repeats++;
    if (event->value == 1) {
        if (length == sizeof text) print_text();
        presses++;
        last_press = (double)event->input_event_sec + (double)event->input_event_usec / 1e6;
        if (length == 0) first = last_press;
        disorder += down[event->code];
        down[event->code] = true;
        bool shift = down[KEY_LEFTSHIFT] || down[KEY_RIGHTSHIFT];
        char c = shift ? shifted[event->code] : plain[event->code];
        if (c != 0) text[length++] = c;
        if (c == 0 && event->code != KEY_LEFTSHIFT && event->code != KEY_RIGHTSHIFT) unknown++;
    }
    if (event->value == 0) {
        releases++;
        disorder += !down[event->code];
        down[event->code] = false;
    }
}

int main(int count, char **arguments) {
    int64_t stall = 0;
    bool share = false, is_stopped = false, usable = count >= 2;
    for (int i = 2; i < count; i++)
        if (strcmp(arguments[i], "--stall") == 0 && i + 1 < count)
            stall = (int64_t)atoi(arguments[++i]) * 1000;
        else if (strcmp(arguments[i], "--stopped") == 0)
            is_stopped = true;
        else if (strcmp(arguments[i], "--share") == 0)
            share = true;
        else if (strcmp(arguments[i], "--keys") == 0)
            shows_keys = true;
        else
            usable = false;
    if (!usable) {
        fprintf(stderr, "usage: evread NODE [--stall MS] [--stopped] [--share] [--keys]\n");
        return 64;
    }
    build_table();
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 10});
    int fd = open(arguments[1], O_RDONLY | O_NONBLOCK);
    if (fd < 0 || (!share && ioctl(fd, EVIOCGRAB, 1) < 0)) {
        fprintf(stderr, "evread: %s: %s\n", arguments[1], strerror(errno));
        return 1;
    }
    puts("{\"ready\":true}");
    fflush(stdout);

    bool gone = false, ending = false;
    bool has_to_keep_up = stall == 0 && !is_stopped;
    int64_t last = now_us(), worst = 0;
    while (!ending && !gone) {
        ending = ended; // then read once more the events that are left
        if (stall > 0)
            wait_until(last + stall - SLACK, stall < 100000 ? stall / 10 : 10000);
        else
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, ending ? 0 : BEAT_MS);
        int64_t start = now_us();
        struct input_event events[256]; // the capacity of the kernel's queue, so that one read returns all events
        ssize_t n = read(fd, events, sizeof events);
        bool is_late = now_us() - last > (stall > 0 ? stall : LATE);
        long before = dropped;
        for (; n > 0; n = read(fd, events, sizeof events))
            for (ssize_t i = 0; i < n / (ssize_t)sizeof events[0]; i++) take(&events[i]);
        if (stall > 0 && start - last > worst) worst = start - last;
        drains++;
        late += is_late;
        if (!is_late) in_time += dropped - before;
        last = start;
        gone = n < 0 && errno == ENODEV;
        print_text();
        if (has_to_keep_up) tell_lost(dropped - in_time, false);
    }
    printf("{\"summary\":{\"presses\":%ld,\"releases\":%ld,\"frames\":%ld,\"dropped\":%ld,\"disorder\":%ld,"
           "\"repeats\":%ld,\"unknown\":%ld,\"others\":%ld,\"drains\":%ld,\"late\":%ld,\"in_time\":%ld,\"worst\":%lld,\"gone\":%s,\"held\":[",
           presses, releases, frames, dropped, disorder, repeats, unknown, others, drains, late, in_time, (long long)worst, gone ? "true" : "false");
    for (int code = 0, any = 0; code < KEY_CNT; code++)
        if (down[code]) printf("%s%d", any++ ? "," : "", code);
    puts("]}}");
    if (has_to_keep_up) tell_lost(dropped - in_time, true);
    return 0;
}
