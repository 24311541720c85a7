/* check_arm.c - a Cortex-M with semihosting: the debugger, here the emulator, does files and the exit.
 * SPDX-License-Identifier: MIT */
#include "check_os.h"
#include <stdint.h>

enum {
    OPEN = 1,
    WRITE = 5,
    READ = 6,
    EXIT = 0x20,
    FOR_READING = 1,
    FOR_WRITING = 5,
    DONE = 0x20026
};

static long semihost(long what, const void *arguments) {
    register long r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static long open_file(const char *name, size_t length, long mode) {
    const long arguments[] = {(long)name, mode, (long)length};
    return semihost(OPEN, arguments);
}

size_t check_os_read(void *to, size_t bytes) {
    static long file = -1;
    if (file < 0) file = open_file("in.bin", 6, FOR_READING);
    const long arguments[] = {file, (long)to, (long)bytes};
    return file < 0 ? 0 : bytes - (size_t)semihost(READ, arguments);
}

void check_os_write(const void *from, size_t bytes) {
    static long file = -1;
    if (file < 0) file = open_file("out.bin", 7, FOR_WRITING);
    const long arguments[] = {file, (long)from, (long)bytes};
    if (bytes) semihost(WRITE, arguments);
}

static void leave(int code) {
    const long arguments[] = {DONE, code};
    semihost(EXIT, arguments);
}

void check_start(void);
void check_fault(void);
void check_start(void) {
    *(volatile uint32_t *)0xe000ed88u |= 0xfu << 20; /* CPACR: the FPU */
    __asm__ volatile("dsb\nisb" ::: "memory");
    leave(check_run());
}
void check_fault(void) { leave(30); }

extern uint32_t check_stack_end[];
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    check_stack_end,           (const void *)check_start, (const void *)check_fault,
    (const void *)check_fault, (const void *)check_fault, (const void *)check_fault,
    (const void *)check_fault,
};
