// SPDX-License-Identifier: GPL-2.0-or-later
//
// The system calls that no keyboard needs and that lead out of what it may do, as far as this machine's kernel has them:
// other namespaces and mounts, modules and kernels, other processes' memory, keys of the kernel, programs in the kernel,
// clocks and names of the machine, users and groups; and calls that no keyboard needs and that faults of kernels were reached by.

#include "CLinux.h"

#if defined(__x86_64__)
const uint32_t blewedge_audit_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
const uint32_t blewedge_audit_architecture = AUDIT_ARCH_AARCH64;
#elif defined(__arm__) && defined(__ARMEL__)
const uint32_t blewedge_audit_architecture = AUDIT_ARCH_ARM;
#elif defined(__riscv) && __riscv_xlen == 64
const uint32_t blewedge_audit_architecture = AUDIT_ARCH_RISCV64;
#else
const uint32_t blewedge_audit_architecture = 0;
#endif

#if defined(__x86_64__)
const uint32_t blewedge_other_convention = 0x40000000;
#else
const uint32_t blewedge_other_convention = 0;
#endif

static const int refused_calls[] = {
    // Namespaces and mounts.
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
#ifdef SYS_open_tree
    SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
#endif
#ifdef SYS_mount_setattr
    SYS_mount_setattr,
#endif
    // Modules, kernels, swap, power.
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    // Other processes.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
    // Pages and memory by other ways than reading and writing, and programs that have no file.
    SYS_vmsplice,
#ifdef SYS_move_pages
    SYS_move_pages, SYS_migrate_pages,
#endif
#ifdef SYS_memfd_create
    SYS_memfd_create,
#endif
#ifdef SYS_memfd_secret
    SYS_memfd_secret,
#endif
#ifdef SYS_execveat
    SYS_execveat,
#endif
    // Queues, memory and semaphores that outlive their processes.
    SYS_io_setup, SYS_io_destroy, SYS_io_submit, SYS_io_cancel, SYS_io_getevents,
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_semget, SYS_semop, SYS_semctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv,
    SYS_msgctl,
#ifdef SYS_semtimedop
    SYS_semtimedop,
#endif
    // Devices and FIFOs by their numbers.
#ifdef SYS_mknod
    SYS_mknod,
#endif
    SYS_mknodat,
    // The kernel's keys, and programs and queues in the kernel.
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
#endif
    // Files by other ways than their names, and all that is done to files.
    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init, SYS_quotactl, SYS_acct,
    // The machine's clocks, names, logs and consoles.
    SYS_settimeofday, SYS_adjtimex, SYS_clock_settime, SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_syslog,
    SYS_vhangup, SYS_personality,
#ifdef SYS_clock_settime64
    SYS_clock_settime64, SYS_clock_adjtime64,
#endif
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
    // Users and groups.
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups,
    SYS_setfsuid, SYS_setfsgid,
#ifdef SYS_setuid32
    SYS_setuid32, SYS_setgid32, SYS_setreuid32, SYS_setregid32, SYS_setresuid32, SYS_setresgid32, SYS_setgroups32,
    SYS_setfsuid32, SYS_setfsgid32,
#endif
};

int blewedge_refused_call(int index) {
    return index >= 0 && index < (int)(sizeof refused_calls / sizeof refused_calls[0]) ? refused_calls[index] : -1;
}
