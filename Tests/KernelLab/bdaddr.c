// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loaded into BlueZ's emulator before its libraries: makes its controllers keep their addresses.
//
// The emulator makes an address of a controller's place in its list and of the number that the kernel has given it. Here
// that number is left out, as it is of a real adapter that is plugged in again: 00:AA:01 and the place.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

// The answer to Read BD_ADDR as an event packet: Core 6.0, Vol 4, Part E, 7.4.6. Its fourth byte counts commands.
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
