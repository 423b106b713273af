// SPDX-License-Identifier: GPL-2.0-or-later
//
// The kernel's verdicts on HID report descriptors and input reports, through /dev/uhid:
//
//     hidjudge <cases >verdicts
//
//     map NAME HEX     creates a device with this report descriptor, in place of the one before
//     report HEX       sends an input report to the device, with the report ID first if the reports are numbered
//
// Answers, one per line; all other lines of the input are ignored:
//
//     map NAME accepted           hid_open_report() accepted the descriptor
//     map NAME refused REASON     it did not; REASON is from the kernel's log
//     keys USAGE...               usages of the keyboard page that are held after the report, sorted, hexadecimal
//     keys ?                      no driver processes reports, because hid-input found no input in the descriptor
//
// Kernel probes on hidinput_hid_event(), which still gets usages, and on input_event(), which it calls, report the keys.

#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/input.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/uhid.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"

enum {
    BLUETOOTH = 5, // BUS_BLUETOOTH; vendor and product are 0, so that hid-generic drives the device, without quirks
    PAGES = 256,   // of the ring of samples
    FIRST_USAGE = 0x70004,
    LAST_USAGE = 0x7ffff,
    PROBE_SECONDS = 30,
    MOST_NODES = 256,
};

struct sample { // PERF_SAMPLE_RAW of an event of a probe
    struct perf_event_header header;
    uint32_t size;
    uint16_t event;
    uint8_t flags, preemptions;
    int32_t pid;
    uint64_t function;
    union {
        struct { // hidinput_hid_event()
            uint32_t usage;
            uint8_t type; // EV_KEY if hid-input maps the usage to a key
        } __attribute__((packed)) usage;
        struct { // input_event()
            uint32_t type;
            int32_t value;
        } __attribute__((packed)) key;
    };
} __attribute__((packed));

static int uhid = -1, kernel_log, events;
static uint16_t usage_event, key_event; // numbers of the probes' events
static struct perf_event_mmap_page *ring;
static char device[64];    // its name on the HID bus
static char refusal[1024]; // message of the kernel's parser
static int grabbed[MOST_NODES];
static size_t grabbed_count;
static bool is_started, is_bound, is_refused, has_input;

static struct setting {
    const char *path, *value;
    char before[16];
} settings[] = {
    {"/sys/kernel/rcu_expedited", "1", ""}, // removing a device waits for other processors: a tenth of the time
    {"/proc/sys/kernel/printk", "1", ""},   // no messages on the console
};

static bool held[LAST_USAGE - FIRST_USAGE + 1];

static void die(const char *what) {
    fprintf(stderr, "hidjudge: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void write_text(const char *path, const char *text, int flags) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) die(path);
    close(fd);
}

/// Sets a variable of the kernel until this program ends.
static void set_until_end(struct setting *setting) {
    FILE *file = fopen(setting->path, "re");
    if (!file || fscanf(file, "%15s", setting->before) != 1) die(setting->path);
    fclose(file);
    write_text(setting->path, setting->value, 0);
}

static void reset_all(void) {
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (*settings[i].before) write_text(settings[i].path, settings[i].before, 0), *settings[i].before = 0;
}

/// Creates a probe, and returns an event that samples it in this process.
static int open_probe(const char *name, const char *arguments, const char *filter) {
    char text[256];
    snprintf(text, sizeof text, TRACING "events/hidjudge/%s/id", name);
    FILE *file = fopen(text, "re");
    if (!file) {
        char definition[256];
        snprintf(definition, sizeof definition, "p:hidjudge/%s %s\n", name, arguments);
        write_text(TRACING "kprobe_events", definition, O_APPEND);
        file = fopen(text, "re");
    }
    unsigned long id;
    if (!file || fscanf(file, "%lu", &id) != 1) die(name);
    fclose(file);
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attributes,
        .config = id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_RAW,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 || (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0)) die(name);
    *(strcmp(name, "usage") == 0 ? &usage_event : &key_event) = (uint16_t)id;
    return fd;
}

