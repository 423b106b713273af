// SPDX-License-Identifier: GPL-2.0-or-later
//
// The guest's first process. Runs programs for the orchestrator on the host.
// Exchanges frames through the virtio-serial port lab.ctl:
//
//     u32 length of the rest | u8 kind | u32 id | u32 position | payload      (little-endian)
//
// The position is the number of bytes sent before in this direction, so a byte lost by the port is detected at the next
// frame.
//
// host to guest   R run (payload: arguments, each terminated by NUL)   I bytes for standard input
//                 C close standard input    K signal (payload: one byte)    Q power off
// guest to host   H hello   S started (i32 process id, or -errno)   O standard output
//                 E standard error   X ended (u8 1 if by a signal, u8 code or signal number)
//                 L wrong position: bytes from the host were lost, and the guest stops

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_JOBS = 32, MAX_ARGS = 256, MAX_FRAME = 1 << 20, HEADER = 13 };

struct job {
    uint32_t id;
    pid_t pid; // 0 if the slot is free
    int in, out, err;
};

static struct job jobs[MAX_JOBS];
static int port = -1;
static uint32_t sent, received; // total size of complete frames

static void die(const char *what) {
    fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
    fflush(stderr);
    reboot(RB_POWER_OFF);
    _exit(1);
}

static void write_all(int fd, const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (n < 0) die("write to the host");
        at += n;
        size -= (size_t)n;
    }
}

static void send_frame(char kind, uint32_t id, const void *payload, size_t size) {
    static char frame[HEADER + 65536];
    uint32_t length = (uint32_t)(size + HEADER - 4);
    memcpy(frame, &length, 4);
    frame[4] = kind;
    memcpy(frame + 5, &id, 4);
    memcpy(frame + 9, &sent, 4);
    memcpy(frame + HEADER, payload, size);
    sent += HEADER + (uint32_t)size;
    write_all(port, frame, HEADER + size);
}

static struct job *find(uint32_t id) {
    for (int i = 0; i < MAX_JOBS; i++)
        if (jobs[i].pid != 0 && jobs[i].id == id) return &jobs[i];
    return NULL;
}

static void run(uint32_t id, char *arguments, size_t size) {
    char *argv[MAX_ARGS + 1];
    int count = 0;
    for (char *at = arguments; at < arguments + size && count < MAX_ARGS; at += strlen(at) + 1)
        argv[count++] = at;
    argv[count] = NULL;

    struct job *job = NULL;
    for (int i = 0; i < MAX_JOBS && job == NULL; i++)
        if (jobs[i].pid == 0) job = &jobs[i];
    int in[2], out[2], err[2], failed[2];
    int32_t answer = -EAGAIN;
    if (job == NULL || count == 0) {
        send_frame('S', id, &answer, sizeof answer);
        return;
    }
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
        die("pipe");
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        setsid();
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        execvp(argv[0], argv);
        int32_t error = -errno;
        if (write(failed[1], &error, sizeof error) < 0) _exit(126);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    close(failed[1]);
    answer = pid;
    if (read(failed[0], &answer, sizeof answer) > 0) {
        close(in[1]);
        close(out[0]);
        close(err[0]);
    } else {
        fcntl(in[1], F_SETFL, O_NONBLOCK);
        fcntl(out[0], F_SETFL, O_NONBLOCK);
        fcntl(err[0], F_SETFL, O_NONBLOCK);
        *job = (struct job){.id = id, .pid = pid, .in = in[1], .out = out[0], .err = err[0]};
    }
    close(failed[0]);
    send_frame('S', id, &answer, sizeof answer);
}

/// Forwards the current contents of a pipe, and closes the pipe at its end.
static void drain(int *fd, char kind, uint32_t id) {
    char data[65536];
    while (*fd >= 0) {
        ssize_t n = read(*fd, data, sizeof data);
        if (n > 0) {
            send_frame(kind, id, data, (size_t)n);
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            close(*fd);
            *fd = -1;
        }
    }
}

