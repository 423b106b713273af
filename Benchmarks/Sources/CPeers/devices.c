// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "CPeers.h"

// What the product's reader checks is checked here, and what its table keeps for each report is kept here: both do the same
// work for a device that is known and says nothing new.
//
// HCI packet indicator, event code and subevents: Core 6.0, Vol 4, Part A, 2 and Part E, 7.7.65.
enum { packet_event = 0x04, event_le_meta = 0x3E, subevent_legacy = 0x02, subevent_extended = 0x0D };
enum { slots = 512, greatest = 256, legacy_data = 31, extended_data = 229 };
// The most reports, legacy kinds, and address types; an extended advertisement may hide its address.
enum { legacy_reports = 0x19, extended_reports = 0x0A, legacy_kinds = 5, address_types = 4, anonymous = 0xFF };

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

static void hear(peer_devices *devices, const uint8_t *address, uint8_t type, bool response, bool connectable, int8_t rssi,
                 const uint8_t *data, uint8_t length, int64_t now) {
    devices->reports++;
    if (type == anonymous) {
        devices->anonymous++;
        return;
    }
    uint64_t key = 0;
    memcpy(&key, address, 6);
    struct device *device = find(devices, (key | (uint64_t)(type & 1) << 48) + 1);
    if (device == NULL) return;
    device->last_heard = now;
    device->reports++;
    if (rssi != 127) device->rssi = rssi;
    if (!response) device->connectable = connectable;
    if (device->lengths[response] == length && memcmp(device->data[response], data, length) == 0) return;
    memcpy(device->data[response], data, length);
    device->lengths[response] = length;
    devices->changes++;
}

int peer_devices_handle(peer_devices *devices, const uint8_t *packet, size_t length, int64_t now) {
    if (length < 5 || packet[0] != packet_event || packet[1] != event_le_meta || packet[2] != length - 3) return -1;
    bool extended = packet[3] == subevent_extended;
    if (!extended && packet[3] != subevent_legacy) return -1;
    size_t fixed = extended ? 24 : 9, most = extended ? extended_data : legacy_data;
    int reports = packet[4];
    if (reports < 1 || reports > (extended ? extended_reports : legacy_reports)) return -1;
    // Once to check, once to use: nothing of an event that lies is used.
    const uint8_t *end = packet + length;
    for (int pass = 0; pass < 2; pass++) {
        const uint8_t *at = packet + 5;
        for (int report = 0; report < reports; report++) {
            if ((size_t)(end - at) < fixed) return -1;
            uint8_t status = at[0] >> 5 & 3, type = at[extended ? 2 : 1], count = at[fixed - 1];
            if (extended ? status == 3 : at[0] >= legacy_kinds) return -1;
            if (type >= address_types && !(extended && type == anonymous)) return -1;
            if (count > most || (size_t)(end - at) < fixed + count + (extended ? 0 : 1)) return -1;
            const uint8_t *data = at + fixed;
            if (pass == 1 && extended && status == 1) {
                // A fragment: this program would put it together with the next ones.
                devices->fragments++;
            } else if (pass == 1 && extended) {
                hear(devices, at + 3, at[2], at[0] & 8, at[0] & 1, (int8_t)at[13], data, count, now);
            } else if (pass == 1) {
                hear(devices, at + 2, at[1], at[0] == 4, at[0] <= 1, (int8_t)data[count], data, count, now);
            }
            at = data + count + (extended ? 0 : 1);
        }
        if (at != end) return -1;
    }
    return reports;
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
