#include "elf_object.h"
#include "../../runtime/include/infc_abi.h"
#include "../base/file.h"
#include <stddef.h>
#include <string.h>

static infc_status refuse(infc_cx *cx, const infc_elf *elf, const char *why) {
    return infc_fail(cx, INFC_ERR_TOOLCHAIN, (infc_loc){.file = elf->path}, "%s", why);
}

static bool section_fits(const infc_elf *elf, const Elf64_Shdr *section) {
    uint64_t end;
    if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL) return true;
    return !__builtin_add_overflow(section->sh_offset, section->sh_size, &end) && end <= elf->file.len;
}

uint64_t infc_elf_field(const infc_elf *elf, uint64_t offset, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | elf->file.ptr[offset + (elf->big ? i : bytes - 1 - i)];
    return value;
}

/* A struct of the file as that of 64 bits. Fields by their place in both forms; addresses grow with the class. */
#define FIELD(from, name)                                                                          \
    (elf->narrow ? infc_elf_field(elf, (from) + offsetof(NARROW, name), sizeof((NARROW *)0)->name) \
                 : infc_elf_field(elf, (from) + offsetof(WIDE, name), sizeof((WIDE *)0)->name))

#define NARROW Elf32_Ehdr
#define WIDE Elf64_Ehdr
static void read_header(infc_elf *elf) {
    memcpy(elf->header.e_ident, elf->file.ptr, EI_NIDENT);
    elf->header.e_type = (Elf64_Half)FIELD(0, e_type);
    elf->header.e_machine = (Elf64_Half)FIELD(0, e_machine);
    elf->header.e_version = (Elf64_Word)FIELD(0, e_version);
    elf->header.e_flags = (Elf64_Word)FIELD(0, e_flags);
    elf->header.e_ehsize = (Elf64_Half)FIELD(0, e_ehsize);
    elf->header.e_shoff = FIELD(0, e_shoff);
    elf->header.e_shentsize = (Elf64_Half)FIELD(0, e_shentsize);
    elf->header.e_shnum = (Elf64_Half)FIELD(0, e_shnum);
    elf->header.e_shstrndx = (Elf64_Half)FIELD(0, e_shstrndx);
}
#undef NARROW
#undef WIDE

#define NARROW Elf32_Shdr
#define WIDE Elf64_Shdr
static Elf64_Shdr read_section(const infc_elf *elf, uint64_t from) {
    return (Elf64_Shdr){.sh_name = (Elf64_Word)FIELD(from, sh_name),
                        .sh_type = (Elf64_Word)FIELD(from, sh_type),
                        .sh_flags = FIELD(from, sh_flags),
                        .sh_offset = FIELD(from, sh_offset),
                        .sh_size = FIELD(from, sh_size),
                        .sh_link = (Elf64_Word)FIELD(from, sh_link),
                        .sh_info = (Elf64_Word)FIELD(from, sh_info)};
}
#undef NARROW
#undef WIDE

#define NARROW Elf32_Sym
#define WIDE Elf64_Sym
static Elf64_Sym read_symbol(const infc_elf *elf, uint64_t from) {
    return (Elf64_Sym){.st_name = (Elf64_Word)FIELD(from, st_name),
                       .st_info = (unsigned char)FIELD(from, st_info),
                       .st_value = FIELD(from, st_value),
                       .st_shndx = (Elf64_Section)FIELD(from, st_shndx)};
}
#undef NARROW
#undef WIDE

infc_status infc_elf_open(infc_cx *cx, const char *path, infc_elf *out) {
    *out = (infc_elf){.path = path};
    INFC_TRY(infc_file_map(cx, path, &out->file));
    const infc_bytes file = out->file;
    if (file.len < sizeof out->header || memcmp(file.ptr, ELFMAG, SELFMAG) != 0)
        return refuse(cx, out, "the compiler wrote something that is not an ELF object");
    out->narrow = file.ptr[EI_CLASS] == ELFCLASS32;
    out->big = file.ptr[EI_DATA] == ELFDATA2MSB;
    read_header(out);
    uint64_t end;
    const size_t n = out->header.e_shnum, bytes = out->narrow ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
    if (out->header.e_shentsize != bytes ||
        __builtin_add_overflow(out->header.e_shoff, n * bytes, &end) || end > file.len)
        return refuse(cx, out, "the object's section table is outside the file");
    Elf64_Shdr *sections = INFC_NEW(cx->arena, Elf64_Shdr, n + 1);
    for (size_t i = 0; i < n; i++) {
        sections[i] = read_section(out, out->header.e_shoff + i * bytes);
        if (!section_fits(out, &sections[i]))
            return refuse(cx, out, "a section of the object is outside the file");
    }
    out->sections = sections;
    return INFC_OK;
}

Elf64_Sym infc_elf_symbol(const infc_elf *elf, const Elf64_Shdr *table, uint64_t index) {
    return read_symbol(elf, table->sh_offset + index * (elf->narrow ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym)));
}

