// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prints the characters on a virtual terminal as a JSON object with its lines, once at the start and after each change.
//
//     screen N           {"lines":["…", …]}, without trailing spaces
//     screen N cursor    prints only {"cursor":true} if the active terminal shows its cursor (from the VGA registers)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 256 * 256, CRTC_INDEX = 0x3d4, CRTC_DATA = 0x3d5, CURSOR_START = 0x0a, CURSOR_END = 0x0b, ZERO_WIDTH_SPACE = 0x200b };

static void die(const char *what) {
    fprintf(stderr, "screen: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int open_node(const char *kind, const char *number) {
    char path[64];
    snprintf(path, sizeof path, "/dev/%s%s", kind, number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) die(path);
    return fd;
}

static uint8_t crtc(int ports, uint8_t index) {
    uint8_t value;
    if (pwrite(ports, &index, 1, CRTC_INDEX) != 1 || pread(ports, &value, 1, CRTC_DATA) != 1) die("/dev/port");
    return value;
}

/// The kernel hides the cursor by setting its first scan line after its last one.
static int shows_cursor(void) {
    int ports = open("/dev/port", O_RDWR | O_CLOEXEC);
    if (ports < 0) die("/dev/port");
    uint8_t start = crtc(ports, CURSOR_START), end = crtc(ports, CURSOR_END);
    return (start & 0x1f) <= (end & 0x1f);
}

static void print_character(uint32_t c) {
    if (c == '"' || c == '\\') printf("\\%c", (char)c);
    else if (c >= 0x20 && c < 0x7f) putchar((int)c);
    else if (c >= 0x10000) printf("\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10 & 0x3ff), 0xdc00 + (c & 0x3ff));
    else printf("\\u%04x", c);
}

/// Returns true for a cell without a character. After a character that is two columns wide, older kernels store a
/// space, and 7.2 stores a zero-width space.
static int is_blank(uint32_t c) { return c == 0 || c == ' ' || c == ZERO_WIDTH_SPACE; }

static void print_screen(const uint32_t *cells, size_t count, size_t columns) {
    printf("{\"lines\":[");
    for (size_t row = 0; row < count; row += columns) {
        size_t width = columns;
        while (width > 0 && is_blank(cells[row + width - 1])) width--;
        printf(row ? ",\"" : "\"");
        for (size_t i = 0; i < width; i++) print_character(is_blank(cells[row + i]) ? ' ' : cells[row + i]);
        putchar('"');
    }
    puts("]}");
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    if (argc > 2) {
        printf("{\"cursor\":%s}\n", shows_cursor() ? "true" : "false");
        return 0;
    }
    static uint32_t now[MOST], shown[MOST];
    int characters = open_node("vcsu", argv[1]), attributes = open_node("vcsa", argv[1]);
    ssize_t last = 0;
    struct pollfd change = {.fd = characters, .events = POLLPRI};
    poll(&change, 1, 0); // start to record changes
    for (;;) {
        uint8_t head[4]; // lines, columns, and the position of the cursor
        if (pread(attributes, head, sizeof head, 0) != sizeof head) die("vcsa");
        ssize_t size = pread(characters, now, sizeof now, 0);
        if (size < 0) die("vcsu");
        if (size != last || memcmp(now, shown, (size_t)size) != 0) {
            memcpy(shown, now, (size_t)size);
            last = size;
            print_screen(now, (size_t)size / sizeof now[0], head[1] ? head[1] : 80);
        }
        // A read clears the flag for earlier changes (vc_screen.c); poll returns at the next change.
        if (poll(&change, 1, -1) < 0 && errno != EINTR) die("poll");
    }
}
