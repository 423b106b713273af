// SPDX-License-Identifier: GPL-2.0-or-later
//
// A virtual keyboard of the lab, created like the product's: keys without autorepeat, and the requested relative axes.

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/uinput.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct input_event events[4096];
static size_t waiting;

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/// Returns true for the keys that the keyboard has: the main block, the function keys and the navigation keys.
static int is_declared(int code) {
    return (code >= KEY_ESC && code <= KEY_F10) || (code >= KEY_HOME && code <= KEY_DELETE);
}

/// Creates the device with a relative axis for each bit of `axes`, and prints {"node":"/dev/input/event..."}.
static int open_keyboard(const char *name, unsigned long axes) {
    int fd = open("/dev/uinput", O_WRONLY | O_CLOEXEC);
    struct uinput_setup setup = {.id = {.bustype = BUS_VIRTUAL}};
    snprintf(setup.name, sizeof setup.name, "%s", name);
    if (fd < 0 || ioctl(fd, UI_SET_EVBIT, EV_KEY) < 0) die("uinput");
    for (int code = KEY_ESC; code <= KEY_DELETE; code++)
        if (is_declared(code)) ioctl(fd, UI_SET_KEYBIT, code);
    if (axes && ioctl(fd, UI_SET_EVBIT, EV_REL) < 0) die("uinput");
    for (int code = 0; code < REL_CNT; code++)
        if (axes >> code & 1 && ioctl(fd, UI_SET_RELBIT, code) < 0) die("uinput");
    if (ioctl(fd, UI_DEV_SETUP, &setup) < 0 || ioctl(fd, UI_DEV_CREATE) < 0) die("uinput");
    char place[64] = "", pattern[128];
    ioctl(fd, UI_GET_SYSNAME(sizeof place), place);
    snprintf(pattern, sizeof pattern, "/sys/devices/virtual/input/%s/event*", place);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) die("no event node");
    printf("{\"node\":\"/dev/input/%s\"}\n", strrchr(found.gl_pathv[0], '/') + 1);
    fflush(stdout);
    return fd;
}

static void add(unsigned type, unsigned code, int value) {
    if (waiting < sizeof events / sizeof events[0])
        events[waiting++] = (struct input_event){.type = (__u16)type, .code = (__u16)code, .value = value};
}

/// Adds a keystroke without modifiers: four events.
__attribute__((unused)) static void stroke(unsigned code) {
    add(EV_KEY, code, 1);
    add(EV_SYN, SYN_REPORT, 0);
    add(EV_KEY, code, 0);
    add(EV_SYN, SYN_REPORT, 0);
}

/// Writes all added events at once.
static void flush_events(int fd) {
    ssize_t size = (ssize_t)(waiting * sizeof events[0]);
    if (write(fd, events, (size_t)size) != size) die("write to uinput");
    waiting = 0;
}