static void open_probes(void) {
    if (access(TRACING "kprobe_events", F_OK) != 0 && mount("tracefs", TRACING, "tracefs", 0, NULL) < 0) die("tracefs");
    int usages = open_probe("usage", "hidinput_hid_event usage=+0(%dx):x32 type=+16(%dx):u8", NULL);
    int keys = open_probe("key", "input_event type=%si:u32 value=%cx:s32", "type == 1");
    ring = mmap(NULL, (size_t)(PAGES + 1) * (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, usages, 0);
    if (ring == MAP_FAILED || ioctl(keys, PERF_EVENT_IOC_SET_OUTPUT, usages) < 0) die("ring of the probes");
}

/// Reads the samples of a report. The state of a usage is the value that hid-input reports for its key: it limits
/// values, reports only changes, and ignores constant fields.
static void take_samples(void) {
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
    const uint8_t *bytes = (const uint8_t *)ring + ring->data_offset;
    bool *key = NULL; // last usage
    while (ring->data_tail < head) {
        struct sample sample = {0};
        for (size_t i = 0; i < sizeof sample && ring->data_tail + i < head; i++)
            ((uint8_t *)&sample)[i] = bytes[(ring->data_tail + i) % ring->data_size];
        if (sample.header.type != PERF_RECORD_SAMPLE) errno = EOVERFLOW, die("ring of the probes");
        if (sample.event == usage_event) {
            uint32_t usage = sample.usage.usage;
            bool is_key = usage >= FIRST_USAGE && usage <= LAST_USAGE && sample.usage.type == EV_KEY;
            key = is_key ? &held[usage - FIRST_USAGE] : NULL;
        } else if (sample.event == key_event && key && sample.key.value != 2) { // 2: autorepeat
            *key = sample.key.value != 0;
        }
        __atomic_store_n(&ring->data_tail, ring->data_tail + sample.header.size, __ATOMIC_RELEASE);
    }
}

static void print_held(void) {
    fputs("keys", stdout);
    for (unsigned i = 0; i < sizeof held / sizeof held[0]; i++)
        if (held[i]) printf(" %x", (FIRST_USAGE + i) & 0xffff);
    putchar('\n');
}

/// Reads the kernel's log: messages of its parser, and the end of a probe that failed.
static void read_log(void) {
    char record[8192];
    ssize_t size;
    while ((size = read(kernel_log, record, sizeof record - 1)) > 0) {
        record[size] = 0;
        char *text = strchr(record, ';');
        if (!text || !device[0]) continue;
        text++;
        text[strcspn(text, "\n")] = 0;
        char *name = strstr(text, device);
        if (!name) continue;
        if (strstr(text, "failed with error") || strstr(text, "no listeners")) is_refused = true;
        else if (strlen(refusal) + strlen(name) < sizeof refusal - 4) {
            char *message = name + strlen(device);
            message += strspn(message, ": ");
            if (*refusal) strcat(refusal, "; ");
            strcat(refusal, message);
        }
    }
    if (size < 0 && errno == EPIPE) fputs("hidjudge: the kernel's log was overrun\n", stderr);
}

/// Reads the events of devices: the name of the new one, and the end of a probe that succeeded.
static void read_events(void) {
    char event[8192];
    ssize_t size;
    while ((size = recv(events, event, sizeof event - 1, MSG_DONTWAIT)) > 0) {
        event[size] = 0;
        const char *name = strrchr(event, '/');
        if (!name || !strstr(event, "/misc/uhid/")) continue;
        if (strncmp(event, "add@", 4) == 0 && !device[0] && strncmp(name + 1, "0005:", 5) == 0) strcpy(device, name + 1);
        if (strncmp(event, "bind@", 5) == 0 && strcmp(name + 1, device) == 0) is_bound = true;
    }
}

/// Reads the events of the device. Refuses all requests for reports: the kernel would wait for each of them for 5 s.
static void read_uhid(void) {
    struct uhid_event event;
    while (read(uhid, &event, sizeof event) > 0) {
        struct uhid_event answer = {0};
        if (event.type == UHID_START) is_started = true;
        if (event.type == UHID_GET_REPORT) {
            answer.type = UHID_GET_REPORT_REPLY;
            answer.u.get_report_reply.id = event.u.get_report.id;
            answer.u.get_report_reply.err = EIO;
        } else if (event.type == UHID_SET_REPORT) {
            answer.type = UHID_SET_REPORT_REPLY;
            answer.u.set_report_reply.id = event.u.set_report.id;
            answer.u.set_report_reply.err = EIO;
        } else {
            continue;
        }
        if (write(uhid, &answer, sizeof answer) < 0) die("answer");
    }
}

static void destroy(void) {
    while (grabbed_count > 0) close(grabbed[--grabbed_count]);
    if (uhid >= 0) close(uhid);
    uhid = -1;
    read_events();
    read_log();
    device[0] = refusal[0] = 0;
    memset(held, 0, sizeof held);
    is_started = is_bound = is_refused = has_input = false;
}

static size_t unpack(const char *text, uint8_t *bytes, size_t most) {
    size_t count = 0;
    for (; count < most && isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]); text += 2, count++)
        bytes[count] = (uint8_t)strtoul((char[]){text[0], text[1], 0}, NULL, 16);
    return count;
}

