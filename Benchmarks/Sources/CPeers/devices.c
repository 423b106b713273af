// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdlib.h>
#include <string.h>

#include "CPeers.h"
#include "reports.h"

// Makes the same checks as the product's reader and stores the same data for each report as its table, so both do the
// same work for a known device whose data has not changed.
enum { slots = 512, greatest = 256 };

struct device {
    uint64_t key; // 1 + the address and its type; 0 for an empty slot
    int64_t last_heard;
    uint64_t reports;
    int8_t rssi;
    bool connectable;
    uint8_t lengths[2]; // of advertisement and scan response
    uint8_t data[2][extended_data];
};

struct peer_devices {
    struct device slots[slots];
    size_t count;
    uint64_t reports, changes, anonymous, fragments;
};

peer_devices *peer_devices_create(void) {
    return calloc(1, sizeof(peer_devices));
}

void peer_devices_destroy(peer_devices *devices) {
    free(devices);
}

size_t peer_devices_count(const peer_devices *devices) {
    return devices->count;
}

static struct device *find(peer_devices *devices, uint64_t key) {
    size_t slot = (key * 0x9E3779B97F4A7C15u) >> 55;
    while (devices->slots[slot].key != key) {
        if (devices->slots[slot].key == 0) {
            if (devices->count >= greatest) return NULL;
            devices->count++;
            devices->slots[slot].key = key;
            break;
        }
        slot = (slot + 1) % slots;
    }
    return &devices->slots[slot];
}

static void hear(peer_devices *devices, const struct report *report, int64_t now) {
    if (report->is_fragment) {
        // A complete program would join the fragment with the following ones.
        devices->fragments++;
        return;
    }
    devices->reports++;
    if (report->type == anonymous) {
        devices->anonymous++;
        return;
    }
    uint64_t key = 0;
    memcpy(&key, report->address, 6);
    struct device *device = find(devices, (key | (uint64_t)(report->type & 1) << 48) + 1);
    if (device == NULL) return;
    device->last_heard = now;
    device->reports++;
    if (report->rssi != 127) device->rssi = report->rssi;
    bool response = report->is_response;
    if (!response) device->connectable = report->is_connectable;
    if (device->lengths[response] == report->length && memcmp(device->data[response], report->data, report->length) == 0)
        return;
    memcpy(device->data[response], report->data, report->length);
    device->lengths[response] = report->length;
    devices->changes++;
}

int peer_devices_handle(peer_devices *devices, const uint8_t *packet, size_t length, int64_t now) {
    if (!is_sound(packet, length)) return -1;
    struct reports reports = begin(packet);
    for (struct report report; next(&reports, &report);) hear(devices, &report, now);
    return packet[4];
}

size_t peer_devices_handle_all(peer_devices *devices, const uint8_t *packets, const uint16_t *lengths, size_t count,
                               int64_t now) {
    size_t reports = 0;
    for (size_t index = 0; index < count; index++) {
        int result = peer_devices_handle(devices, packets, lengths[index], now);
        if (result > 0) reports += (size_t)result;
        packets += lengths[index];
    }
    return reports;
}
