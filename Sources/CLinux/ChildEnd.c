// SPDX-License-Identifier: GPL-2.0-or-later
//
// <sys/wait.h> names as enumerators what a header of Linux's, which CLinux.h includes, has as macros: it is included here alone.

#include <sys/wait.h>

int blewedge_await_end(pid_t process);

int blewedge_await_end(pid_t process) {
    siginfo_t end;
    return waitid(P_PID, (id_t)process, &end, WEXITED | WNOWAIT);
}
