// SPDX-License-Identifier: GPL-2.0-or-later
//
// Preloaded into BlueZ's emulator to give its controllers fixed addresses.
//
// The emulator builds an address from the controller's position in its list and the number that the kernel assigned.
// This removes the number, because the address of a real adapter does not change when it is plugged in again: 00:AA:01
// and the position.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

// Command Complete event for Read BD_ADDR: Core 6.0, Vol 4, Part E, 7.4.6. The fourth byte is the number of commands
// allowed.
enum { SIZE = 13, COUNT = 3, ADDRESS = 7 };
static const uint8_t ANSWER[ADDRESS] = {0x04, 0x0e, 0x0a, 0x01, 0x09, 0x10, 0x00};

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    ssize_t (*next)(int, const struct iovec *, int) = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
    uint8_t packet[SIZE];
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > SIZE - size) return next(descriptor, parts, count);
        memcpy(packet + size, parts[i].iov_base, parts[i].iov_len);
        size += parts[i].iov_len;
    }
    uint8_t compared[ADDRESS];
    memcpy(compared, packet, ADDRESS);
    compared[COUNT] = ANSWER[COUNT];
    if (size != SIZE || memcmp(compared, ANSWER, ADDRESS) != 0) return next(descriptor, parts, count);
    memset(packet + ADDRESS, 0, 2);
    return next(descriptor, &(struct iovec){packet, SIZE}, 1);
}
