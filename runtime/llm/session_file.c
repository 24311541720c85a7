/* session_file.c - see session_file.h. */
#define _GNU_SOURCE 1
#include "session_file.h"
#include "infrt_hash.h"
#include <stddef.h>
#include <string.h>

enum { MAGIC_KIND = 7 /* bytes of the magic before its version */ };

static infrt_status wrong(const char *called, const char *what, infrt_error *error) {
    return infrt_fail(error, INFRT_ERR_DATA, "%s: %s", called, what);
}

/* Their names are in the headers. */
static infrt_status other_adapter(const char *called, const infrt_session_header *h,
                                  const infrt_session_header *own, infrt_error *error) {
    const int n = (int)strnlen(h->adapter_name, sizeof h->adapter_name);
    if (!h->adapter)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: the session was made without an adapter, not with \"%s\"",
                          called, own->adapter_name);
    if (own->adapter && strncmp(h->adapter_name, own->adapter_name, sizeof h->adapter_name) == 0)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: the session was made with other weights of the adapter \"%s\"",
                          called, own->adapter_name);
    return infrt_fail(error, INFRT_ERR_DATA, "%s: the session was made with the adapter \"%.*s\", not %s%s%s",
                      called, n, h->adapter_name, own->adapter ? "with \"" : "without one",
                      own->adapter ? own->adapter_name : "", own->adapter ? "\"" : "");
}

/* Whether what the header says it holds is as long as the file. */
static bool is_whole(const infrt_session_header *h, size_t bytes) {
    const uint64_t tokens = (uint64_t)h->positions * sizeof(int32_t);
    if (h->bytes != bytes || h->text_bytes > bytes - sizeof *h || h->block_bytes > UINT64_MAX - tokens)
        return false;
    const uint64_t room = bytes - sizeof *h - h->text_bytes;
    const uint64_t each = tokens + h->block_bytes;
    return each > 0 && room % each == 0 && room / each == h->n_blocks;
}

/* As many texts as there are messages, each with a NUL, and nothing behind them. */
static bool texts_are_whole(const infrt_session_header *h, const char *texts) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < h->text_bytes; i++) n += texts[i] == 0;
    return n == 2 * (uint64_t)h->n_messages && (n == 0 ? h->text_bytes == 0 : texts[h->text_bytes - 1] == 0);
}

infrt_status infrt_session_file_check(const char *called, const void *file, size_t bytes,
                                      const infrt_session_header *own, uint32_t vocab, infrt_error *error) {
    infrt_session_header h;
    if (bytes >= sizeof h.magic && memcmp(file, INFRT_SESSION_MAGIC, MAGIC_KIND) == 0 &&
        memcmp(file, INFRT_SESSION_MAGIC, sizeof h.magic) != 0)
        return wrong(called, "the session is of another version of infc; remove it", error);
    if (bytes < sizeof h || memcmp(file, INFRT_SESSION_MAGIC, sizeof h.magic) != 0)
        return wrong(called, "it is no session", error);
    memcpy(&h, file, sizeof h);
    const size_t hashed = offsetof(infrt_session_header, bytes);
    if (h.bytes != bytes || infrt_hash64((const char *)file + hashed, bytes - hashed) != h.hash)
        return wrong(called, "the session is damaged; remove it", error);
    if (h.model != own->model || h.block_bytes != own->block_bytes || h.positions != own->positions)
        return wrong(called, "the session is of another model or infc, or for another instruction set", error);
    if (h.weights != own->weights)
        return wrong(called, "the session is of the model with other weights", error);
    if (h.adapter != own->adapter) return other_adapter(called, &h, own, error);
    if (h.salt != own->salt) return wrong(called, "the session is of another salt", error);
    if (!is_whole(&h, bytes) || !texts_are_whole(&h, (const char *)file + (bytes - h.text_bytes)))
        return wrong(called, "the session is damaged; remove it", error);
    const char *tokens = (const char *)file + sizeof h;
    for (size_t i = 0; i < (size_t)h.n_blocks * h.positions; i++) {
        int32_t id;
        memcpy(&id, tokens + i * sizeof id, sizeof id);
        if (id < 0 || (uint32_t)id >= vocab)
            return wrong(called, "the session has a token that the model has not", error);
    }
    return INFRT_OK;
}
