#include "code_mix.h"
#include "../base/file.h"
#include "../base/sort.h"
#include "code_words.h"
#include "elf_object.h"
#include "wasm_object.h"
#include <string.h>

/* Of llvm-c/Disassembler.h, whose package nothing else here needs. */
extern void *LLVMCreateDisasmCPUFeatures(const char *triple, const char *cpu, const char *features,
                                         void *info, int tag, void *operand_info, void *symbol_lookup);
extern void LLVMDisasmDispose(void *disassembler);
extern size_t LLVMDisasmInstruction(void *disassembler, uint8_t *bytes, uint64_t n_bytes,
                                    uint64_t pc, char *out, size_t out_bytes);

typedef struct line {
    uint64_t at;
    const char *text;
    size_t products;
} line;

typedef struct mark { /* from here on there is data, or there are instructions */
    uint64_t at;
    bool data;
} mark;

typedef struct reading { /* of one function */
    infc_cx *cx;
    const infc_target *target;
    const infc_machine_code *code;
    void *disassembler;
    infc_code_mix *mix;
    line *lines;
    size_t n, cap;
    mark *marks; /* in order; none: all is instructions */
    size_t n_marks, cap_marks;
    uint64_t inner; /* where the last loop began: what contains it is no innermost loop */
    infc_code_loop loop;
} reading;

static void count(infc_code_mix *mix, const infc_instruction *i) {
    mix->instructions++;
    mix->vector += i->vector > 0;
    mix->fma += i->fma;
    mix->dot += i->dot;
    mix->loads += i->load;
    mix->stores += i->store;
    mix->spills += i->stack;
    if (i->vector > mix->widest) mix->widest = i->vector;
}

/* The loop from `start` to the last line, if it is innermost and multiplies more than the one before. */
static void take_loop(reading *r, uint64_t start) {
    size_t first = r->n, products = 0;
    if (r->inner != UINT64_MAX && start <= r->inner) return;
    r->inner = start;
    while (first > 0 && r->lines[first - 1].at >= start) products += r->lines[--first].products;
    const size_t n = r->n - first;
    if (products < r->loop.products || (products == r->loop.products && n <= r->loop.instructions))
        return;
    infc_buf text = {.arena = r->cx->arena};
    for (size_t i = first; i < r->n; i++) infc_buf_printf(&text, "%s\n", r->lines[i].text);
    r->loop.text = infc_buf_str(&text);
    r->loop.products = products;
    r->loop.instructions = n;
}

static void read_function(reading *r, const char *name, infc_bytes bytes) {
    const uint8_t *at = bytes.ptr, *end = at + bytes.len;
    char text[256];
    r->n = 0;
    r->inner = UINT64_MAX;
    r->loop = (infc_code_loop){.function = name};
    for (size_t next = 0, data = 0; at < end;) {
        const uint64_t pc = (uint64_t)(at - (const uint8_t *)bytes.ptr);
        while (next < r->n_marks && r->marks[next].at <= pc) data = r->marks[next++].data;
        if (data) {
            at++;
            r->mix->data++;
            continue;
        }
        const size_t size = LLVMDisasmInstruction(r->disassembler, (uint8_t *)at,
                                                  (uint64_t)(end - at), pc, text, sizeof text);
        const size_t step = size ? size : 1;
        at += step < (size_t)(end - at) ? step : (size_t)(end - at);
        if (!size) {
            r->mix->data++;
            continue;
        }
        const infc_instruction i = infc_instruction_look(r->code, r->target, text, size);
        count(r->mix, &i);
        INFC_GROW(r->cx->arena, r->lines, r->n, r->cap);
        r->lines[r->n++] =
            (line){pc, infc_arena_copy_string(r->cx->arena, text, strlen(text)), i.fma + (size_t)i.dot};
        if (i.branch && i.offset < 0 && (uint64_t)-i.offset <= pc)
            take_loop(r, pc - (uint64_t)-i.offset);
    }
    if (!r->loop.text) return;
    INFC_GROW(r->cx->arena, r->mix->loops, r->mix->n_loops, r->mix->cap_loops);
    r->mix->loops[r->mix->n_loops++] = r->loop;
}

static int by_place(const void *a, const void *b) {
    const mark *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* $d begins data in the code of a section, $t, $a and $x instructions: the symbols of ELF for the Arm architecture. */
static void find_marks(reading *r, const infc_elf *elf, size_t section) {
    r->n_marks = 0;
    for (size_t t = 0; t < elf->header.e_shnum; t++) {
        const Elf64_Shdr *table = &elf->sections[t];
        if (table->sh_type != SHT_SYMTAB) continue;
        for (size_t i = 0; i < infc_elf_symbol_count(elf, table); i++) {
            const Elf64_Sym symbol = infc_elf_symbol(elf, table, i);
            if (symbol.st_shndx != section || ELF64_ST_TYPE(symbol.st_info) != STT_NOTYPE) continue;
            const char *name = infc_elf_symbol_name(r->cx->arena, elf, table, &symbol);
            if (!name || name[0] != '$' || !strchr("dtax", name[1])) continue;
            INFC_GROW(r->cx->arena, r->marks, r->n_marks, r->cap_marks);
            r->marks[r->n_marks++] = (mark){symbol.st_value, name[1] == 'd'};
        }
    }
    infc_sort(r->marks, r->n_marks, sizeof *r->marks, by_place);
}

static infc_status read_elf(reading *r, const char *object) {
    static const char text[] = ".text.";
    infc_elf elf;
    INFC_TRY(infc_elf_open(r->cx, object, &elf));
    for (size_t i = 0; i < elf.header.e_shnum; i++) {
        const Elf64_Shdr *s = &elf.sections[i];
        if (s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_EXECINSTR)) continue;
        const char *name = infc_elf_section_name(r->cx->arena, &elf, s);
        if (!name) name = "";
        if (strncmp(name, text, sizeof text - 1) == 0) name += sizeof text - 1;
        find_marks(r, &elf, i);
        read_function(r, name, (infc_bytes){elf.file.ptr + s->sh_offset, (size_t)s->sh_size});
    }
    return INFC_OK;
}

static void read_body(void *user, infc_bytes code) { read_function(user, "", code); }

infc_status infc_code_mix_add(infc_cx *cx, const infc_target *target, const char *object, infc_code_mix *mix) {
    const infc_machine_code *code = infc_machine_code_get(target->platform->arch);
    infc_bytes file;
    if (!code) return INFC_OK;
    code->start();
    reading r = {.cx = cx, .target = target, .code = code, .mix = mix};
    INFC_TRY(infc_file_map(cx, object, &file));
    r.disassembler = LLVMCreateDisasmCPUFeatures(code->triple, code->cpu, code->features, NULL, 0, NULL, NULL);
    if (!r.disassembler)
        return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "LLVM has no disassembler for %s", code->triple);
    const infc_status status =
        infc_wasm_is_object(file) ? infc_wasm_bodies(cx, object, file, read_body, &r) : read_elf(&r, object);
    LLVMDisasmDispose(r.disassembler);
    return status;
}
