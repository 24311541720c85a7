/* The format: the WebAssembly core specification, and "Linking" of the tool conventions. */
#include "wasm_object.h"
#include <string.h>

enum { CODE = 10, DATA = 11, CUSTOM = 0, SEGMENT_INFO = 5, SYMBOL_TABLE = 8 };
enum { SYMBOL_DATA = 1, SYMBOL_SECTION = 3, LOCAL = 2, UNDEFINED = 0x10, NAMED = 0x40 };

typedef struct reader { /* bad: something was outside of the file, and all that is read is zero */
    const uint8_t *at, *end;
    bool bad;
} reader;

bool infc_wasm_is_object(infc_bytes file) {
    return file.len >= 8 && memcmp(file.ptr, "\0asm\1\0\0\0", 8) == 0;
}

static uint64_t number(reader *r) { /* LEB128; the sign of the few signed ones does not matter here */
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end) break;
        const uint8_t byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    r->bad = true;
    return 0;
}

static reader part(reader *r, uint64_t bytes) {
    reader inner = {r->at, r->at, r->bad};
    if (bytes > (uint64_t)(r->end - r->at)) inner.bad = r->bad = true;
    else r->at = inner.end = r->at + bytes;
    return inner;
}

static bool is_named(const reader *name, const char *text) {
    return (size_t)(name->end - name->at) == strlen(text) && memcmp(name->at, text, strlen(text)) == 0;
}

/* The next section; false at the end. The name of a custom section is taken off its front. */
static bool section(reader *r, uint64_t *id, reader *name, reader *body) {
    if (r->bad || r->at == r->end) return false;
    *id = number(r);
    *body = part(r, number(r));
    *name = (reader){0};
    if (*id == CUSTOM) *name = part(body, number(body));
    return !r->bad && !body->bad;
}

/* The body of a subsection of "linking"; empty when it is not there. */
static reader linking_part(infc_bytes file, unsigned wanted) {
    reader r = {file.ptr + 8, file.ptr + file.len, false}, name, body;
    for (uint64_t id; section(&r, &id, &name, &body);) {
        if (id != CUSTOM || !is_named(&name, "linking")) continue;
        number(&body); /* version */
        while (!body.bad && body.at != body.end) {
            const uint64_t kind = number(&body);
            const reader found = part(&body, number(&body));
            if (kind == wanted) return found;
        }
    }
    return (reader){0};
}

static infc_status refuse(infc_cx *cx, const char *path) {
    return infc_fail(
        cx, INFC_ERR_TOOLCHAIN, (infc_loc){.file = path},
        "the compiler wrote a WebAssembly object that ends in the middle of something");
}

/* Bytes of the next data segment. */
static uint64_t segment_bytes(reader *r) {
    const uint64_t flags = number(r);
    if (flags == 2) number(r); /* its memory */
    if (flags != 1) {          /* where: opcode, number, end */
        part(r, 1);
        number(r);
        part(r, 1);
    }
    const uint64_t bytes = number(r);
    part(r, bytes);
    return r->bad ? 0 : bytes;
}

static uint64_t *kind_of(const reader *name, infc_object_sizes *sizes) {
    static const char rodata[] = ".rodata", bss[] = ".bss";
    const size_t n = (size_t)(name->end - name->at);
    if (n >= sizeof rodata - 1 && memcmp(name->at, rodata, sizeof rodata - 1) == 0)
        return &sizes->rodata;
    return n >= sizeof bss - 1 && memcmp(name->at, bss, sizeof bss - 1) == 0 ? &sizes->bss : &sizes->data;
}

static bool add_segments(infc_bytes file, reader data, infc_object_sizes *sizes) {
    reader names = linking_part(file, SEGMENT_INFO);
    const uint64_t n = number(&data);
    if (names.at != names.end) number(&names);
    for (uint64_t i = 0; i < n && !data.bad; i++) {
        reader name = {0};
        if (names.at != names.end) {
            name = part(&names, number(&names));
            number(&names); /* alignment */
            number(&names); /* flags */
        }
        *kind_of(&name, sizes) += segment_bytes(&data);
    }
    return !data.bad && !names.bad;
}

infc_status infc_wasm_sizes(infc_cx *cx, const char *path, infc_bytes file, infc_object_sizes *sizes) {
    reader r = {file.ptr + 8, file.ptr + file.len, false}, name, body;
    for (uint64_t id; section(&r, &id, &name, &body);) {
        if (id == CODE) sizes->text += (uint64_t)(body.end - body.at);
        if (id == DATA && !add_segments(file, body, sizes)) return refuse(cx, path);
    }
    return r.bad ? refuse(cx, path) : INFC_OK;
}

infc_status infc_wasm_symbols(infc_cx *cx, const char *path, infc_bytes file, const char ***out, size_t *out_n) {
    reader r = linking_part(file, SYMBOL_TABLE);
    size_t cap = 0;
    *out = NULL;
    *out_n = 0;
    for (uint64_t n = r.at == r.end ? 0 : number(&r); n > 0 && !r.bad; n--) {
        const uint64_t kind = number(&r), flags = number(&r);
        const bool defined = !(flags & UNDEFINED);
        reader name = {0};
        if (kind != SYMBOL_DATA) number(&r); /* which function, global, section */
        if (kind == SYMBOL_DATA || (kind != SYMBOL_SECTION && (defined || flags & NAMED)))
            name = part(&r, number(&r));
        if (kind == SYMBOL_DATA && defined)
            for (int i = 0; i < 3; i++) number(&r); /* segment, offset, size */
        if (!defined || kind == SYMBOL_SECTION || (flags & 3) == LOCAL || r.bad) continue;
        INFC_GROW(cx->arena, *out, *out_n, cap);
        (*out)[(*out_n)++] =
            infc_arena_copy_string(cx->arena, (const char *)name.at, (size_t)(name.end - name.at));
    }
    return r.bad ? refuse(cx, path) : INFC_OK;
}

/* After the declarations of locals: how many groups, and of each how many of which type. */
static infc_bytes instructions_of(reader body) {
    for (uint64_t n = number(&body); n > 0 && !body.bad; n--) {
        number(&body);
        part(&body, 1);
    }
    return body.bad ? (infc_bytes){0} : (infc_bytes){body.at, (size_t)(body.end - body.at)};
}

infc_status infc_wasm_bodies(infc_cx *cx, const char *path, infc_bytes file,
                             void (*take)(void *user, infc_bytes code), void *user) {
    reader r = {file.ptr + 8, file.ptr + file.len, false}, name, body;
    for (uint64_t id; section(&r, &id, &name, &body);) {
        if (id != CODE) continue;
        for (uint64_t n = number(&body); n > 0 && !body.bad; n--)
            take(user, instructions_of(part(&body, number(&body))));
        if (body.bad) return refuse(cx, path);
    }
    return r.bad ? refuse(cx, path) : INFC_OK;
}
