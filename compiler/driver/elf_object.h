/* elf_object.h - ELF objects: reading what compilers wrote, and bytes as an object. Of 32 and 64 bits and both byte
 * orders; headers are kept as those of 64 bits in the order of this machine. */
#ifndef INFC_ELF_OBJECT_H
#define INFC_ELF_OBJECT_H
#include "../base/cx.h"
#include <elf.h>

typedef struct infc_elf { /* mapped; sections are within the file unless they are SHT_NOBITS */
    const char *path;
    infc_bytes file;
    bool narrow, big; /* 32 bits; big-endian */
    Elf64_Ehdr header;
    const Elf64_Shdr *sections; /* header.e_shnum */
} infc_elf;

/* Fails when it is not such an object: only compilers write what it reads. */
infc_status infc_elf_open(infc_cx *cx, const char *path, infc_elf *out);
/* Names of the symbols that others can link to, on the arena of cx. */
infc_status infc_elf_symbols(infc_cx *cx, const infc_elf *elf, const char ***out, size_t *out_n);
/* Numbers of the file, which must be within it: `bytes` bytes at `offset`; the symbol `index` of a table. */
uint64_t infc_elf_field(const infc_elf *elf, uint64_t offset, size_t bytes);
Elf64_Sym infc_elf_symbol(const infc_elf *elf, const Elf64_Shdr *table, uint64_t index);
size_t infc_elf_symbol_count(const infc_elf *elf, const Elf64_Shdr *table);
/* The name of a symbol of that table, on the arena; null when it lies outside the file. */
const char *infc_elf_symbol_name(infc_arena *arena, const infc_elf *elf, const Elf64_Shdr *table,
                                 const Elf64_Sym *symbol);
/* Of a section, on the arena; null when it lies outside the file. */
const char *infc_elf_section_name(infc_arena *arena, const infc_elf *elf, const Elf64_Shdr *section);
/* What stands before `bytes` bytes of read-only data, aligned to INFC_ALIGN, to make them an object for the machine of
 * `like`, of 64 bits and this machine's byte order, with one hidden symbol for where they begin. */
infc_bytes infc_elf_data_head(infc_arena *arena, const infc_elf *like, const char *section,
                              const char *symbol, uint64_t bytes);

#endif
