/* run_cortex_m.c - digits on a Cortex-M4 as a product would link it: run_cortex_m.ld gives it 48 KiB of flash and
 * 24 KiB of RAM and no more. Reads images from in.bin, writes answers to out.bin, then the bytes of stack that were
 * used: from the start all of it is painted. Files are the emulator's (semihosting). */
#include "digits.h"

enum {
    OPEN = 1,
    WRITE = 5,
    READ = 6,
    EXIT = 0x20,
    FOR_READING = 1,
    FOR_WRITING = 5,
    DONE = 0x20026
};
#define PAINT 0x5afe5afeu

static long semihost(long what, const void *arguments) {
    register long r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static long open_file(const char *name, long length, long mode) {
    const long arguments[] = {(long)name, mode, length};
    return semihost(OPEN, arguments);
}
/* READ and WRITE give the bytes that were not moved. */
static int move(long what, long file, void *bytes, long n) {
    const long arguments[] = {file, (long)bytes, n};
    return semihost(what, arguments) == 0;
}
static void leave(long code) {
    const long arguments[] = {DONE, code};
    semihost(EXIT, arguments);
    for (;;) continue;
}

static _Alignas(DIGITS_ARENA_ALIGN) unsigned char arena[DIGITS_ARENA_BYTES(1)];
static float image[DIGITS_IN_image_COUNT], probabilities[DIGITS_OUT_probabilities_COUNT];
extern uint32_t stack_begin[], stack_end[];

static void run(void) {
    const digits_inputs in = {image};
    const digits_outputs out = {probabilities};
    const long from = open_file("in.bin", 6, FOR_READING), to = open_file("out.bin", 7, FOR_WRITING);
    while (move(READ, from, image, sizeof image)) {
        if (digits_run(digits_weights_embedded(), arena, &in, &out) != INFC_RUN_OK) leave(2);
        move(WRITE, to, probabilities, sizeof probabilities);
    }
    const uint32_t *deepest = stack_begin;
    while (*deepest == PAINT) deepest++;
    float used = (float)((stack_end - deepest) * 4);
    move(WRITE, to, &used, sizeof used);
    leave(0);
}

void start(void);
void fault(void);
void start(void) {
    *(volatile uint32_t *)0xe000ed88u |= 0xfu << 20; /* CPACR: the FPU */
    __asm__ volatile("dsb\nisb" ::: "memory");
    uint32_t here;
    for (volatile uint32_t *p = stack_begin; (uintptr_t)p < (uintptr_t)&here - 64; p++) *p = PAINT;
    run();
}
void fault(void) { leave(30); }

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_end,           (const void *)start, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};
