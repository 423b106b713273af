// SPDX-License-Identifier: GPL-2.0-or-later

#include <boost/lockfree/spsc_queue.hpp>
#include <cstring>

#include "CPeers.h"

namespace {

using Queue = boost::lockfree::spsc_queue<uint8_t>;

// As CReference's ring backs off: 16 turns.
void back_off() {
    for (int turn = 0; turn < 16; turn++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}

void produce(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total) {
    Queue &queue = *static_cast<Queue *>(state);
    for (size_t sent = 0; sent < total; sent += chunk) {
        const uint8_t *from = bytes + (sent & (period - 1));
        for (size_t done = 0; done < chunk;) {
            size_t count = queue.push(from + done, chunk - done);
            if (count == 0) back_off();
            done += count;
        }
    }
}

size_t consume(void *state, const uint8_t *bytes, size_t period, size_t chunk, size_t total, int check) {
    Queue &queue = *static_cast<Queue *>(state);
    alignas(128) uint8_t target[256];
    size_t faults = 0;
    for (size_t received = 0; received < total;) {
        size_t count = queue.pop(target, chunk);
        if (count == 0) {
            back_off();
            continue;
        }
        __asm__ volatile("" : : "r"(target) : "memory");
        if (check && std::memcmp(target, bytes + (received & (period - 1)), count) != 0) faults++;
        received += count;
    }
    return faults;
}

void destroy(void *state) {
    delete static_cast<Queue *>(state);
}

}  // namespace

peer_queue peer_boost(size_t capacity) {
    return {new Queue(capacity), produce, consume, destroy};
}
