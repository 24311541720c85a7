/* app_glibc.c - which glibc this program needs, from the version needs in its own dynamic section. */
#define _GNU_SOURCE 1
#include "app_identity.h"
#include <stdlib.h>
#include <string.h>
#if defined(__GLIBC__) && defined(__ELF__)
#include <elf.h>
#include <sys/auxv.h>

#if UINTPTR_MAX == UINT64_MAX
#define ELF(name) Elf64_##name
#else
#define ELF(name) Elf32_##name
#endif

/* Where the program lies relative to its file, and its dynamic section; null in a static program. */
static const ELF(Dyn) * dynamic_find(uintptr_t *bias) {
    uintptr_t first = (uintptr_t)getauxval(AT_PHDR);
    const ELF(Phdr) *headers = (const ELF(Phdr) *)first;
    unsigned long n = first ? getauxval(AT_PHNUM) : 0;
    *bias = 0;
    for (unsigned long i = 0; i < n; i++)
        if (headers[i].p_type == PT_PHDR) *bias = first - (uintptr_t)headers[i].p_vaddr;
    for (unsigned long i = 0; i < n; i++)
        if (headers[i].p_type == PT_DYNAMIC)
            return (const ELF(Dyn) *)(*bias + (uintptr_t)headers[i].p_vaddr);
    return NULL;
}

/* glibc relocates these pointers in place on most architectures, but not on all. */
static const char *pointer(uintptr_t bias, uintptr_t value) {
    return (const char *)(value < bias ? value + bias : value);
}

/* "GLIBC_2.34" as 2034; 0: something else. */
static unsigned long version_number(const char *name) {
    char *end;
    if (strncmp(name, "GLIBC_2.", 8) != 0) return 0;
    unsigned long minor = strtoul(name + 8, &end, 10);
    return end > name + 8 ? 2000 + minor : 0;
}

const char *infrt_glibc_needed(char out[32]) {
    const char *needs = NULL, *strings = NULL;
    uintptr_t bias;
    unsigned long newest = 0, n_needs = 0;
    for (const ELF(Dyn) *d = dynamic_find(&bias); d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) strings = pointer(bias, (uintptr_t)d->d_un.d_ptr);
        if (d->d_tag == DT_VERNEED) needs = pointer(bias, (uintptr_t)d->d_un.d_ptr);
        if (d->d_tag == DT_VERNEEDNUM) n_needs = (unsigned long)d->d_un.d_val;
    }
    for (; needs && strings && n_needs > 0; n_needs--) {
        const ELF(Verneed) *need = (const void *)needs;
        const char *at = needs + need->vn_aux;
        for (unsigned i = 0; i < need->vn_cnt; i++) {
            const ELF(Vernaux) *version = (const void *)at;
            unsigned long number = version_number(strings + version->vna_name);
            if (number > newest) newest = number;
            at += version->vna_next;
        }
        needs += need->vn_next;
    }
    if (newest == 0) return NULL;
    snprintf(out, 32, "2.%lu", newest - 2000);
    return out;
}
#else
const char *infrt_glibc_needed(char out[32]) {
    out[0] = 0;
    return NULL;
}
#endif
