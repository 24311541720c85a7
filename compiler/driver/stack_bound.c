#include "stack_bound.h"
#include "../base/file.h"
#include "elf_object.h"
#include <stdlib.h>
#include <string.h>

/* ---- functions and their frames --------------------------------------------------------------------------------- */

/* The bytes that a line "file.c:12:name<tab>bytes<tab>static" gives `name`; UINT64_MAX without a line, or when the
 * frame grows while the function runs. */
static uint64_t frame_of(infc_bytes usage, const char *name) {
    const char *at = (const char *)usage.ptr, *end = at + usage.len;
    const size_t n = strlen(name);
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) break;
        const char *tab = memchr(at, '\t', (size_t)(line_end - at));
        if (tab && (size_t)(tab - at) > n && tab[-(ptrdiff_t)n - 1] == ':' && memcmp(tab - n, name, n) == 0) {
            const bool fixed = memmem(tab, (size_t)(line_end - tab), "\tstatic", 7);
            return fixed ? strtoull(tab + 1, NULL, 10) : UINT64_MAX;
        }
        at = line_end + 1;
    }
    return UINT64_MAX;
}

static bool is_code(const infc_elf *elf, size_t section) {
    return section < elf->header.e_shnum && elf->sections[section].sh_flags & SHF_EXECINSTR;
}

static infc_status add_functions(infc_stack *s, const infc_elf *elf, const Elf64_Shdr *table, infc_bytes usage) {
    for (size_t i = 0; i < infc_elf_symbol_count(elf, table); i++) {
        const Elf64_Sym symbol = infc_elf_symbol(elf, table, i);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !is_code(elf, symbol.st_shndx)) continue;
        const char *name = infc_elf_symbol_name(s->cx->arena, elf, table, &symbol);
        if (!name) continue;
        INFC_GROW(s->cx->arena, s->functions, s->n_functions, s->cap_functions);
        s->functions[s->n_functions++] = (infc_stack_function){
            .name = name, .object = s->n_objects, .section = symbol.st_shndx, .frame = frame_of(usage, name)};
    }
    return INFC_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* What a relocation of code refers to, if that is code or lies elsewhere. */
static void add_call(infc_stack *s, const infc_elf *elf, const Elf64_Shdr *table, uint64_t index) {
    if (index >= infc_elf_symbol_count(elf, table)) return;
    const Elf64_Sym symbol = infc_elf_symbol(elf, table, index);
    infc_stack_call call = {.object = s->n_objects, .section = symbol.st_shndx};
    if (symbol.st_shndx == SHN_UNDEF)
        call.name = infc_elf_symbol_name(s->cx->arena, elf, table, &symbol);
    else if (!is_code(elf, symbol.st_shndx)) return;
    INFC_GROW(s->cx->arena, s->calls, s->n_calls, s->cap_calls);
    s->calls[s->n_calls++] = call;
}

static void add_relocations(infc_stack *s, const infc_elf *elf, const Elf64_Shdr *relocations) {
    const bool with_addend = relocations->sh_type == SHT_RELA;
    const size_t word = elf->narrow ? 4 : 8, bytes = word * (with_addend ? 3 : 2);
    if (relocations->sh_link >= elf->header.e_shnum) return;
    for (uint64_t at = 0; at + bytes <= relocations->sh_size; at += bytes) {
        const uint64_t info = infc_elf_field(elf, relocations->sh_offset + at + word, word);
        add_call(s, elf, &elf->sections[relocations->sh_link], elf->narrow ? info >> 8 : info >> 32);
    }
}

static void add_calls(infc_stack *s, const infc_elf *elf, infc_stack_function *f) {
    f->first_call = s->n_calls;
    for (size_t i = 0; i < elf->header.e_shnum; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if ((section->sh_type == SHT_REL || section->sh_type == SHT_RELA) && section->sh_info == f->section)
            add_relocations(s, elf, section);
    }
    f->n_calls = s->n_calls - f->first_call;
}

infc_status infc_stack_add(infc_stack *s, const char *object, const char *usage) {
    infc_elf elf;
    infc_bytes file, frames;
    INFC_TRY(infc_file_map(s->cx, object, &file));
    if (file.len < SELFMAG || memcmp(file.ptr, ELFMAG, SELFMAG) != 0 || infc_file_try_map(usage, &frames) != 0) {
        s->unknown = true;
        return INFC_OK;
    }
    INFC_TRY(infc_elf_open(s->cx, object, &elf));
    const size_t first = s->n_functions;
    for (size_t i = 0; i < elf.header.e_shnum; i++)
        if (elf.sections[i].sh_type == SHT_SYMTAB)
            INFC_TRY(add_functions(s, &elf, &elf.sections[i], frames));
    for (size_t i = first; i < s->n_functions; i++) add_calls(s, &elf, &s->functions[i]);
    s->n_objects++;
    infc_file_unmap(frames);
    return INFC_OK;
}

static infc_stack_function *called(infc_stack *s, const infc_stack_call *call) {
    for (size_t i = 0; i < s->n_functions; i++) {
        infc_stack_function *f = &s->functions[i];
        if (call->name ? strcmp(f->name, call->name) == 0 : f->object == call->object && f->section == call->section)
            return f;
    }
    return NULL; /* of another library */
}

static bool walk(infc_stack *s, infc_stack_function *f) {
    uint64_t deepest = 0;
    if (f->depth) return f->depth == 2;
    if (f->frame == UINT64_MAX) return false;
    f->depth = 1;
    for (size_t i = 0; i < f->n_calls; i++) {
        infc_stack_function *callee = called(s, &s->calls[f->first_call + i]);
        if (!callee || callee == f) continue; /* jump tables and its own address */
        if (!walk(s, callee)) return false;
        if (callee->most > deepest) deepest = callee->most;
    }
    f->depth = 2;
    f->most = f->frame + s->return_bytes + deepest;
    return true;
}

bool infc_stack_bound(infc_stack *s, const char *entry, uint64_t *out) {
    infc_stack_function *f = called(s, &(infc_stack_call){.name = entry});
    if (!f || s->unknown || !walk(s, f)) return false;
    *out = f->most + s->red_zone;
    return true;
}
