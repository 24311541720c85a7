/* check_memory.c - the functions that compilers call on their own accord, where there is no C library.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);

void *memcpy(void *to, const void *from, size_t n) {
    unsigned char *d = to;
    const unsigned char *s = from;
    for (; n; n--) {
        *d++ = *s++;
        __asm__ volatile(""); /* else it becomes a call of itself */
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    unsigned char *d = to;
    const unsigned char *s = from;
    if ((uintptr_t)d <= (uintptr_t)s) return memcpy(to, from, n);
    while (n--) {
        d[n] = s[n];
        __asm__ volatile("");
    }
    return to;
}

void *memset(void *to, int value, size_t n) {
    unsigned char *d = to;
    while (n--) {
        *d++ = (unsigned char)value;
        __asm__ volatile("");
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *p = a, *q = b;
    for (; n; n--, p++, q++)
        if (*p != *q) return *p - *q;
    return 0;
}

#if defined(__ARM_EABI__)
void __aeabi_memcpy(void *to, const void *from, size_t n);
void __aeabi_memcpy4(void *to, const void *from, size_t n);
void __aeabi_memcpy8(void *to, const void *from, size_t n);
void __aeabi_memmove(void *to, const void *from, size_t n);
void __aeabi_memset(void *to, size_t n, int value);
void __aeabi_memclr(void *to, size_t n);
void __aeabi_memclr4(void *to, size_t n);
void __aeabi_memclr8(void *to, size_t n);
void __aeabi_memcpy(void *to, const void *from, size_t n) { memcpy(to, from, n); }
void __aeabi_memcpy4(void *to, const void *from, size_t n) { memcpy(to, from, n); }
void __aeabi_memcpy8(void *to, const void *from, size_t n) { memcpy(to, from, n); }
void __aeabi_memmove(void *to, const void *from, size_t n) { memmove(to, from, n); }
void __aeabi_memset(void *to, size_t n, int value) { memset(to, value, n); }
void __aeabi_memclr(void *to, size_t n) { memset(to, 0, n); }
void __aeabi_memclr4(void *to, size_t n) { memset(to, 0, n); }
void __aeabi_memclr8(void *to, size_t n) { memset(to, 0, n); }

/* 64-bit division, bit by bit; the compiler wants quotient and remainder in r0..r3. */
typedef struct divided {
    uint64_t quotient, remainder;
} divided;
divided check_divide(uint64_t a, uint64_t b);
__attribute__((used)) divided check_divide(uint64_t a, uint64_t b) {
    divided r = {0, 0};
    for (int i = 63; i >= 0; i--) {
        r.remainder = r.remainder << 1 | (a >> i & 1);
        if (r.remainder < b) continue;
        r.remainder -= b;
        r.quotient |= UINT64_C(1) << i;
    }
    return r;
}
divided check_divide_signed(int64_t a, int64_t b);
__attribute__((used)) divided check_divide_signed(int64_t a, int64_t b) {
    const uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    divided r = check_divide(x, y);
    if ((a < 0) != (b < 0)) r.quotient = 0 - r.quotient;
    if (a < 0) r.remainder = 0 - r.remainder;
    return r;
}
#define DIVIDE(name, function)                                            \
    void name(void);                                                      \
    __attribute__((naked)) void name(void) {                              \
        __asm__("push {r0-r6, lr}\n" /* room for the result, 8 aligned */ \
                "sub sp, #8\n"                                            \
                "strd r2, r3, [sp]\n"                                     \
                "mov r3, r1\n"                                            \
                "mov r2, r0\n"                                            \
                "add r0, sp, #8\n"                                        \
                "bl " #function "\n"                                      \
                "add sp, #8\n"                                            \
                "pop {r0-r6, pc}\n");                                     \
    }
DIVIDE(__aeabi_uldivmod, check_divide)
DIVIDE(__aeabi_ldivmod, check_divide_signed)
#endif
