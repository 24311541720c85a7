/* zip_read.c - finds the end record, walks the central directory, unpacks entries. */
#include "stb_decode.h"
#include "zip_archive.h"
#include <stdlib.h>
#include <string.h>

enum { END_BYTES = 22, CENTRAL_BYTES = 46, LOCAL_BYTES = 30, COMMENT_MAX = 65535 };

static uint32_t u16_at(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32_at(const unsigned char *p) { return u16_at(p) | u16_at(p + 2) << 16; }

uint32_t infrt_crc32(uint32_t crc, infrt_bytes data) {
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    crc = ~crc;
    for (size_t i = 0; i < data.n; i++) crc = crc >> 8 ^ table[(crc ^ data.data[i]) & 255];
    return ~crc;
}

/* The end record is the last thing in the file but for a comment of up to 64 KiB. */
static const unsigned char *end_find(infrt_bytes file) {
    if (file.n < END_BYTES) return NULL;
    size_t last = file.n - END_BYTES, first = last > COMMENT_MAX ? last - COMMENT_MAX : 0;
    for (size_t at = last + 1; at-- > first;)
        if (memcmp(file.data + at, "PK\5\6", 4) == 0 && u16_at(file.data + at + 20) == last - at)
            return file.data + at;
    return NULL;
}

/* Fills `entry` from the central record at `at`; false when it does not fit the file. */
static bool entry_parse(infrt_bytes file, size_t at, infrt_zip_entry *entry, size_t *next) {
    const unsigned char *record = file.data + at;
    if (file.n - at < CENTRAL_BYTES || memcmp(record, "PK\1\2", 4) != 0) return false;
    size_t name = u16_at(record + 28), skip = name + u16_at(record + 30) + u16_at(record + 32);
    if (file.n - at - CENTRAL_BYTES < skip) return false;
    *next = at + CENTRAL_BYTES + skip;

    size_t packed = u32_at(record + 20), local = u32_at(record + 42);
    if (local > file.n || file.n - local < LOCAL_BYTES || memcmp(file.data + local, "PK\3\4", 4) != 0)
        return false;
    size_t before = LOCAL_BYTES + u16_at(file.data + local + 26) + u16_at(file.data + local + 28);
    if (file.n - local < before || file.n - local - before < packed) return false;
    *entry = (infrt_zip_entry){
        .name = (const char *)record + CENTRAL_BYTES,
        .name_bytes = name,
        .packed = {file.data + local + before, packed},
        .bytes = u32_at(record + 24),
        .crc = u32_at(record + 16),
        .deflated = u16_at(record + 10) == 8,
    };
    return true;
}

/* What an entry may be but this reader does not read, or null. */
static const char *unsupported(const unsigned char *record) {
    if (u16_at(record + 8) & 1) return "encrypted entries";
    if (u16_at(record + 10) != 0 && u16_at(record + 10) != 8)
        return "compressions other than deflate";
    if (u32_at(record + 20) == UINT32_MAX || u32_at(record + 24) == UINT32_MAX || u32_at(record + 42) == UINT32_MAX)
        return "arrays of 4 GiB and more (zip64)";
    return NULL;
}

infrt_status infrt_zip_each(infrt_bytes file, const char *where,
                            infrt_status (*visit)(void *self, const infrt_zip_entry *entry),
                            void *self, infrt_error *error) {
    const unsigned char *end = end_find(file);
    if (!end) return infrt_fail(error, INFRT_ERR_DATA, "%s: not an .npz file, or truncated", where);
    uint32_t n = u16_at(end + 10);
    size_t at = u32_at(end + 16);
    if (n == UINT16_MAX || at == UINT32_MAX)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: too large an archive (zip64) is not supported", where);
    if (at > file.n)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: truncated in its directory", where);
    for (uint32_t i = 0; i < n; i++) {
        infrt_zip_entry entry;
        const unsigned char *record = file.data + at;
        const char *refused = file.n - at >= CENTRAL_BYTES ? unsupported(record) : NULL;
        if (refused)
            return infrt_fail(error, INFRT_ERR_DATA, "%s: %s are not supported", where, refused);
        if (!entry_parse(file, at, &entry, &at))
            return infrt_fail(error, INFRT_ERR_DATA, "%s: entry %u of its directory is damaged", where, i);
        infrt_status status = visit(self, &entry);
        if (status != INFRT_OK) return status;
    }
    return INFRT_OK;
}

/* Deflate makes at most 1032 bytes of one, and writes what it cannot pack with a few bytes more: what claims
 * something else is not worth the memory. */
static infrt_status sizes_check(const infrt_zip_entry *entry, const char *where, infrt_error *error) {
    const size_t packed = entry->packed.n, bytes = entry->bytes;
    if (entry->deflated ? bytes <= INT32_MAX && packed <= INT32_MAX && bytes / 1040 <= packed &&
                              packed / 2 <= bytes + 65536
                        : packed == bytes)
        return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_DATA, "%s: %zu bytes cannot come from %zu%s", where, bytes,
                      packed, entry->deflated ? "; save it uncompressed" : "");
}

infrt_status infrt_zip_peek(const infrt_zip_entry *entry, const char *where, infrt_bytes *out,
                            void **owned, infrt_error *error) {
    enum { PEEK_BYTES = 128 << 10 };
    size_t n = entry->bytes < PEEK_BYTES ? entry->bytes : PEEK_BYTES;
    infrt_bytes packed = entry->packed;
    *owned = NULL;
    infrt_status status = sizes_check(entry, where, error);
    if (status != INFRT_OK) return status;
    *out = (infrt_bytes){packed.data, n};
    if (!entry->deflated) return INFRT_OK;
    *owned = calloc(1, n + 1);
    if (!*owned) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory", where);
    *out = (infrt_bytes){*owned, n};
    if (packed.n > 2 * PEEK_BYTES) packed.n = 2 * PEEK_BYTES;
    infrt_inflate(packed, *owned, n); /* says no when there is more; it has filled what it could */
    return INFRT_OK;
}

infrt_status infrt_zip_unpack(const infrt_zip_entry *entry, const char *where, infrt_bytes *out,
                              void **owned, infrt_error *error) {
    *owned = NULL;
    *out = entry->packed;
    infrt_status status = sizes_check(entry, where, error);
    if (status != INFRT_OK) return status;
    if (entry->deflated) {
        *owned = malloc(entry->bytes ? entry->bytes : 1);
        if (!*owned)
            return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for %zu bytes", where,
                              entry->bytes);
        *out = (infrt_bytes){*owned, entry->bytes};
        if (!infrt_inflate(entry->packed, *owned, entry->bytes)) goto damaged;
    }
    if (infrt_crc32(0, *out) == entry->crc) return INFRT_OK;
damaged:
    free(*owned);
    *owned = NULL;
    return infrt_fail(error, INFRT_ERR_DATA, "%s: \"%.*s\" is damaged (it does not unpack to its CRC)",
                      where, entry->name_bytes > 200 ? 200 : (int)entry->name_bytes, entry->name);
}