size_t infc_elf_symbol_count(const infc_elf *elf, const Elf64_Shdr *table) {
    return (size_t)(table->sh_size / (elf->narrow ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym)));
}

/* The text at `offset` in that section of texts; null when it lies outside the file. */
static const char *text_at(infc_arena *arena, const infc_elf *elf, size_t section, Elf64_Word offset) {
    if (section >= elf->header.e_shnum) return NULL;
    const Elf64_Shdr *texts = &elf->sections[section];
    if (offset >= texts->sh_size || texts->sh_type != SHT_STRTAB) return NULL;
    const char *text = (const char *)elf->file.ptr + texts->sh_offset + offset;
    return infc_arena_copy_string(arena, text, strnlen(text, (size_t)(texts->sh_size - offset)));
}

const char *infc_elf_symbol_name(infc_arena *arena, const infc_elf *elf, const Elf64_Shdr *table,
                                 const Elf64_Sym *symbol) {
    return text_at(arena, elf, table->sh_link, symbol->st_name);
}

const char *infc_elf_section_name(infc_arena *arena, const infc_elf *elf, const Elf64_Shdr *section) {
    return text_at(arena, elf, elf->header.e_shstrndx, section->sh_name);
}

static bool is_public(const Elf64_Sym *symbol) {
    return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && symbol->st_shndx != SHN_UNDEF;
}

infc_status infc_elf_symbols(infc_cx *cx, const infc_elf *elf, const char ***out, size_t *out_n) {
    size_t cap = 0;
    *out = NULL;
    *out_n = 0;
    for (size_t s = 0; s < elf->header.e_shnum; s++) {
        const Elf64_Shdr *table = &elf->sections[s];
        if (table->sh_type != SHT_SYMTAB) continue;
        for (size_t i = 0; i < infc_elf_symbol_count(elf, table); i++) {
            const Elf64_Sym symbol = infc_elf_symbol(elf, table, i);
            if (!is_public(&symbol)) continue;
            const char *name = infc_elf_symbol_name(cx->arena, elf, table, &symbol);
            if (!name) return refuse(cx, elf, "a symbol's name is outside the file");
            INFC_GROW(cx->arena, *out, *out_n, cap);
            (*out)[(*out_n)++] = name;
        }
    }
    return INFC_OK;
}

/* Adds a name to a string table; its offset. */
static uint32_t add_name(infc_buf *names, const char *name) {
    const uint32_t at = (uint32_t)names->len;
    infc_buf_put(names, name, strlen(name) + 1);
    return at;
}

infc_bytes infc_elf_data_head(infc_arena *arena, const infc_elf *like, const char *section,
                              const char *symbol, uint64_t bytes) {
    enum { DATA = 1, STACK, SYMBOLS, NAMES, N };
    infc_buf names = {.arena = arena}, out = {.arena = arena};
    add_name(&names, "");
    const Elf64_Sym symbols[2] = {[1] = {.st_name = add_name(&names, symbol),
                                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                         .st_other = STV_HIDDEN,
                                         .st_shndx = DATA,
                                         .st_size = bytes}};
    Elf64_Shdr sections[N] = {
        [DATA] = {.sh_name = add_name(&names, section), .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC},
        [STACK] = {.sh_name = add_name(&names, ".note.GNU-stack"), .sh_type = SHT_PROGBITS, .sh_addralign = 1},
        [SYMBOLS] = {.sh_name = add_name(&names, ".symtab"), .sh_type = SHT_SYMTAB, .sh_addralign = 8},
        [NAMES] = {.sh_name = add_name(&names, ".strtab"), .sh_type = SHT_STRTAB, .sh_addralign = 1}};
    sections[SYMBOLS].sh_offset = sizeof(Elf64_Ehdr) + sizeof sections;
    sections[SYMBOLS].sh_size = sizeof symbols;
    sections[SYMBOLS].sh_entsize = sizeof *symbols;
    sections[SYMBOLS].sh_link = NAMES;
    sections[SYMBOLS].sh_info = 1; /* the first that is not local */
    sections[NAMES].sh_offset = sections[SYMBOLS].sh_offset + sizeof symbols;
    sections[NAMES].sh_size = names.len;
    sections[STACK].sh_offset = sections[DATA].sh_offset =
        (sections[NAMES].sh_offset + names.len + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
    sections[DATA].sh_size = bytes;
    sections[DATA].sh_addralign = INFC_ALIGN;
    Elf64_Ehdr header = like->header; /* machine, ABI, flags */
    header.e_shoff = sizeof header;
    header.e_shnum = N;
    header.e_shstrndx = NAMES;
    infc_buf_put(&out, &header, sizeof header);
    infc_buf_put(&out, sections, sizeof sections);
    infc_buf_put(&out, symbols, sizeof symbols);
    infc_buf_put(&out, names.data, names.len);
    while (out.len < sections[DATA].sh_offset) infc_buf_put(&out, "", 1);
    return infc_buf_bytes(&out);
}
