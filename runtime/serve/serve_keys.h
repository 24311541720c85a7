/* serve_keys.h - who may ask. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_KEYS_H
#define INFRT_SERVE_KEYS_H
#include "infrt.h"

typedef struct infrt_keys {
    unsigned char (*digests)[32]; /* SHA-256 */
    bool *gone;                   /* it was accepted once */
    uint32_t n;
} infrt_keys;

/* From "env:NAME", a file or a pipe: keys between white space and commas, of visible ASCII. null: none are asked
 * for. */
infrt_status infrt_keys_read(infrt_keys *keys, const char *from, infrt_error *error);
bool infrt_keys_are_file(const char *from); /* not the environment, which stays as it is */
/* The same once more, but from no pipe, to take the place of `keys`: those that were there keep their numbers, those
 * that are no longer there are refused, others get further numbers. *out is to be freed in any case. */
infrt_status infrt_keys_again(const infrt_keys *keys, const char *from, infrt_keys *out, infrt_error *error);
void infrt_keys_free(infrt_keys *keys);
/* A number that no one guesses who does not know the text: of its SHA-256. */
uint64_t infrt_text_number(const char *text, size_t n);
/* What a folder of a key's own is called, at most 20 bytes with the NUL; who reads it does not learn the key. Key 0:
 * "open", of all clients where there are no keys. */
void infrt_key_folder(const infrt_keys *keys, uint32_t key, char *out, size_t room);
/* Which of them "Bearer KEY" is, from 1; 0: none of them. The time does not depend on how much of a key is right. */
uint32_t infrt_keys_find(const infrt_keys *keys, const char *authorization, size_t bytes);

#endif
