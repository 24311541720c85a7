#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "compiler/base/cache.h"
#include "compiler/base/digest.h"
#include "compiler/base/pieces.h"
#include "compiler/base/hash.h"
#include "compiler/base/stamp.h"
#include "folder_fixture.h"

#define KEY "0123456789abcdef0123456789abcdef"

static int setup(void **state) {
    if (folder_setup(state) != 0) return -1;
    cx.cache_dir = infc_path_join(cx.arena, dir, "deep/cache");
    return 0;
}

static void store_and_fetch(void **state) {
    (void)state;
    infc_bytes bytes;
    put_file(dir, "a.o", "object code");
    assert_false(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
    infc_cache_store(&cx, KEY, in_dir("a.o"));
    assert_true(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
    assert_int_equal(infc_file_map(&cx, in_dir("b.o"), &bytes), INFC_OK);
    assert_int_equal(bytes.len, 11);
    assert_memory_equal(bytes.ptr, "object code", 11);
    put_file(dir, "a.o", "");
    infc_cache_store(&cx, KEY, in_dir("a.o")); /* replaces */
    assert_true(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
    assert_int_equal(infc_file_map(&cx, in_dir("b.o"), &bytes), INFC_OK);
    assert_int_equal(bytes.len, 0);
}

static void damage_is_a_miss(void **state) {
    (void)state;
    infc_bytes bytes;
    const char *entry = infc_arena_printf(cx.arena, "%s/01/%s", cx.cache_dir, &KEY[2]);
    put_file(dir, "a.o", "object code");
    infc_cache_store(&cx, KEY, in_dir("a.o"));
    assert_int_equal(infc_file_map(&cx, entry, &bytes), INFC_OK);
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t *copy = infc_arena_alloc(cx.arena, bytes.len, 1);
        memcpy(copy, bytes.ptr, bytes.len);
        copy[i] ^= 4;
        assert_int_equal(infc_file_write(&cx, entry, (infc_bytes){copy, bytes.len}, 0644), INFC_OK);
        assert_false(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
        assert_int_equal(infc_file_write(&cx, entry, (infc_bytes){bytes.ptr, i}, 0644), INFC_OK);
        assert_false(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
    }
    assert_false(infc_file_exists(in_dir("b.o")));
}

static void failures_are_silent_misses(void **state) {
    (void)state;
    put_file(dir, "a.o", "x");
    infc_cache_store(&cx, "../../escape", in_dir("a.o"));
    infc_cache_store(&cx, KEY, in_dir("not-there"));
    assert_false(infc_cache_fetch(&cx, "../../escape", in_dir("b.o")));
    assert_false(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
    infc_cache_store(&cx, KEY, in_dir("a.o"));
    assert_false(infc_cache_fetch(&cx, KEY, in_dir("no/such/folder/b.o")));
    cx.cache_dir = in_dir("a.o"); /* a file is in the way */
    infc_cache_store(&cx, KEY, in_dir("a.o"));
    assert_false(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
    cx.cache_dir = NULL;
    infc_cache_store(&cx, KEY, in_dir("a.o"));
    assert_false(infc_cache_fetch(&cx, KEY, in_dir("b.o")));
    assert_int_equal(cx.n_diags, 0);
}

/* With and without a cache, seen before or not, of small and of large: the same as SHA-256. */
static void digests(void **state) {
    (void)state;
    enum { LARGE = (5 << 20) + 3, N = 4 };
    uint8_t *bytes = infc_arena_alloc(cx.arena, LARGE, 1);
    for (size_t i = 0; i < LARGE; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    const size_t sizes[N] = {0, 100, LARGE - 3, LARGE};
    const char *cache = cx.cache_dir, *got[N];
    for (int round = 0; round < 8; round++) {
        infc_bytes files[N];
        cx.cache_dir = round == 7 ? NULL : cache;
        bytes[round / 2] ^= 1; /* each content comes back */
        for (size_t i = 0; i < N; i++) {
            const char *path = in_dir(infc_arena_printf(cx.arena, "%zu", i));
            assert_int_equal(infc_file_write(&cx, path, (infc_bytes){bytes, sizes[i]}, 0644), INFC_OK);
            assert_int_equal(infc_file_map(&cx, path, &files[i]), INFC_OK);
        }
        for (int again = 0; again < 2; again++) {
            memset(got, 0, sizeof got);
            infc_digests(&cx, files, N, got);
            for (size_t i = 0; i < N; i++)
                assert_string_equal(got[i], infc_sha256_hex(cx.arena, (infc_bytes){bytes, sizes[i]}));
        }
    }
    assert_int_equal(cx.n_diags, 0);
}

/* A file made of pieces is digested while it is written, beside a shorter one: its digest is noted, and in the cache
 * before anyone asks. */
static void digests_of_pieces(void **state) {
    (void)state;
    enum { N = (2 << 20) + 77 };
    uint8_t *bytes = infc_arena_alloc(cx.arena, N, 1);
    const char *first, *second;
    const infc_bytes all = {bytes, N}, middle = {bytes + 100, 3};
    for (int round = 0; round < 3; round++) {
        infc_pieces pieces = {.arena = cx.arena};
        infc_bytes whole;
        for (size_t i = 0; i < N; i++) bytes[i] = (uint8_t)(i * 2654435761u >> (13 + round / 2));
        assert_int_equal(infc_file_write(&cx, in_dir("a"), (infc_bytes){bytes, 100}, 0644), INFC_OK);
        assert_int_equal(infc_file_write(&cx, in_dir("b"), (infc_bytes){bytes + 103, N - 103}, 0644), INFC_OK);
        infc_pieces_add_file(&pieces, in_dir("a"));
        infc_pieces_add_bytes(&pieces, middle);
        infc_pieces_add_bytes(&pieces, (infc_bytes){NULL, 0});
        infc_pieces_add_file(&pieces, in_dir("b"));
        const char *path = in_dir(round == 1 ? "again" : "whole"),
                   *like = round == 1 ? in_dir("whole") : NULL;
        infc_pieces_file made[] = {{pieces, path, like, 0644}, {pieces, in_dir("short"), NULL, 0644}};
        made[1].pieces.n = 2;
        cx.digests = NULL;
        assert_int_equal(infc_pieces_write(&cx, made, 2), INFC_OK);
        assert_string_equal(infc_digest_noted(&cx, in_dir("short"), 103),
                            infc_sha256_hex(cx.arena, (infc_bytes){bytes, 103}));
        assert_null(infc_digest_noted(&cx, in_dir("short"), 104));
        if (round != 1)
            assert_string_equal(infc_digest_noted(&cx, path, N), infc_sha256_hex(cx.arena, all));
        assert_int_equal(infc_file_map(&cx, path, &whole), INFC_OK);
        assert_int_equal(whole.len, N);
        assert_memory_equal(whole.ptr, bytes, N);
        first = infc_digest(&cx, whole);
        second = infc_sha256_hex(cx.arena, all);
        assert_string_equal(first, second);
    }
    assert_int_equal(cx.n_diags, 0);
}

enum { STAMPED = (1 << 20) + 5 };

/* A file of a content each, changed so many seconds ago as its time says. */
static void write_stamped(const char *path, uint8_t content, int seconds_ago) {
    uint8_t *bytes = infc_arena_alloc(cx.arena, STAMPED, 1);
    memset(bytes, content, STAMPED);
    FILE *file = fopen(path, "w"); /* the same inode */
    assert_int_equal(fwrite(bytes, 1, STAMPED, file), STAMPED);
    assert_int_equal(fclose(file), 0);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct timespec times[2] = {now, {now.tv_sec - seconds_ago, now.tv_nsec | 1}};
    if (seconds_ago) assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static infc_stamp stamp_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return infc_stamp_of(&info);
}

/* Digests it as of a mapped file, then tells whether a process after this one would know it by its stamp. */
static bool stays_known(const char *path) {
    infc_bytes file;
    struct stat info;
    const infc_stamp stamp = stamp_of(path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(infc_file_map(&cx, path, &file), INFC_OK);
    assert_string_equal(infc_digest_mapped(&cx, file), infc_sha256_hex(cx.arena, file));
    cx.stamps = NULL;
    const char *known = infc_stamp_find(&cx, &stamp);
    assert_true(stamp.settled || !known);
    if (known) assert_string_equal(known, infc_sha256_hex(cx.arena, file));
    return known;
}

static void stamps(void **state) {
    (void)state;
    static const struct timespec pause = {.tv_nsec = 150000000};
    const char *path = in_dir("large"), *cache = cx.cache_dir;
    struct stat info;
    write_stamped(path, 1, 0); /* it may change again within the same tick */
    stays_known(path);
    write_stamped(path, 1, -100); /* one day now is that time */
    nanosleep(&pause, NULL);
    assert_false(stays_known(path));
    write_stamped(path, 2, 100); /* it may change, though its time says otherwise */
    stays_known(path);
    nanosleep(&pause, NULL);
    assert_true(stays_known(path));
    const infc_stamp before = stamp_of(path);
    write_stamped(path, 3, 100); /* of the same size, and its time set back */
    const struct timespec times[2] = {{0, UTIME_OMIT}, {(time_t)before.words[3], (long)before.words[4]}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(stamp_of(path).words[4], before.words[4]);
    nanosleep(&pause, NULL);
    assert_true(stays_known(path)); /* by its new stamp: the digest is checked */
    write_stamped(path, 4, 1);
    nanosleep(&pause, NULL);
    stays_known(path); /* racy for others, */
    const infc_stamp still = stamp_of(path);
    assert_int_equal(stat(path, &info), 0);
    assert_true(infc_stamp_keep(&cx, &still, &info, infc_sha256_hex(cx.arena, (infc_bytes){NULL, 0})));
    assert_non_null(infc_stamp_find(&cx, &still)); /* not for this process */
    assert_false(infc_stamp_keep(&cx, &before, &info, "of a file that changed meanwhile"));
    write_stamped(path, 5, 100);
    nanosleep(&pause, NULL);
    cx.cache_dir = NULL;
    assert_false(stays_known(path));
    cx.cache_dir = cache;
    assert_true(stays_known(path));
    assert_int_equal(cx.n_diags, 0);
}

/* What is about to be replaced stays what it is. */
static void retired_files(void **state) {
    (void)state;
    static const struct timespec pause = {.tv_nsec = 150000000};
    const char *path = in_dir("large"), *digest;
    infc_bytes file;
    write_stamped(path, 6, 100);
    sync();
    nanosleep(&pause, NULL);
    const int fd = open(path, O_RDONLY);
    infc_digest_retire(&cx, path, fd);
    close(fd);
    assert_int_equal(infc_file_map(&cx, path, &file), INFC_OK);
    const infc_stamp stamp = stamp_of(path);
    infc_digests_stamped(&cx, &file, &stamp, &path, 1, &digest);
    assert_string_equal(digest, infc_sha256_hex(cx.arena, file));
    const int none = open(in_dir("not-there"), O_RDONLY);
    infc_digest_retire(&cx, in_dir("not-there"), none);
    assert_true(infc_file_share(path, STAMPED, in_dir("other"), 0644));
    assert_false(infc_file_share(path, STAMPED, in_dir("other"), 0644));
    assert_false(infc_file_share(path, STAMPED - 1, in_dir("another"), 0644));
    assert_false(infc_file_share(path, STAMPED, in_dir("another"), 0755));
    assert_false(infc_file_share(in_dir("not-there"), 0, in_dir("another"), 0644));
    assert_int_equal(cx.n_diags, 0);
}

static void default_folder(void **state) {
    (void)state;
    unsetenv("INFC_CACHE");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/u", 1);
    assert_string_equal(infc_cache_default_dir(cx.arena), "/home/u/.cache/infc");
    setenv("XDG_CACHE_HOME", "/x", 1);
    assert_string_equal(infc_cache_default_dir(cx.arena), "/x/infc");
    setenv("INFC_CACHE", "/own", 1);
    assert_string_equal(infc_cache_default_dir(cx.arena), "/own");
    unsetenv("INFC_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_null(infc_cache_default_dir(cx.arena));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(store_and_fetch), TEST(damage_is_a_miss),  TEST(failures_are_silent_misses),
        TEST(digests),         TEST(digests_of_pieces), TEST(stamps),
        TEST(retired_files),   TEST(default_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
