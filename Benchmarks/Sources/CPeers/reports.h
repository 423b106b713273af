// SPDX-License-Identifier: GPL-2.0-or-later
//
// Advertising reports as a C program reads them: the whole event is validated before any part of it is used.
//
// HCI packet indicator, event code and subevents: Core 6.0, Vol 4, Part A, 2 and Part E, 7.7.65.

#ifndef REPORTS_H
#define REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { packet_event = 0x04, event_le_meta = 0x3E, subevent_legacy = 0x02, subevent_extended = 0x0D };
enum { legacy_data = 31, extended_data = 229 };
// Maximum numbers of reports, and the numbers of legacy event types and address types. An extended advertisement may be
// anonymous.
enum { legacy_reports = 0x19, extended_reports = 0x0A, legacy_kinds = 5, address_types = 4, anonymous = 0xFF };

struct report {
    const uint8_t *address, *data;
    uint8_t type, length;
    int8_t rssi;
    bool is_response, is_connectable, is_fragment;
};

// Iterator over the reports of one event.
struct reports {
    const uint8_t *at;
    int left;
    bool is_extended;
};

static inline bool is_sound(const uint8_t *packet, size_t length) {
    if (length < 5 || packet[0] != packet_event || packet[1] != event_le_meta || packet[2] != length - 3) return false;
    bool extended = packet[3] == subevent_extended;
    if (!extended && packet[3] != subevent_legacy) return false;
    size_t fixed = extended ? 24 : 9, most = extended ? extended_data : legacy_data;
    int reports = packet[4];
    if (reports < 1 || reports > (extended ? extended_reports : legacy_reports)) return false;
    const uint8_t *at = packet + 5, *end = packet + length;
    for (int report = 0; report < reports; report++) {
        if ((size_t)(end - at) < fixed) return false;
        uint8_t status = at[0] >> 5 & 3, type = at[extended ? 2 : 1], count = at[fixed - 1];
        if (extended ? status == 3 : at[0] >= legacy_kinds) return false;
        if (type >= address_types && !(extended && type == anonymous)) return false;
        if (count > most || (size_t)(end - at) < fixed + count + (extended ? 0 : 1)) return false;
        at += fixed + count + (extended ? 0 : 1);
    }
    return at == end;
}

static inline struct reports begin(const uint8_t *packet) {
    return (struct reports){.at = packet + 5, .left = packet[4], .is_extended = packet[3] == subevent_extended};
}

// Reads the next report of a valid event. Returns false at the end.
static inline bool next(struct reports *reports, struct report *report) {
    if (reports->left-- == 0) return false;
    const uint8_t *at = reports->at;
    if (reports->is_extended) {
        *report = (struct report){at + 3, at + 24, at[2], at[23], (int8_t)at[13], at[0] & 8, at[0] & 1, (at[0] >> 5 & 3) == 1};
        reports->at = report->data + report->length;
    } else {
        *report = (struct report){at + 2, at + 9, at[1], at[8], 0, at[0] == 4, at[0] <= 1, false};
        report->rssi = (int8_t)report->data[report->length];
        reports->at = report->data + report->length + 1;
    }
    return true;
}

#endif