/// Creates the device, and waits for the end of the driver's probe.
static void create(const char *name, const char *map) {
    destroy();
    struct uhid_event event = {.type = UHID_CREATE2};
    snprintf((char *)event.u.create2.name, sizeof event.u.create2.name, "%.100s", name);
    event.u.create2.bus = BLUETOOTH;
    event.u.create2.rd_size = (uint16_t)unpack(map, event.u.create2.rd_data, sizeof event.u.create2.rd_data);
    uhid = open("/dev/uhid", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (uhid < 0) die("/dev/uhid");
    if (write(uhid, &event, sizeof event) < 0) {
        printf("map %s refused by uhid: %s\n", name, strerror(errno));
        return;
    }
    while (!is_bound && !is_refused) {
        struct pollfd ready[] = {
            {.fd = uhid, .events = POLLIN}, {.fd = events, .events = POLLIN}, {.fd = kernel_log, .events = POLLIN}};
        if (poll(ready, 3, PROBE_SECONDS * 1000) <= 0) errno = ETIMEDOUT, die(name);
        read_uhid();
        // The name is in the events, and its messages are in the log, so read the events first.
        read_events();
        if (device[0]) read_log();
    }
    read_uhid();
    if (is_started) printf("map %s accepted\n", name);
    else printf("map %s refused %s\n", name, refusal);
    char path[128];
    snprintf(path, sizeof path, "/sys/bus/hid/devices/%s/input", device);
    has_input = is_bound && access(path, F_OK) == 0;
}

/// Grabs the device's input nodes, so that the console ignores its keys: a random report may mean Alt, SysRq and B.
static void grab(void) {
    char pattern[128];
    snprintf(pattern, sizeof pattern, "/sys/bus/hid/devices/%s/input/input*/event*", device);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == GLOB_NOMATCH) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char node[64];
        snprintf(node, sizeof node, "/dev/input/%.40s", strrchr(found.gl_pathv[i], '/') + 1);
        if (grabbed_count == MOST_NODES) errno = ENOSPC, die("input nodes");
        int fd = grabbed[grabbed_count++] = open(node, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || ioctl(fd, EVIOCGRAB, 1) < 0) die(node);
    }
    globfree(&found);
}

static void report(const char *text) {
    struct uhid_event event = {.type = UHID_INPUT2};
    event.u.input2.size = (uint16_t)unpack(text, event.u.input2.data, sizeof event.u.input2.data);
    if (!has_input) {
        puts("keys ?");
        return;
    }
    if (grabbed_count == 0) grab();
    if (write(uhid, &event, sizeof event) < 0) die("report");
    take_samples();
    print_held();
}

int main(void) {
    atexit(reset_all);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) set_until_end(&settings[i]);
    open_probes();
    kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (kernel_log < 0 || lseek(kernel_log, 0, SEEK_END) < 0) die("/dev/kmsg");
    events = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
    int queue = 8 << 20;
    if (events < 0 || bind(events, (struct sockaddr *)&address, sizeof address) < 0) die("events of devices");
    if (setsockopt(events, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof queue) < 0) die("SO_RCVBUFFORCE");
    static char line[1 << 16], name[256], hex[1 << 15];
    while (fgets(line, sizeof line, stdin)) {
        hex[0] = 0;
        if (sscanf(line, "map %255s %32767s", name, hex) >= 1) create(name, hex);
        else if (strncmp(line, "report", 6) == 0 && uhid >= 0) report(line + 6 + strspn(line + 6, " "));
    }
    destroy();
    return 0;
}
