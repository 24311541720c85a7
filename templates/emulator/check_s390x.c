/* check_s390x.c - Linux on s390x by its system calls, without a C library.
 * SPDX-License-Identifier: MIT */
#include "check_os.h"

enum { EXIT = 1, READ = 3, WRITE = 4, OPEN = 5, FOR_WRITING = 01 | 0100 | 01000 };

static long call(long number, long a, long b, long c) {
    register long r1 __asm__("1") = number;
    register long r2 __asm__("2") = a;
    register long r3 __asm__("3") = b;
    register long r4 __asm__("4") = c;
    __asm__ volatile("svc 0" : "+d"(r2) : "d"(r1), "d"(r3), "d"(r4) : "memory");
    return r2;
}

size_t check_os_read(void *to, size_t bytes) {
    static long file = -1;
    size_t n = 0;
    if (file < 0) file = call(OPEN, (long)"in.bin", 0, 0);
    while (n < bytes) {
        const long got = call(READ, file, (long)to + (long)n, (long)(bytes - n));
        if (got <= 0) break;
        n += (size_t)got;
    }
    return n;
}

void check_os_write(const void *from, size_t bytes) {
    static long file = -1;
    if (file < 0) file = call(OPEN, (long)"out.bin", FOR_WRITING, 0600);
    for (size_t n = 0; n < bytes;) {
        const long put = call(WRITE, file, (long)from + (long)n, (long)(bytes - n));
        if (put <= 0) call(EXIT, 31, 0, 0);
        n += (size_t)put;
    }
}

void check_begin(void);
__attribute__((used)) void check_begin(void) { call(EXIT, check_run(), 0, 0); }
/* 160 bytes of the stack are the callee's. */
__asm__(".globl _start\n_start: aghi %r15, -160\n brasl %r14, check_begin\n");
