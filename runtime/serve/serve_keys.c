/* serve_keys.c - see serve_keys.h. Only digests are kept, and compared as a whole. */
#include "serve_keys.h"
#include "serve_file.h"
#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEYS_MOST = 10000, FILE_MOST = 1 << 20 };

static void digest(const char *text, size_t n, unsigned char out[32]) {
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, (const unsigned char *)text, n);
    SHA256Final(out, &state);
}

static infrt_status keys_split(infrt_keys *keys, const char *text, const char *from, infrt_error *error) {
    static const char between[] = " \t\r\n,";
    keys->digests = calloc(KEYS_MOST, sizeof *keys->digests);
    keys->gone = calloc(KEYS_MOST, sizeof *keys->gone);
    if (!keys->digests || !keys->gone)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for API keys");
    for (size_t n; text += strspn(text, between), (n = strcspn(text, between)); text += n) {
        for (size_t i = 0; i < n; i++)
            if (text[i] <= 0x20 || text[i] >= 0x7f)
                return infrt_fail(error, INFRT_ERR_USAGE, "%s: API keys are of visible ASCII", from);
        if (keys->n == KEYS_MOST)
            return infrt_fail(error, INFRT_ERR_USAGE, "%s: at most %d API keys", from, (int)KEYS_MOST);
        digest(text, n, keys->digests[keys->n++]);
    }
    if (keys->n) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_USAGE, "%s: there is no API key; without keys everybody could ask", from);
}

/* `again`: others are asked meanwhile, so that nothing is waited for. */
static infrt_status keys_read(infrt_keys *keys, const char *from, bool again, infrt_error *error) {
    char *text;
    size_t n;
    *keys = (infrt_keys){0};
    if (!from) return INFRT_OK;
    if (strncmp(from, "env:", 4) == 0) {
        const char *value = getenv(from + 4);
        if (!value)
            return infrt_fail(error, INFRT_ERR_USAGE,
                              "the environment has no %s, where API keys are to be", from + 4);
        return keys_split(keys, value, from, error);
    }
    infrt_status status = infrt_serve_file_read("API keys of ", from, FILE_MOST, !again, &text, &n, error);
    if (status == INFRT_OK) status = keys_split(keys, text, from, error);
    free(text);
    return status;
}

infrt_status infrt_keys_read(infrt_keys *keys, const char *from, infrt_error *error) {
    return keys_read(keys, from, false, error);
}

bool infrt_keys_are_file(const char *from) { return from && strncmp(from, "env:", 4) != 0; }

/* The number of a key that was there before, or that of one more. */
static uint32_t place_of(const infrt_keys *keys, const unsigned char own[32]) {
    uint32_t i = 0;
    while (i < keys->n && memcmp(keys->digests[i], own, 32) != 0) i++;
    return i;
}

infrt_status infrt_keys_again(const infrt_keys *keys, const char *from, infrt_keys *out, infrt_error *error) {
    infrt_keys fresh;
    infrt_status status = keys_read(&fresh, from, true, error);
    const size_t room = (size_t)keys->n + fresh.n + 1;
    *out = (infrt_keys){.n = keys->n};
    if (status == INFRT_OK) {
        out->digests = calloc(room, sizeof *out->digests);
        out->gone = calloc(room, sizeof *out->gone);
        if (!out->digests || !out->gone)
            status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for API keys");
    }
    if (status == INFRT_OK) {
        memcpy(out->digests, keys->digests, keys->n * sizeof *out->digests);
        memset(out->gone, 1, keys->n);
        for (uint32_t i = 0; i < fresh.n; i++) {
            const uint32_t at = place_of(out, fresh.digests[i]);
            memcpy(out->digests[at], fresh.digests[i], sizeof *out->digests);
            out->gone[at] = false;
            out->n += at == out->n;
        }
    }
    infrt_keys_free(&fresh);
    return status;
}

void infrt_keys_free(infrt_keys *keys) {
    free(keys->digests);
    free(keys->gone);
    *keys = (infrt_keys){0};
}

uint32_t infrt_keys_find(const infrt_keys *keys, const char *authorization, size_t bytes) {
    unsigned char own[32];
    uint32_t found = 0;
    if (!authorization || bytes < 7 || strncasecmp(authorization, "Bearer ", 7) != 0) return 0;
    digest(authorization + 7, bytes - 7, own);
    for (uint32_t i = 0; i < keys->n; i++) {
        unsigned differs = 0;
        for (int k = 0; k < 32; k++) differs |= own[k] ^ keys->digests[i][k];
        differs |= keys->gone[i];
        found |= (uint32_t)(differs == 0 && !found) * (i + 1); /* a key that is there twice: the first */
    }
    return found;
}

uint64_t infrt_text_number(const char *text, size_t n) {
    unsigned char own[32];
    uint64_t number;
    digest(text, n, own);
    memcpy(&number, own, sizeof number);
    return number;
}

void infrt_key_folder(const infrt_keys *keys, uint32_t key, char *out, size_t room) {
    if (!key) snprintf(out, room, "open");
    else
        snprintf(out, room, "key-%016" PRIx64,
                 infrt_text_number((const char *)keys->digests[key - 1], sizeof *keys->digests));
}
