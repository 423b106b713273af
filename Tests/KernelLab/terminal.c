// SPDX-License-Identifier: GPL-2.0-or-later
//
// A program on a virtual terminal in raw mode, where Enter is CR. Prints `ready PID`, and then the typed characters as
// they arrive.
//
//     terminal drop      only discards the characters that were typed before
//
// If no program has the terminal open, the kernel keeps typed characters in a buffer until the next key. TCIFLUSH
// discards them.

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc > 1) return strcmp(argv[1], "drop") == 0 ? tcflush(STDIN_FILENO, TCIFLUSH) != 0 : 64;
    struct termios mode;
    if (tcgetattr(STDIN_FILENO, &mode) != 0) {
        perror("terminal: standard input");
        return 1;
    }
    cfmakeraw(&mode);
    if (tcsetattr(STDIN_FILENO, TCSANOW, &mode) != 0 || tcflush(STDIN_FILENO, TCIFLUSH) != 0) {
        perror("terminal: raw mode");
        return 1;
    }
    dprintf(STDOUT_FILENO, "ready %d\n", getpid());
    char bytes[4096];
    ssize_t count;
    while ((count = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        if (write(STDOUT_FILENO, bytes, (size_t)count) != count) return 1;
    }
    return 0;
}
