#include "object_sizes.h"
#include "../base/file.h"
#include <elf.h>
#include <string.h>

static void add_section(const Elf64_Shdr *s, infc_object_sizes *sizes) {
    if (!(s->sh_flags & SHF_ALLOC)) return;
    if (s->sh_type == SHT_NOBITS) sizes->bss += s->sh_size;
    else if (s->sh_flags & SHF_EXECINSTR) sizes->text += s->sh_size;
    else if (s->sh_flags & SHF_WRITE) sizes->data += s->sh_size;
    else sizes->rodata += s->sh_size;
}

infc_status infc_object_sizes_add(infc_cx *cx, const char *path, infc_object_sizes *sizes) {
    infc_bytes file;
    INFC_TRY(infc_file_map(cx, path, &file));
    Elf64_Ehdr header;
    infc_loc loc = {.file = path};
    if (file.len < sizeof header || memcmp(file.ptr, ELFMAG, SELFMAG) != 0 ||
        file.ptr[EI_CLASS] != ELFCLASS64 || file.ptr[EI_DATA] != ELFDATA2LSB) {
        return infc_fail(cx, INFC_ERR_TOOLCHAIN, loc, "the compiler wrote something that is not a 64-bit ELF object");
    }
    memcpy(&header, file.ptr, sizeof header);
    uint64_t end, n = header.e_shnum;
    if (header.e_shentsize != sizeof(Elf64_Shdr) ||
        __builtin_add_overflow(header.e_shoff, n * sizeof(Elf64_Shdr), &end) || end > file.len) {
        return infc_fail(cx, INFC_ERR_TOOLCHAIN, loc, "the object's section table is outside the file");
    }
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Shdr section;
        memcpy(&section, file.ptr + header.e_shoff + i * sizeof section, sizeof section);
        add_section(&section, sizes);
    }
    return INFC_OK;
}
