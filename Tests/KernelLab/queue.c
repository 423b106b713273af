// SPDX-License-Identifier: GPL-2.0-or-later
//
// Plays traces into the kernel's event queue for a reader of a keyboard, and prints the events that the reader gets.
//
// A trace is a line on standard input:
//
//     a to z    key down        .    a report ends the frame
//     A to Z    key up          |    the reader reads all available events
//
// AXES is a mask of additional relative axes of the keyboard. All events before a read are sent in one write. Each line
// is answered with {"read":"..."} in the same notation, with `!` for SYN_DROPPED and `|` at the end of each read.

#include "keyboard.h"

static const unsigned keys[26] = {
    KEY_A, KEY_B, KEY_C, KEY_D, KEY_E, KEY_F, KEY_G, KEY_H, KEY_I, KEY_J, KEY_K, KEY_L, KEY_M,
    KEY_N, KEY_O, KEY_P, KEY_Q, KEY_R, KEY_S, KEY_T, KEY_U, KEY_V, KEY_W, KEY_X, KEY_Y, KEY_Z,
};

static char letter(const struct input_event *event) {
    if (event->type == EV_SYN) return event->code == SYN_REPORT ? '.' : event->code == SYN_DROPPED ? '!' : '?';
    for (int i = 0; event->type == EV_KEY && i < 26; i++)
        if (keys[i] == event->code) return (char)((event->value ? 'a' : 'A') + i);
    return '?';
}

static void read_all(int reader) {
    struct input_event got[64];
    ssize_t n;
    while ((n = read(reader, got, sizeof got)) > 0)
        for (ssize_t i = 0; i < n / (ssize_t)sizeof got[0]; i++) putchar(letter(&got[i]));
    if (errno != EAGAIN) die("read");
    putchar('|');
}

int main(int count, char **arguments) {
    if (count > 2) {
        fprintf(stderr, "usage: queue [AXES] <traces\n");
        return 64;
    }
    int keyboard = open_keyboard("lab queue", count > 1 ? strtoul(arguments[1], NULL, 0) : 0);
    static char line[1 << 14], node[64];
    if (fgets(node, sizeof node, stdin) == NULL) die("standard input"); // the node printed above
    node[strcspn(node, "\n")] = 0;
    while (fgets(line, sizeof line, stdin)) {
        int reader = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // with an empty queue
        if (reader < 0 || ioctl(reader, EVIOCGRAB, 1) < 0) die(node);
        fputs("{\"read\":\"", stdout);
        for (const char *at = line; *at && *at != '\n'; at++) {
            if (*at >= 'a' && *at <= 'z') add(EV_KEY, keys[*at - 'a'], 1);
            if (*at >= 'A' && *at <= 'Z') add(EV_KEY, keys[*at - 'A'], 0);
            if (*at == '.') add(EV_SYN, SYN_REPORT, 0);
            if (*at == '|') flush_events(keyboard), read_all(reader);
        }
        puts("\"}");
        fflush(stdout);
        close(reader);
    }
    return 0;
}
