// SPDX-License-Identifier: GPL-2.0-or-later

#include <malloc.h>
#include <string.h>

#include "CPeers.h"
#include "reports.h"

// Manufacturer data of company 0x004C, type 0x02, length 0x15. The UUID of an iBeacon follows.
static const uint8_t ibeacon[] = {0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15};

static const uint8_t *uuid_of(const struct report *report) {
    for (size_t at = 0; at < report->length && report->data[at] != 0; at += report->data[at] + 1u) {
        size_t left = report->length - at;
        if (report->data[at] >= left) return NULL;
        if (memcmp(report->data + at, ibeacon, sizeof ibeacon) == 0) return report->data + at + sizeof ibeacon;
    }
    return NULL;
}

size_t peer_beacons_handle_all(
    const uint8_t *uuids, size_t regions, const uint8_t *packets, const uint16_t *lengths, size_t count) {
    size_t heard = 0;
    for (size_t index = 0; index < count; packets += lengths[index++]) {
        if (!is_sound(packets, lengths[index])) continue;
        struct reports reports = begin(packets);
        for (struct report report; next(&reports, &report);) {
            const uint8_t *uuid = report.length >= sizeof ibeacon ? uuid_of(&report) : NULL;
            for (size_t region = 0; uuid != NULL && region < regions; region++)
                heard += memcmp(uuid, uuids + 16 * region, 16) == 0;
        }
    }
    return heard;
}

size_t peer_heap_bytes(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}
