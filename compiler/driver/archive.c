/* The format of System V and GNU: an index of symbols, names that do not fit, the members; each has a header of 60
 * characters and begins at an even offset. */
#include "archive.h"
#include "../base/file.h"
#include "elf_object.h"
#include "wasm_object.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC "!<arch>\n"
enum { MAGIC_BYTES = 8, HEADER_BYTES = 60, SHORT_NAME = 15 };

static infc_status add(infc_archive *a, infc_archive_member member) {
    struct stat info;
    if (stat(member.path, &info) < 0)
        return infc_fail(a->cx, INFC_ERR_IO, (infc_loc){.file = member.path},
                         "cannot read this file: %s", strerror(errno));
    member.bytes = member.head.len + (uint64_t)info.st_size;
    INFC_GROW(a->cx->arena, a->members, a->n, a->cap);
    a->members[a->n++] = member;
    return INFC_OK;
}

infc_status infc_archive_add_object(infc_archive *archive, const char *path) {
    infc_elf elf;
    const char **symbols;
    infc_archive_member member = {.name = infc_path_base(path), .path = path};
    infc_bytes file;
    INFC_TRY(infc_file_map(archive->cx, path, &file));
    if (infc_wasm_is_object(file)) {
        INFC_TRY(infc_wasm_symbols(archive->cx, path, file, &symbols, &member.n_symbols));
    } else {
        INFC_TRY(infc_elf_open(archive->cx, path, &elf));
        INFC_TRY(infc_elf_symbols(archive->cx, &elf, &symbols, &member.n_symbols));
    }
    member.symbols = symbols;
    return add(archive, member);
}

infc_status infc_archive_add_data(infc_archive *archive, const char *name, infc_bytes head,
                                  const char *path, const char *symbol) {
    const char **symbols = INFC_NEW(archive->cx->arena, const char *, 1);
    symbols[0] = symbol;
    return add(archive, (infc_archive_member){name, head, path, 0, symbols, 1});
}

static void put_header(infc_buf *out, const char *name, const char *zero, const char *mode, uint64_t bytes) {
    infc_buf_printf(out, "%-16s%-12s%-6s%-6s%-8s%-10llu`\n", name, zero, zero, zero, mode,
                    (unsigned long long)bytes);
}

static void put_be32(infc_buf *out, uint64_t value) {
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};
    infc_buf_put(out, bytes, sizeof bytes);
}

/* The names for headers: "digits.o/", or "/12", where a long one stands in `long_names`. */
static const char **header_names(const infc_archive *a, infc_buf *long_names) {
    const char **names = INFC_NEW(a->cx->arena, const char *, a->n + 1);
    for (size_t i = 0; i < a->n; i++) {
        const char *name = a->members[i].name;
        if (strlen(name) <= SHORT_NAME) {
            names[i] = infc_arena_printf(a->cx->arena, "%s/", name);
            continue;
        }
        names[i] = infc_arena_printf(a->cx->arena, "/%zu", long_names->len);
        infc_buf_printf(long_names, "%s/\n", name);
    }
    if (long_names->len % 2) infc_buf_puts(long_names, "\n");
    return names;
}

/* All that comes before the first member. */
static infc_status put_tables(const infc_archive *a, const infc_buf *long_names, infc_buf *out) {
    infc_buf names = {.arena = a->cx->arena};
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t s = 0; s < a->members[i].n_symbols; s++, n++)
            infc_buf_put(&names, a->members[i].symbols[s], strlen(a->members[i].symbols[s]) + 1);
    if (names.len % 2) infc_buf_put(&names, "", 1);
    const uint64_t index = 4 + 4 * n + names.len;
    uint64_t at = MAGIC_BYTES + HEADER_BYTES + index;
    if (long_names->len) at += HEADER_BYTES + long_names->len;
    infc_buf_puts(out, MAGIC);
    put_header(out, "/", "0", "0", index);
    put_be32(out, n);
    for (size_t i = 0; i < a->n; i++) {
        for (size_t s = 0; s < a->members[i].n_symbols; s++) put_be32(out, at);
        at += HEADER_BYTES + a->members[i].bytes + a->members[i].bytes % 2;
    }
    infc_buf_put(out, names.data, names.len);
    if (long_names->len) put_header(out, "//", "", "", long_names->len);
    infc_buf_put(out, long_names->data, long_names->len);
    if (at <= UINT32_MAX) return INFC_OK;
    return infc_fail(a->cx, INFC_ERR_UNSUPPORTED, INFC_NO_LOC,
                     "a library of more than 4 GiB cannot be indexed; set output.weights: file");
}

infc_status infc_archive_pieces(const infc_archive *archive, infc_pieces *out) {
    infc_arena *arena = archive->cx->arena;
    infc_buf long_names = {.arena = arena}, tables = {.arena = arena};
    const char **names = header_names(archive, &long_names);
    *out = (infc_pieces){.arena = arena};
    INFC_TRY(put_tables(archive, &long_names, &tables));
    infc_pieces_add_bytes(out, infc_buf_bytes(&tables));
    for (size_t i = 0; i < archive->n; i++) {
        const infc_archive_member *member = &archive->members[i];
        infc_buf header = {.arena = arena};
        put_header(&header, names[i], "0", "644", member->bytes);
        infc_pieces_add_bytes(out, infc_buf_bytes(&header));
        infc_pieces_add_bytes(out, member->head);
        infc_pieces_add_file(out, member->path);
        if (member->bytes % 2) infc_pieces_add_bytes(out, (infc_bytes){(const uint8_t *)"\n", 1});
    }
    return INFC_OK;
}
