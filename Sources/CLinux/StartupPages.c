// SPDX-License-Identifier: GPL-2.0-or-later

#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <sys/mman.h>

// The first object is the program itself.
static int give_back(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
        const uintptr_t begin = (info->dlpi_addr + header->p_vaddr) & ~(page - 1);
        const uintptr_t end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
        // Pages of a file that nobody has written to: they come back from it when they are touched.
        madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 1;
}

void blewedge_give_back_startup_pages(void) { dl_iterate_phdr(give_back, NULL); }
