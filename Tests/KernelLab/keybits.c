// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prints the keys that a device has according to the kernel, and the keys that it actually passes on.
//
//     keybits NODE
//
// Prints {"types":[TYPE,...],"axes":[AXIS,...],"declared":[KEY,...],"passed":[KEY,...]}: the event types, relative axes
// and keys from EVIOCGBIT, and the keys that come back from the node when each key from 1 to KEY_MAX is pressed and
// released through it, as a program with access to the device could do. The node is grabbed, so other readers do not
// receive these keys.

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void die(const char *what) {
    fprintf(stderr, "keybits: %s: %s\n", what, strerror(errno));
    exit(1);
}

/// Reads all available events. Returns true if this key was pressed.
static bool comes_back(int fd, int code) {
    struct input_event events[64];
    bool found = false;
    for (ssize_t n; (n = read(fd, events, sizeof events)) > 0;)
        for (ssize_t i = 0; i < n / (ssize_t)sizeof events[0]; i++) {
            if (events[i].type != EV_KEY) continue;
            if (events[i].code != code) errno = EPROTO, die("another key came back");
            found |= events[i].value == 1;
        }
    return found;
}

/// Prints the codes that the device has for an event type; for type 0, the event types.
static void print_bits(int fd, const char *name, int type, int most) {
    unsigned char bits[KEY_CNT / 8] = {0};
    if (ioctl(fd, EVIOCGBIT(type, sizeof bits), bits) < 0) die("EVIOCGBIT");
    printf("\"%s\":[", name);
    for (int code = 0, any = 0; code < most; code++)
        if (bits[code / 8] >> code % 8 & 1) printf("%s%d", any++ ? "," : "", code);
    fputs("],", stdout);
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: keybits NODE\n"), 64;
    int fd = open(arguments[1], O_RDWR | O_NONBLOCK);
    if (fd < 0 || ioctl(fd, EVIOCGRAB, 1) < 0) die(arguments[1]);
    putchar('{');
    print_bits(fd, "types", 0, EV_CNT);
    print_bits(fd, "axes", EV_REL, REL_CNT);
    print_bits(fd, "declared", EV_KEY, KEY_CNT);
    fputs("\"passed\":[", stdout);
    for (int code = 1, any = 0; code < KEY_CNT; code++) {
        struct input_event stroke[] = {
            {.type = EV_KEY, .code = (__u16)code, .value = 1}, {.type = EV_SYN},
            {.type = EV_KEY, .code = (__u16)code, .value = 0}, {.type = EV_SYN},
        };
        if (write(fd, stroke, sizeof stroke) != sizeof stroke) die("write");
        if (comes_back(fd, code)) printf("%s%d", any++ ? "," : "", code);
    }
    puts("]}");
    return 0;
}
