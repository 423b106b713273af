// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations that Swift's Glibc module lacks: headers it leaves out, and macros that Swift cannot import, as
// constants. No logic here.

#ifndef BLEWEDGE_CLINUX_H
#define BLEWEDGE_CLINUX_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/input.h>
#include <linux/kd.h>
#include <linux/keyboard.h>
#include <linux/rfkill.h>
#include <linux/seccomp.h>
#include <linux/uinput.h>

// ioctl(2) request numbers of <linux/uinput.h> and <bluetooth/hci.h>.
enum {
    blewedge_UI_SET_EVBIT = UI_SET_EVBIT,
    blewedge_UI_SET_KEYBIT = UI_SET_KEYBIT,
    blewedge_UI_SET_LEDBIT = UI_SET_LEDBIT,
    blewedge_UI_SET_RELBIT = UI_SET_RELBIT,
    blewedge_UI_DEV_SETUP = UI_DEV_SETUP,
    blewedge_UI_DEV_CREATE = UI_DEV_CREATE,
    blewedge_UI_DEV_DESTROY = UI_DEV_DESTROY,
};

static const unsigned long blewedge_UI_GET_SYSNAME_64 = UI_GET_SYSNAME(64);
static const unsigned long blewedge_EVIOCGRAB = EVIOCGRAB;
static const unsigned long blewedge_TIOCGWINSZ = TIOCGWINSZ;
static const unsigned long blewedge_TIOCSPTLCK = TIOCSPTLCK;
static const unsigned long blewedge_TIOCGPTN = TIOCGPTN;
// HCIGETCONNLIST of <bluetooth/hci.h>.
static const unsigned long blewedge_HCIGETCONNLIST = _IOR('H', 212, int);

// A flag of termios(3) beyond what Swift imports.
static const unsigned int blewedge_CRTSCTS = CRTSCTS;

// epoll(7) events, as the type that struct epoll_event holds.
static const uint32_t blewedge_EPOLLIN = EPOLLIN;
static const uint32_t blewedge_EPOLLOUT = EPOLLOUT;
static const uint32_t blewedge_EPOLLERR = EPOLLERR;
static const uint32_t blewedge_EPOLLHUP = EPOLLHUP;

// What <linux/audit.h> calls this machine, 0 for one that is not named; and the bit of a system call's number that marks
// those of another calling convention of it, 0 for none. See RefusedCalls.c.
extern const uint32_t blewedge_audit_architecture;
extern const uint32_t blewedge_other_convention;

// System calls by number, as the type that a filter compares.
static const uint32_t blewedge_SYS_clone = SYS_clone;
static const uint32_t blewedge_SYS_socket = SYS_socket;
#ifdef SYS_clone3
static const uint32_t blewedge_SYS_clone3 = SYS_clone3;
#else
static const uint32_t blewedge_SYS_clone3 = 435;
#endif

// Types and flags of socket(2), as the type that it takes. Swift finds the enumerators of <sys/socket.h> in one only of the
// modules that include it; in which one depends on the headers and on the order of the files.
static const int blewedge_SOCK_STREAM = SOCK_STREAM;
static const int blewedge_SOCK_DGRAM = SOCK_DGRAM;
static const int blewedge_SOCK_RAW = SOCK_RAW;
static const int blewedge_SOCK_SEQPACKET = SOCK_SEQPACKET;
static const int blewedge_SOCK_NONBLOCK = SOCK_NONBLOCK;
static const int blewedge_SOCK_CLOEXEC = SOCK_CLOEXEC;

// Swift imports the C variadic functions not at all: those that are needed, with their arguments.
static inline int blewedge_ioctl(int fd, unsigned long request, unsigned long argument) {
    return ioctl(fd, request, argument);
}
static inline int blewedge_ioctl_pointer(int fd, unsigned long request, void *argument) {
    return ioctl(fd, request, argument);
}
static inline int blewedge_duplicate(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}
static inline int blewedge_set_inherited(int fd, int is_inherited) {
    return fcntl(fd, F_SETFD, is_inherited ? 0 : FD_CLOEXEC);
}
static inline int blewedge_status_flags(int fd) {
    return fcntl(fd, F_GETFL);
}
static inline int blewedge_prctl(int option, unsigned long first, unsigned long second) {
    return prctl(option, first, second, 0, 0);
}
static inline int blewedge_open(const char *path, int flags, unsigned int mode) {
    return open(path, flags, mode);
}

// Functions and macros that glibc shows to _GNU_SOURCE only, or that Swift cannot import; see CLinux.c.
int blewedge_ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout);
// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC.
int blewedge_accept(int fd, void *address, socklen_t *length);
// struct mmsghdr, which glibc keeps from Swift; and recvmmsg with MSG_DONTWAIT and no time-out.
struct blewedge_message {
    struct msghdr header;
    unsigned int length;
};
int blewedge_receive_many(int fd, struct blewedge_message *messages, unsigned int count);
int blewedge_set_thread_name(const char *name);
void blewedge_ignore_signal(int number);
// The number of a system call that keyboards refuse themselves; -1 behind the last. See RefusedCalls.c.
int blewedge_refused_call(int index);

// False in the fully static form of the program, into which dlopen(3) must load nothing (loader.c).
bool blewedge_loads_libraries(void);
// The program's text and constants are read again from its file where they are touched (StartupPages.c).
void blewedge_give_back_startup_pages(void);
char **blewedge_environment(void);
// pipe2 with O_NONBLOCK and O_CLOEXEC: the end that is read, and the end that is written.
int blewedge_pipe(int ends[2]);
// Waits for a process of ours to end, and leaves that to be asked for (waitid with WEXITED and WNOWAIT).
int blewedge_await_end(pid_t process);
// Writes the signal's number, a byte, to the pipe each time that the signal comes; one pipe for all of them.
int blewedge_pass_signal(int number, int pipe);

// glibc has had pidfd_open(2) since 2.36 only.
static inline int blewedge_pidfd_open(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

#endif
