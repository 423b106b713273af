// SPDX-License-Identifier: GPL-2.0-or-later

#include <string.h>

#include "CPeers.h"
#include "reports.h"

size_t peer_chosen_handle_all(const uint8_t address[6], const uint8_t *packets, const uint16_t *lengths, size_t count) {
    size_t heard = 0;
    for (size_t index = 0; index < count; packets += lengths[index++]) {
        if (!is_sound(packets, lengths[index])) continue;
        struct reports reports = begin(packets);
        for (struct report report; next(&reports, &report);) heard += memcmp(report.address, address, 6) == 0;
    }
    return heard;
}
