/* A .npz is a zip file of .npy arrays. Only its central directory is trusted for sizes: that is the one part that
 * every writer fills in. */
#include "npz.h"
#include "../base/file.h"
#include <string.h>

enum { LOCAL = 30, CENTRAL = 46, END = 22, MAX_ENTRIES = 65535 };
#define LOCAL_MAGIC 0x04034b50u
#define CENTRAL_MAGIC 0x02014b50u
#define END_MAGIC 0x06054b50u

static uint32_t u16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32(const uint8_t *p) { return u16(p) | u16(p + 2) << 16; }

static infc_status damaged(infc_cx *cx, const char *path, const char *what) {
    return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path}, "not a usable .npz file: %s", what);
}

/* The end record: the last one in the file, a comment of up to 64 KiB may follow it. */
static const uint8_t *find_end(infc_bytes file) {
    for (size_t back = END; back <= file.len && back <= END + 65535u; back++) {
        if (u32(file.ptr + file.len - back) == END_MAGIC) return file.ptr + file.len - back;
    }
    return NULL;
}

/* The bytes of the entry whose central record is at p. */
static infc_status entry_bytes(infc_cx *cx, const char *path, infc_bytes file, const uint8_t *p, infc_bytes *out) {
    uint64_t size = u32(p + 24), offset = u32(p + 42);
    if (u16(p + 10) != 0)
        return damaged(cx, path, "its arrays are compressed; save them with numpy.savez, not savez_compressed");
    if (size == UINT32_MAX || offset == UINT32_MAX) return damaged(cx, path, "4 GiB or more");
    if (offset + LOCAL > file.len || u32(file.ptr + offset) != LOCAL_MAGIC)
        return damaged(cx, path, "an entry is not there");
    uint64_t start = offset + LOCAL + u16(file.ptr + offset + 26) + u16(file.ptr + offset + 28);
    if (start + size > file.len) return damaged(cx, path, "truncated");
    *out = (infc_bytes){file.ptr + start, (size_t)size};
    return INFC_OK;
}

static infc_status read_entry(infc_cx *cx, infc_npz *npz, infc_bytes file, const uint8_t *p, size_t n_name) {
    infc_npz_entry *entry = &npz->items[npz->n];
    char *name = infc_arena_copy_string(cx->arena, (const char *)p + CENTRAL, n_name);
    infc_bytes bytes;
    if (n_name > 4 && strcmp(name + n_name - 4, ".npy") == 0) name[n_name - 4] = '\0';
    INFC_TRY(entry_bytes(cx, npz->path, file, p, &bytes));
    infc_loc loc = {.file = npz->path, .node = infc_arena_printf(cx->arena, "array \"%s\"", name)};
    INFC_TRY(infc_npy_read(cx, loc, bytes, &entry->type, &entry->data));
    entry->name = name;
    npz->n++;
    return INFC_OK;
}

infc_status infc_npz_read(infc_cx *cx, const char *path, infc_npz *out) {
    infc_bytes file;
    *out = (infc_npz){.path = path};
    INFC_TRY(infc_file_map(cx, path, &file));
    const uint8_t *end = file.len >= END ? find_end(file) : NULL;
    if (!end) return damaged(cx, path, "no zip directory at its end");
    size_t n = u16(end + 10), at = u32(end + 16), directory_end = (size_t)(end - file.ptr);
    out->items = INFC_NEW(cx->arena, infc_npz_entry, n);
    for (size_t i = 0; i < n; i++) {
        if (at > directory_end || directory_end - at < CENTRAL || u32(file.ptr + at) != CENTRAL_MAGIC)
            return damaged(cx, path, "its directory is broken");
        const uint8_t *p = file.ptr + at;
        size_t n_name = u16(p + 28), length = CENTRAL + n_name + u16(p + 30) + u16(p + 32);
        if (length > directory_end - at) return damaged(cx, path, "its directory is broken");
        INFC_TRY(read_entry(cx, out, file, p, n_name));
        at += length;
    }
    return INFC_OK;
}

const infc_npz_entry *infc_npz_find(const infc_npz *npz, const char *name) {
    for (size_t i = 0; i < npz->n; i++) {
        if (strcmp(npz->items[i].name, name) == 0) return &npz->items[i];
    }
    return NULL;
}

static uint32_t crc32_more(uint32_t crc, const void *bytes, size_t n) {
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
    }
    return crc;
}

static void put16(infc_buf *out, uint32_t v) {
    infc_buf_put(out, (const uint8_t[]){(uint8_t)v, (uint8_t)(v >> 8)}, 2);
}
static void put32(infc_buf *out, uint32_t v) {
    put16(out, v & 0xffff);
    put16(out, v >> 16);
}

/* What local and central records share: version to extra length. */
static void put_common(infc_buf *out, uint32_t crc, uint32_t size, size_t n_name) {
    put16(out, 20);
    put16(out, 1u << 11);   /* names are UTF-8 */
    put16(out, 0);          /* stored */
    put32(out, 0x00210000); /* 1980-01-01 */
    put32(out, crc);
    put32(out, size);
    put32(out, size);
    put16(out, (uint32_t)n_name);
    put16(out, 0);
}

static void put_entry(infc_buf *out, infc_buf *directory, const char *name, const infc_tensor *tensor) {
    infc_buf header = {.arena = out->arena};
    const char *full = infc_arena_printf(out->arena, "%s.npy", name);
    size_t n_data = (size_t)infc_type_bytes(&tensor->type), n_name = strlen(full);
    infc_npy_header(&tensor->type, &header);
    uint32_t crc = ~crc32_more(crc32_more(UINT32_MAX, header.data, header.len), tensor->data, n_data);
    uint32_t size = (uint32_t)(header.len + n_data), offset = (uint32_t)out->len;
    put32(out, LOCAL_MAGIC);
    put_common(out, crc, size, n_name);
    infc_buf_puts(out, full);
    infc_buf_put(out, header.data, header.len);
    infc_buf_put(out, tensor->data, n_data);
    put32(directory, CENTRAL_MAGIC);
    put16(directory, 20);
    put_common(directory, crc, size, n_name);
    for (int i = 0; i < 3; i++) put16(directory, 0); /* comment, disk, internal attributes */
    put32(directory, 0);
    put32(directory, offset);
    infc_buf_puts(directory, full);
}

infc_status infc_npz_write(infc_cx *cx, const char *path, const char *const *names,
                           const infc_tensor *tensors, size_t n) {
    infc_buf out = {.arena = cx->arena}, directory = {.arena = cx->arena};
    for (size_t i = 0; i < n; i++) {
        if (out.len + infc_type_bytes(&tensors[i].type) > INT32_MAX || n > MAX_ENTRIES) {
            return infc_fail(cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = path}, "the tensors exceed 2 GiB");
        }
        put_entry(&out, &directory, names[i], &tensors[i]);
    }
    uint32_t start = (uint32_t)out.len;
    infc_buf_put(&out, directory.data, directory.len);
    put32(&out, END_MAGIC);
    put32(&out, 0); /* disks */
    put16(&out, (uint32_t)n);
    put16(&out, (uint32_t)n);
    put32(&out, (uint32_t)directory.len);
    put32(&out, start);
    put16(&out, 0);
    return infc_file_write(cx, path, infc_buf_bytes(&out), 0644);
}
