// SPDX-License-Identifier: GPL-2.0-or-later

#include <string.h>
#include <strings.h>

#include "CPeers.h"
#include "reports.h"

size_t peer_chosen_handle_all(const uint8_t address[6], const uint8_t *packets, const uint16_t *lengths, size_t count) {
    size_t heard = 0;
    for (size_t index = 0; index < count; packets += lengths[index++]) {
        if (!is_sound(packets, lengths[index])) continue;
        struct reports reports = begin(packets);
        for (struct report report; next(&reports, &report);)
            heard += report.type != anonymous && memcmp(report.address, address, 6) == 0;
    }
    return heard;
}

// AD types of the shortened and the complete name: Assigned Numbers, 2.3.
enum { short_name = 0x08, complete_name = 0x09 };

static bool is_named(const char *name, size_t name_length, const uint8_t *data, size_t length) {
    for (size_t at = 0; at < length && data[at] != 0;) {
        size_t size = data[at];
        if (size > length - at - 1) return false;
        if ((data[at + 1] == short_name || data[at + 1] == complete_name) && size - 1 == name_length &&
            strncasecmp((const char *)data + at + 2, name, name_length) == 0)
            return true;
        at += size + 1;
    }
    return false;
}

size_t peer_named_handle_all(const char *name, const uint8_t *packets, const uint16_t *lengths, size_t count) {
    size_t heard = 0, name_length = strlen(name);
    for (size_t index = 0; index < count; packets += lengths[index++]) {
        if (!is_sound(packets, lengths[index])) continue;
        struct reports reports = begin(packets);
        for (struct report report; next(&reports, &report);)
            heard += is_named(name, name_length, report.data, report.length);
    }
    return heard;
}
