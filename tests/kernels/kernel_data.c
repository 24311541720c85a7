/* kernel_data.c - operands of the kernel tests: values, comparison, guarded memory. */
#include "kernel_case.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(__wasm__)
#include <sys/mman.h>
#include <unistd.h>
#endif

uint64_t kernel_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

size_t kernel_type_bytes(const char *type) {
    if (strcmp(type, "f32") == 0) return 4;
    if (strcmp(type, "i8") == 0 || strcmp(type, "u8") == 0) return 1;
    if (strcmp(type, "i16") == 0 || strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0) return 2;
    if (type[0] == 'i') return strcmp(type, "i64") == 0 ? 8 : 4;
    return type[0] == 'b' ? (size_t)(type[1] - '0') : 0;
}

static float random_float(kernel_data kind, uint64_t *state) {
    static const uint32_t extremes[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x00000001u,
                                        0x807fffffu, 0x00000000u, 0x80000000u, 0x7f7fffffu,
                                        0xff7fffffu, 0x00800000u};
    const uint64_t bits = kernel_random(state);
    const float unit = (float)(int32_t)(bits >> 32) * 0x1p-31f;
    const int exponent = (int)(bits & 1023);
    switch (kind) {
    case DATA_ROUNDING: return ldexpf(unit, exponent % 40 - 20);
    case DATA_TINY: return ldexpf(unit, exponent % 30 - 90);
    case DATA_EXTREMES:
        if (bits % 8 == 0) {
            float value;
            memcpy(&value, &extremes[(bits >> 8) % (sizeof extremes / sizeof *extremes)], 4);
            return value;
        }
        return unit;
    case DATA_PLAIN:
    case N_KERNEL_DATA: break;
    }
    return unit;
}

void kernel_fill(void *data, const char *type, ptrdiff_t count, kernel_data kind, uint64_t *state) {
    const size_t bytes = kernel_type_bytes(type);
    const bool f32 = strcmp(type, "f32") == 0;
    unsigned char *at = data;
    for (ptrdiff_t i = 0; i < count; i++, at += bytes) {
        if (f32 || strcmp(type, "bf16") == 0) { /* bf16: the upper half, little-endian */
            const float value = random_float(kind, state);
            memcpy(at, (const char *)&value + (4 - bytes), bytes);
        } else if (type[0] == 'i' && bytes > 1) {
            const int64_t index = (int64_t)(kernel_random(state) % (2 * KERNEL_ROWS)) - KERNEL_ROWS;
            memcpy(at, &index, bytes); /* little-endian */
        } else {
            uint64_t value = kernel_random(state) >> 8;
            if (strcmp(type, "f16") == 0 && kind != DATA_EXTREMES) /* below 2, or hardly above denormals */
                value &= kind == DATA_TINY ? 0x87ff : 0xbfff;
            for (size_t b = 0; b < bytes; b++) at[b] = (unsigned char)(value >> (8 * b % 56));
        }
    }
}

static bool is_nan(const unsigned char *p) {
    uint32_t bits;
    memcpy(&bits, p, 4);
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

bool kernel_equal(const void *a, const void *b, const char *type, ptrdiff_t count) {
    const size_t bytes = kernel_type_bytes(type);
    const unsigned char *p = a, *q = b;
    if (memcmp(p, q, bytes * (size_t)count) == 0) return true;
    if (strcmp(type, "f32") != 0) return false;
    for (ptrdiff_t i = 0; i < count; i++, p += 4, q += 4)
        if (memcmp(p, q, 4) != 0 && !(is_nan(p) && is_nan(q))) return false;
    return true;
}

#if defined(__wasm__)
/* No page of WebAssembly's memory can be made unreadable: what lies around a slot is looked at instead. */
enum { GUARD_BYTES = 4096, GUARD = 0x5C };

static unsigned char *slot_make(void) {
    unsigned char *at = malloc(GUARDED_BYTES + 2 * GUARD_BYTES);
    if (!at) {
        perror("guarded");
        exit(1);
    }
    memset(at, GUARD, GUARD_BYTES);
    memset(at + GUARD_BYTES + GUARDED_BYTES, GUARD, GUARD_BYTES);
    return at + GUARD_BYTES;
}

static void slot_check(const unsigned char *slot) {
    for (int i = 0; i < GUARD_BYTES; i++) {
        if (slot[i - GUARD_BYTES] == GUARD && slot[GUARDED_BYTES + i] == GUARD) continue;
        fprintf(stderr, "guarded: something was written outside of an operand\n");
        exit(1);
    }
}
#else
static unsigned char *slot_make(void) { /* unreadable page, GUARDED_BYTES, unreadable page */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *map = mmap(NULL, GUARDED_BYTES + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, GUARDED_BYTES, PROT_READ | PROT_WRITE) != 0) {
        perror("guarded");
        exit(1);
    }
    return map + page;
}

static void slot_check(const unsigned char *slot) { (void)slot; }
#endif

void *guarded(int slot, size_t bytes, bool at_start) {
    static unsigned char *slots[GUARDED_SLOTS];
    if (bytes > GUARDED_BYTES) {
        fprintf(stderr, "guarded: %zu bytes asked, at most %d\n", bytes, GUARDED_BYTES);
        exit(1);
    }
    if (!slots[slot]) slots[slot] = slot_make();
    slot_check(slots[slot]);
    unsigned char *at = at_start ? slots[slot] : slots[slot] + GUARDED_BYTES - bytes;
    memset(at, 0xA5, bytes);
    return at;
}
