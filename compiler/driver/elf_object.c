#include "elf_object.h"
#include "../../runtime/include/infc_abi.h"
#include "../base/file.h"
#include <string.h>

static infc_status refuse(infc_cx *cx, const infc_elf *elf, const char *why) {
    return infc_fail(cx, INFC_ERR_TOOLCHAIN, (infc_loc){.file = elf->path}, "%s", why);
}

static bool section_fits(const infc_elf *elf, const Elf64_Shdr *section) {
    uint64_t end;
    if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL) return true;
    return !__builtin_add_overflow(section->sh_offset, section->sh_size, &end) && end <= elf->file.len;
}

infc_status infc_elf_open(infc_cx *cx, const char *path, infc_elf *out) {
    *out = (infc_elf){.path = path};
    INFC_TRY(infc_file_map(cx, path, &out->file));
    const infc_bytes file = out->file;
    if (file.len < sizeof out->header || memcmp(file.ptr, ELFMAG, SELFMAG) != 0 ||
        file.ptr[EI_CLASS] != ELFCLASS64 || file.ptr[EI_DATA] != ELFDATA2LSB)
        return refuse(cx, out, "the compiler wrote something that is not a 64-bit ELF object");
    memcpy(&out->header, file.ptr, sizeof out->header);
    uint64_t end;
    const size_t n = out->header.e_shnum;
    if (out->header.e_shentsize != sizeof(Elf64_Shdr) ||
        __builtin_add_overflow(out->header.e_shoff, n * sizeof(Elf64_Shdr), &end) || end > file.len)
        return refuse(cx, out, "the object's section table is outside the file");
    Elf64_Shdr *sections = INFC_NEW(cx->arena, Elf64_Shdr, n + 1);
    if (n) memcpy(sections, file.ptr + out->header.e_shoff, n * sizeof *sections);
    for (size_t i = 0; i < n; i++)
        if (!section_fits(out, &sections[i]))
            return refuse(cx, out, "a section of the object is outside the file");
    out->sections = sections;
    return INFC_OK;
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
        if (table->sh_link >= elf->header.e_shnum)
            return refuse(cx, elf, "the object's symbols have no names");
        const Elf64_Shdr *names = &elf->sections[table->sh_link];
        for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, elf->file.ptr + table->sh_offset + i * sizeof symbol, sizeof symbol);
            if (!is_public(&symbol)) continue;
            if (symbol.st_name >= names->sh_size)
                return refuse(cx, elf, "a symbol's name is outside the file");
            const char *name = (const char *)elf->file.ptr + names->sh_offset + symbol.st_name;
            INFC_GROW(cx->arena, *out, *out_n, cap);
            (*out)[(*out_n)++] = infc_arena_copy_string(
                cx->arena, name, strnlen(name, (size_t)(names->sh_size - symbol.st_name)));
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
