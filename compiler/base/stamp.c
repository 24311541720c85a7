/* The time of the entry (ctime) is what nobody sets back: the other one is, by tar, rsync and touch. What writes
 * through a shared mapping changes both when it dirties a page, not at each store; such a writer that is still at work
 * 2 seconds later is not found out. */
#include "stamp.h"
#include "cache.h"
#include "digest.h"
#include "hash.h"
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define STAMPS "57a3b" /* before their names, hexadecimal as all keys */
enum { DIGITS = 64, WORDS = sizeof(((infc_stamp *)NULL)->words) };

struct infc_stamp_seen {
    infc_stamp stamp;
    const char *digest;
    struct infc_stamp_seen *next;
};

/* Milliseconds since then, from 0 to some days. */
static int64_t since(const struct timespec *then) {
    enum { SECOND = 1000, DAYS = 100000 };
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t seconds = (int64_t)now.tv_sec - then->tv_sec;
    if (seconds < 0 || seconds > DAYS) return seconds < 0 ? 0 : (int64_t)DAYS * SECOND;
    return seconds * SECOND + (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* No file system's clock ticks more slowly than in 2 seconds (FAT), and where a time has parts of a second, than in
 * some milliseconds. */
static bool some_time_ago(const struct timespec *then) {
    return since(then) >= (then->tv_nsec ? 100 : 2000);
}

infc_stamp infc_stamp_of(const struct stat *info) {
    const bool still = some_time_ago(&info->st_mtim) && some_time_ago(&info->st_ctim);
    return (infc_stamp){{(uint64_t)info->st_dev, (uint64_t)info->st_ino, (uint64_t)info->st_size,
                         (uint64_t)info->st_mtim.tv_sec, (uint64_t)info->st_mtim.tv_nsec,
                         (uint64_t)info->st_ctim.tv_sec, (uint64_t)info->st_ctim.tv_nsec},
                        still,
                        still && since(&info->st_mtim) >= 2000};
}

bool infc_stamp_same(const infc_stamp *a, const infc_stamp *b) {
    return memcmp(a->words, b->words, sizeof a->words) == 0;
}

static const char *key_of(infc_cx *cx, const infc_stamp *stamp) {
    const infc_bytes words = {(const uint8_t *)stamp->words, WORDS};
    return infc_arena_printf(cx->arena, STAMPS "%s", infc_hash_hex(cx->arena, words));
}

const char *infc_stamp_find(infc_cx *cx, const infc_stamp *stamp) {
    infc_bytes found;
    if (stamp->words[2] < INFC_DIGEST_LARGE) return NULL;
    for (const struct infc_stamp_seen *seen = cx->stamps; seen; seen = seen->next)
        if (infc_stamp_same(&seen->stamp, stamp)) return seen->digest;
    if (!infc_cache_get(cx, key_of(cx, stamp), &found) || found.len != WORDS + DIGITS) return NULL;
    if (memcmp(found.ptr, stamp->words, WORDS) != 0) return NULL;
    return infc_arena_copy_string(cx->arena, (const char *)found.ptr + WORDS, DIGITS);
}

bool infc_stamp_keep(infc_cx *cx, const infc_stamp *before, const struct stat *after, const char *digest) {
    const infc_stamp now = infc_stamp_of(after);
    uint8_t entry[WORDS + DIGITS];
    if (!before->still || before->words[2] < INFC_DIGEST_LARGE || !infc_stamp_same(before, &now))
        return false;
    struct infc_stamp_seen *seen = INFC_NEW(cx->arena, struct infc_stamp_seen, 1);
    *seen = (struct infc_stamp_seen){*before, digest, cx->stamps};
    cx->stamps = seen;
    if (!before->settled) return true;
    memcpy(entry, before->words, WORDS);
    memcpy(entry + WORDS, digest, DIGITS);
    infc_cache_put(cx, key_of(cx, before), (infc_bytes){entry, sizeof entry});
    return true;
}
