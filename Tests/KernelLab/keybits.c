// SPDX-License-Identifier: GPL-2.0-or-later
//
// The keys that the kernel says a device has, and those that it lets through.
//
//     keybits NODE
//
// Prints {"types":[TYPE,...],"axes":[AXIS,...],"declared":[KEY,...],"passed":[KEY,...]}: the bits of EVIOCGBIT, of its
// EV_REL and of its EV_KEY; and the keys that come back from the
// node after each of 1 to KEY_MAX was pressed and released through it, as a program could that has got hold of the
// device. The node is grabbed: nobody else sees these keys.

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

/// Reads all that there is; whether this key went down.
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

/// The codes that the device has of a type of events; of type 0, the types.
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
