/* session_file.h - what a cache holds of a conversation, as a file: a header, the tokens, the blocks of the cache as
 * they lie in memory, and the messages where it is one of messages: role and content of each, with a NUL. It belongs to
 * one model with one set of weights, and to the order of bytes of the machine. */
#ifndef INFRT_SESSION_FILE_H
#define INFRT_SESSION_FILE_H
#include "infrt.h"

#define INFRT_SESSION_MAGIC "infcses4"

typedef struct infrt_session_header {
    char magic[8];
    uint64_t hash;                    /* XXH64 of all that follows this member */
    uint64_t bytes;                   /* of the file */
    uint64_t model, weights, adapter; /* whose it is; adapter: its hash, 0: none */
    uint64_t salt, block_bytes, text_bytes;
    uint32_t positions, n_blocks, n_messages, zero;
    char model_name[64], adapter_name[136]; /* as they were called, perhaps cut; adapter: empty for none */
} infrt_session_header;

/* Of a file that is in memory, `called` so in messages. `own` says what it must be of: model to positions.
 * INFRT_ERR_DATA: what is wrong; then nothing of it may be used. On success tokens [n_blocks][positions] of ids below
 * `vocab` follow the header, blocks [n_blocks][block_bytes] these, and 2 * n_messages texts the blocks. */
infrt_status infrt_session_file_check(const char *called, const void *file, size_t bytes,
                                      const infrt_session_header *own, uint32_t vocab, infrt_error *error);

#endif
