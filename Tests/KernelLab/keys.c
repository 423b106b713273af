// SPDX-License-Identifier: GPL-2.0-or-later
//
// A virtual keyboard that executes the lines of standard input, and answers each with {"done":true}:
//
//     keys [AXES [NAME]]     AXES: mask of additional relative axes, such as 0xe63c; NAME: name of the device
//
//     events N    sends N events in one write: keystrokes of the key A, and a remainder of three as one frame
//     shift 0|1   releases or presses Shift
//     caps        presses and releases CapsLock
//     press N     presses and releases the key with this code

#include "keyboard.h"

int main(int count, char **arguments) {
    int fd = open_keyboard(count > 2 ? arguments[2] : "lab keys", count > 1 ? strtoul(arguments[1], NULL, 0) : 0);
    char line[64];
    int number;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "events %d", &number) == 1) {
            for (; number >= 4; number -= 4) stroke(KEY_A);
            if (number == 3) add(EV_KEY, KEY_B, 1), add(EV_KEY, KEY_B, 0), add(EV_SYN, SYN_REPORT, 0);
        } else if (sscanf(line, "shift %d", &number) == 1) {
            add(EV_KEY, KEY_LEFTSHIFT, number), add(EV_SYN, SYN_REPORT, 0);
        } else if (sscanf(line, "press %d", &number) == 1 && is_declared(number)) {
            stroke((unsigned)number);
        } else if (strcmp(line, "caps\n") == 0) {
            stroke(KEY_CAPSLOCK);
        } else {
            fprintf(stderr, "keys: no such line: %s", line);
            return 64;
        }
        flush_events(fd);
        puts("{\"done\":true}");
        fflush(stdout);
    }
    return 0;
}
