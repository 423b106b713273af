// SPDX-License-Identifier: GPL-2.0-or-later
//
// A program on a virtual terminal: raw mode, so that Enter is CR; `ready PID`, then what is typed, as it
// comes, on standard output.
//
//     terminal drop      what was typed before is thrown away, and no more
//
// What was typed while nobody had the terminal open lies in the kernel's buffer of it until the next key:
// TCIFLUSH throws it away.

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
