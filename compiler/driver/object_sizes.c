#include "object_sizes.h"
#include "../base/file.h"
#include "elf_object.h"
#include "wasm_object.h"

static void add_section(const Elf64_Shdr *s, infc_object_sizes *sizes) {
    if (!(s->sh_flags & SHF_ALLOC)) return;
    if (s->sh_type == SHT_NOBITS) sizes->bss += s->sh_size;
    else if (s->sh_flags & SHF_EXECINSTR) sizes->text += s->sh_size;
    else if (s->sh_flags & SHF_WRITE) sizes->data += s->sh_size;
    else sizes->rodata += s->sh_size;
}

infc_status infc_object_sizes_add(infc_cx *cx, const char *path, infc_object_sizes *sizes) {
    infc_elf elf;
    infc_bytes file;
    INFC_TRY(infc_file_map(cx, path, &file));
    if (infc_wasm_is_object(file)) return infc_wasm_sizes(cx, path, file, sizes);
    INFC_TRY(infc_elf_open(cx, path, &elf));
    for (size_t i = 0; i < elf.header.e_shnum; i++) add_section(&elf.sections[i], sizes);
    return INFC_OK;
}
