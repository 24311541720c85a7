/* engine_session.h - a session on its way between the cache and a file, in parts: those that need the engine are short,
 * so that it can step in between; those that need the disk need no engine, and any thread may do them.
 *
 *     to a file:   create (with a prompt), fetch until there is no more, write
 *     from a file: create, read, put until there is no more */
#ifndef INFRT_ENGINE_SESSION_H
#define INFRT_ENGINE_SESSION_H
#include "infrt_llm.h"
#include "session_file.h"

typedef struct infrt_llm_session {
    infrt_session_header header; /* what it has to be of, then what the file has */
    uint32_t vocab;
    uint64_t root, at; /* parents: of the first block, of the next that is fetched */
    int32_t *ids;      /* [n_ids] of the prompt; read: [positions] */
    uint32_t n_ids;
    char *texts;      /* of messages, as in the file; header.text_bytes of them */
    char *image;      /* the file, with room for `room` blocks */
    uint32_t room, n; /* n: blocks that were fetched, or that the cache has of it */
    int32_t *held;    /* [header.n_blocks]; read */
} infrt_llm_session;

/* Of the request count adapter, salt and prompt, which may be left out; messages go into the file, too, and may stand
 * beside ids. Errors as of
 * infrt_llm_session_save. `out` is given. Any thread may destroy it; null is fine, and null is left. */
infrt_status infrt_llm_session_create(const infrt_llm *llm, const infrt_llm_request *request,
                                      infrt_llm_session **out, infrt_error *error);
void infrt_llm_session_destroy(infrt_llm_session **session);

/* Copies what the cache has of the prompt, at most about `most_bytes` of it at a time; *more: there is more. Requests
 * may run in between: what they drive out of the cache in the meantime ends the session there. */
infrt_status infrt_llm_session_fetch(const infrt_llm *llm, infrt_llm_session *session,
                                     uint64_t most_bytes, bool *more, infrt_error *error);
/* What the file will have, once all is fetched. */
uint64_t infrt_llm_session_bytes(const infrt_llm_session *session);
/* Once. INFRT_ERR_IO: errno says why, as of infrt_os_file_replace. */
infrt_status infrt_llm_session_write(infrt_llm_session *session, const char *path, infrt_error *error);

/* Reads and checks the file, `called` so in messages. */
infrt_status infrt_llm_session_read(infrt_llm_session *session, const char *path,
                                    const char *called, infrt_error *error);
/* Puts what was read into the cache, about `most_bytes` at a time; true: there is more. */
bool infrt_llm_session_put(infrt_llm *llm, infrt_llm_session *session, uint64_t most_bytes);

/* Tokens that were fetched, or that the cache has of what was read. */
static inline uint32_t infrt_llm_session_tokens(const infrt_llm_session *session) {
    return session->n * session->header.positions;
}
/* The messages of what was read: *at null before the first; false: there are no more. Borrowed. */
bool infrt_llm_session_message(const infrt_llm_session *session, const char **at, infrt_llm_message *out);

#endif
