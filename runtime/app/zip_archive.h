/* zip_archive.h - the part of ZIP that .npz files use: no encryption, no zip64, stored or deflated. */
#ifndef INFRT_ZIP_ARCHIVE_H
#define INFRT_ZIP_ARCHIVE_H
#include "tensor_io.h"
#include <stdio.h>

typedef struct infrt_zip_entry {
    const char *name; /* borrowed from the file's bytes, not terminated */
    size_t name_bytes;
    infrt_bytes packed; /* as it lies in the file */
    size_t bytes;       /* unpacked */
    uint32_t crc;
    bool deflated;
} infrt_zip_entry;

/* Goes over the central directory: visit(self, entry) for each file; stops when it fails. */
infrt_status infrt_zip_each(infrt_bytes file, const char *where,
                            infrt_status (*visit)(void *self, const infrt_zip_entry *entry),
                            void *self, infrt_error *error);
/* Its first bytes, up to 128 KiB, without a check of its CRC: enough for the header of an array. */
infrt_status infrt_zip_peek(const infrt_zip_entry *entry, const char *where, infrt_bytes *out,
                            void **owned, infrt_error *error);
/* Unpacks and checks its CRC. *out points into the file, or to *owned, which the caller frees. */
infrt_status infrt_zip_unpack(const infrt_zip_entry *entry, const char *where, infrt_bytes *out,
                              void **owned, infrt_error *error);

/* A writer; nothing but names, sizes and contents determines what it writes. */
typedef struct infrt_zip_writer infrt_zip_writer;
infrt_status infrt_zip_begin(FILE *file, infrt_zip_writer **out, infrt_error *error);
/* Adds a stored file made of two parts. INFRT_ERR_USAGE when the archive would need zip64. */
infrt_status infrt_zip_add(infrt_zip_writer *zip, const char *name, infrt_bytes head,
                           infrt_bytes body, infrt_error *error);
/* Writes the directory and frees the writer; `failed`: only frees it. The file stays open. */
infrt_status infrt_zip_end(infrt_zip_writer **zip, bool failed, infrt_error *error);

/* CRC-32 of ZIP and PNG; start from 0. */
uint32_t infrt_crc32(uint32_t crc, infrt_bytes data);

#endif