static void close_pipe(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void reap(void) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int i = 0; i < MAX_JOBS; i++) {
            struct job *job = &jobs[i];
            if (job->pid != pid) continue;
            drain(&job->out, 'O', job->id);
            drain(&job->err, 'E', job->id);
            uint8_t how[2] = {WIFSIGNALED(status),
                              (uint8_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status))};
            send_frame('X', job->id, how, sizeof how);
            close_pipe(&job->in);
            close_pipe(&job->out);
            close_pipe(&job->err);
            job->pid = 0;
        }
    }
}

static void obey(char kind, uint32_t id, char *payload, size_t size) {
    struct job *job = find(id);
    switch (kind) {
    case 'R': run(id, payload, size); break;
    case 'I':
        if (job && job->in >= 0) write_all(job->in, payload, size);
        break;
    case 'C':
        if (job) close_pipe(&job->in);
        break;
    case 'K':
        if (job && size == 1) kill(job->pid, payload[0]);
        break;
    case 'Q':
        sync();
        reboot(RB_POWER_OFF);
        break;
    default: break;
    }
}

static void open_port(void) {
    char path[64], name[64];
    for (int device = 0; device < 8; device++)
        for (int index = 0; index < 8; index++) {
            snprintf(path, sizeof path, "/sys/class/virtio-ports/vport%dp%d/name", device, index);
            FILE *file = fopen(path, "re");
            if (file == NULL) continue;
            if (fgets(name, sizeof name, file) == NULL) name[0] = 0;
            fclose(file);
            if (strncmp(name, "lab.ctl", 7) != 0) continue;
            snprintf(path, sizeof path, "/dev/vport%dp%d", device, index);
            port = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        }
    if (port < 0) die("no port lab.ctl");
}

int main(void) {
    setenv("PATH", "/run/lab:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    setenv("HOME", "/root", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    open_port();
    send_frame('H', 0, "", 0);

    static char buffer[MAX_FRAME];
    size_t held = 0;
    for (;;) {
        struct pollfd fds[2 + 2 * MAX_JOBS] = {{.fd = port, .events = POLLIN}, {.fd = children, .events = POLLIN}};
        for (int i = 0; i < MAX_JOBS; i++) {
            fds[2 + 2 * i] = (struct pollfd){.fd = jobs[i].pid ? jobs[i].out : -1, .events = POLLIN};
            fds[3 + 2 * i] = (struct pollfd){.fd = jobs[i].pid ? jobs[i].err : -1, .events = POLLIN};
        }
        if (poll(fds, 2 + 2 * MAX_JOBS, -1) < 0) continue;
        if (fds[0].revents & POLLHUP) die("the host closed the port");
        for (int i = 0; i < MAX_JOBS; i++) {
            if (fds[2 + 2 * i].revents) drain(&jobs[i].out, 'O', jobs[i].id);
            if (fds[3 + 2 * i].revents) drain(&jobs[i].err, 'E', jobs[i].id);
        }
        if (fds[1].revents) {
            struct signalfd_siginfo info;
            while (read(children, &info, sizeof info) > 0) continue;
            reap();
        }
        if (fds[0].revents & POLLIN) {
            ssize_t n = read(port, buffer + held, sizeof buffer - held);
            if (n <= 0 && errno != EAGAIN) die("read from the host");
            if (n > 0) held += (size_t)n;
            while (held >= HEADER) {
                uint32_t length, id, place;
                memcpy(&length, buffer, 4);
                memcpy(&id, buffer + 5, 4);
                memcpy(&place, buffer + 9, 4);
                if (place != received) {
                    send_frame('L', 0, "", 0);
                    errno = EPROTO;
                    die("bytes were lost on the port lab.ctl");
                }
                if (held < 4 + length) break;
                obey(buffer[4], id, buffer + HEADER, length + 4 - HEADER);
                received += 4 + length;
                held -= 4 + length;
                memmove(buffer, buffer + 4 + length, held);
            }
            if (held == sizeof buffer) die("frame too long");
        }
    }
}
