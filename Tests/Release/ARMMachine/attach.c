// SPDX-License-Identifier: GPL-2.0-or-later
//
// Attaches a Bluetooth controller that uses H4 on a serial line to the kernel (the line discipline of hci_uart).
//
//     attach LINE        at 115200 bit/s, with hardware flow control
//
// Prints {"controller":N} when the kernel has the controller. Detaches it at the end: after SIGTERM or SIGINT.

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// From the kernel's drivers/bluetooth/hci_uart.h, which programs cannot include.
enum { DISCIPLINE = 15, H4 = 0 };
static const unsigned long set_protocol = _IOW('U', 200, int), get_device = _IOR('U', 202, int);

static void die(const char *what) {
    fprintf(stderr, "attach: %s: %s\n", what, strerror(errno));
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: attach LINE\n");
        return 64;
    }
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int line = open(arguments[1], O_RDWR | O_NOCTTY);
    if (line < 0) die(arguments[1]);
    struct termios settings;
    if (ioctl(line, TCGETS, &settings) < 0) die("not a serial line");
    settings.c_iflag = settings.c_oflag = settings.c_lflag = 0;
    settings.c_cflag = CS8 | CREAD | CLOCAL | CRTSCTS | B115200;
    int discipline = DISCIPLINE;
    if (ioctl(line, TCSETSF, &settings) < 0) die("the line's settings");
    if (ioctl(line, TIOCSETD, &discipline) < 0) die("the line discipline");
    if (ioctl(line, set_protocol, H4) < 0) die("the protocol");
    int controller = ioctl(line, get_device, 0);
    if (controller < 0) die("the controller's number");
    printf("{\"controller\":%d}\n", controller);
    fflush(stdout);
    int number;
    sigwait(&ends, &number);
    return 0;
}
