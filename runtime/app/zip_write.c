/* zip_write.c - stored entries, dated 1980-01-01 as ZIP's zero, so that equal contents give equal files. */
#include "zip_archive.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    VERSION = 20,
    UTF8_NAME = 0x800,
    DATE_ZERO = 0x21
};

struct infrt_zip_writer {
    FILE *file;
    uint64_t at; /* bytes written */
    uint32_t n;
    unsigned char *directory;
    size_t directory_bytes;
};

static void put16(unsigned char *p, uint32_t v) {
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}
static void put32(unsigned char *p, uint32_t v) {
    put16(p, v & 0xffff);
    put16(p + 2, v >> 16);
}

static bool put(infrt_zip_writer *zip, const void *bytes, size_t n) {
    zip->at += n;
    return n == 0 || fwrite(bytes, 1, n, zip->file) == n;
}

infrt_status infrt_zip_begin(FILE *file, infrt_zip_writer **out, infrt_error *error) {
    *out = calloc(1, sizeof **out);
    if (!*out) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for an archive");
    (*out)->file = file;
    return INFRT_OK;
}

/* What the local and the central record share, from the version needed to the length of the name. */
static void fields_put(unsigned char *p, uint32_t crc, uint32_t bytes, uint32_t name_bytes) {
    memset(p, 0, 26);
    put16(p, VERSION);
    put16(p + 2, UTF8_NAME);
    put16(p + 8, DATE_ZERO);
    put32(p + 10, crc);
    put32(p + 14, bytes);
    put32(p + 18, bytes);
    put16(p + 22, name_bytes);
}

infrt_status infrt_zip_add(infrt_zip_writer *zip, const char *name, infrt_bytes head,
                           infrt_bytes body, infrt_error *error) {
    size_t name_bytes = strlen(name), bytes = head.n + body.n;
    if (name_bytes > UINT16_MAX || zip->n + 1 >= UINT16_MAX || body.n > UINT32_MAX - 65536 ||
        zip->at + bytes + zip->directory_bytes > UINT32_MAX - 2 * UINT16_MAX)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "an .npz of 4 GiB or more is not supported; write a folder of"
                          " .npy files instead");
    unsigned char *grown = realloc(zip->directory, zip->directory_bytes + CENTRAL_BYTES + name_bytes);
    if (!grown)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for an archive's directory");
    zip->directory = grown;

    uint32_t crc = infrt_crc32(infrt_crc32(0, head), body);
    unsigned char local[LOCAL_BYTES] = "PK\3\4", *central = grown + zip->directory_bytes;
    memset(central, 0, CENTRAL_BYTES);
    memcpy(central, "PK\1\2", 4);
    put16(central + 4, VERSION);
    fields_put(central + 6, crc, (uint32_t)bytes, (uint32_t)name_bytes);
    put32(central + 42, (uint32_t)zip->at);
    memcpy(central + CENTRAL_BYTES, name, name_bytes);
    zip->directory_bytes += CENTRAL_BYTES + name_bytes;
    zip->n++;
    fields_put(local + 4, crc, (uint32_t)bytes, (uint32_t)name_bytes);
    if (!put(zip, local, LOCAL_BYTES) || !put(zip, name, name_bytes) ||
        !put(zip, head.data, head.n) || !put(zip, body.data, body.n))
        return infrt_fail(error, INFRT_ERR_IO, "cannot write: %s", strerror(errno));
    return INFRT_OK;
}

infrt_status infrt_zip_end(infrt_zip_writer **zip, bool failed, infrt_error *error) {
    infrt_zip_writer *z = *zip;
    infrt_status status = INFRT_OK;
    unsigned char end[END_BYTES] = "PK\5\6";
    *zip = NULL;
    if (!z) return status;
    put16(end + 8, z->n);
    put16(end + 10, z->n);
    put32(end + 12, (uint32_t)z->directory_bytes);
    put32(end + 16, (uint32_t)z->at);
    if (!failed && (!put(z, z->directory, z->directory_bytes) || !put(z, end, END_BYTES)))
        status = infrt_fail(error, INFRT_ERR_IO, "cannot write: %s", strerror(errno));
    free(z->directory);
    free(z);
    return status;
}
