/* file.h: mapping, atomic writes, paths; a read-only folder and a full disk. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "folder_fixture.h"

static infc_bytes text(const char *s) { return (infc_bytes){(const uint8_t *)s, strlen(s)}; }

static int entries(const char *path) {
    const char *command = infc_arena_printf(cx.arena, "ls -A '%s' | wc -l", path);
    FILE *out = popen(command, "r");
    int n = -1;
    assert_int_equal(fscanf(out, "%d", &n), 1);
    pclose(out);
    return n;
}

static void write_map_replace(void **state) {
    (void)state;
    const char *path = in_dir("f");
    infc_bytes bytes;
    umask(022);
    assert_int_equal(infc_file_write(&cx, path, text("one"), 0644), INFC_OK);
    assert_int_equal(infc_file_map(&cx, path, &bytes), INFC_OK);
    assert_int_equal(infc_file_write(&cx, path, text("second"), 0755), INFC_OK);
    assert_memory_equal(bytes.ptr, "one", 3); /* the old file lives on under its mapping */
    assert_int_equal(infc_file_map(&cx, path, &bytes), INFC_OK);
    assert_int_equal(bytes.len, 6);
    assert_memory_equal(bytes.ptr, "second", 6);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0755);
    assert_int_equal(infc_file_write(&cx, path, text(""), 0644), INFC_OK);
    assert_int_equal(infc_file_map(&cx, path, &bytes), INFC_OK);
    assert_int_equal(bytes.len, 0);
    assert_non_null(bytes.ptr);
    assert_int_equal(entries(dir), 1);
}

/* What is below a folder, and not beside it under a name that begins alike. */
static void let_go(void **state) {
    (void)state;
    const char *below = in_dir("made/f"), *beside = in_dir("made-not");
    infc_bytes of_below, of_beside;
    infc_mapped_file found;
    assert_int_equal(infc_dir_create(&cx, in_dir("made")), INFC_OK);
    assert_int_equal(infc_file_write(&cx, below, text("one"), 0644), INFC_OK);
    assert_int_equal(infc_file_write(&cx, beside, text("two"), 0644), INFC_OK);
    assert_int_equal(infc_file_map(&cx, below, &of_below), INFC_OK);
    assert_int_equal(infc_file_map(&cx, beside, &of_beside), INFC_OK);
    infc_file_let_go(&cx, in_dir("made"));
    assert_false(infc_file_mapped(&cx, of_below.ptr, 3, &found));
    assert_true(infc_file_mapped(&cx, of_beside.ptr, 3, &found));
    assert_memory_equal(of_beside.ptr, "two", 3);
}

static void long_names(void **state) {
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(infc_file_write(&cx, in_dir(name), text("x"), 0644), INFC_OK);
    assert_true(infc_file_exists(in_dir(name)));
}

static void not_a_regular_file(void **state) {
    (void)state;
    infc_bytes bytes;
    assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
    assert_int_equal(infc_file_map(&cx, in_dir("fifo"), &bytes), INFC_ERR_IO);
    assert_int_equal(infc_file_map(&cx, dir, &bytes), INFC_ERR_IO);
    assert_int_equal(infc_file_map(&cx, in_dir("none"), &bytes), INFC_ERR_IO);
    assert_non_null(strstr(cx.diags[0].text, "not a regular file"));
    assert_non_null(strstr(cx.diags[1].text, "a folder, not a regular file"));
    assert_non_null(strstr(cx.diags[2].text, "No such file"));
    assert_string_equal(cx.diags[2].loc.file, in_dir("none"));
    assert_false(infc_file_exists(in_dir("fifo")));
    assert_false(infc_file_exists(dir));
}

static char fifo_read[8];
static void *read_fifo(void *path) {
    FILE *f = fopen(path, "r");
    if (f) {
        if (!fgets(fifo_read, sizeof fifo_read, f)) fifo_read[0] = 0;
        fclose(f);
    }
    return NULL;
}

/* A link goes on to lead to its file, a pipe stays one. */
static void named_by_users(void **state) {
    (void)state;
    struct stat info;
    infc_bytes bytes;
    pthread_t reader;
    assert_int_equal(infc_file_write_named(&cx, in_dir("real"), text("1")), INFC_OK);
    assert_int_equal(symlink("real", in_dir("link")), 0);
    assert_int_equal(infc_file_write_named(&cx, in_dir("link"), text("22")), INFC_OK);
    assert_int_equal(lstat(in_dir("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(infc_file_map(&cx, in_dir("real"), &bytes), INFC_OK);
    assert_int_equal(bytes.len, 2);
    assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_fifo, (void *)(uintptr_t)in_dir("fifo")), 0);
    assert_int_equal(infc_file_write_named(&cx, in_dir("fifo"), text("333")), INFC_OK);
    pthread_join(reader, NULL);
    assert_string_equal(fifo_read, "333");
    assert_int_equal(lstat(in_dir("fifo"), &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(infc_file_write_named(&cx, dir, text("5")), INFC_ERR_IO);
    assert_int_equal(infc_file_check_named(&cx, in_dir("none/f")), INFC_ERR_IO);
    assert_non_null(strstr(cx.diags[1].text, "none: No such file"));
    assert_int_equal(infc_file_check_named(&cx, in_dir("new")), INFC_OK);
}

static void folders(void **state) {
    (void)state;
    assert_int_equal(infc_dir_create(&cx, in_dir("a//b/c/")), INFC_OK);
    assert_int_equal(infc_dir_create(&cx, in_dir("a/b/c")), INFC_OK);
    assert_true(infc_dir_exists(in_dir("a/b/c")));
    assert_int_equal(infc_dir_create(&cx, "/"), INFC_OK);
    assert_int_equal(infc_file_write(&cx, in_dir("a/f"), text("x"), 0644), INFC_OK);
    assert_int_equal(infc_dir_create(&cx, in_dir("a/f/g")), INFC_ERR_SPEC);
    assert_non_null(strstr(cx.diags[0].text, "a file of this name is in the way"));
    assert_int_equal(symlink("/tmp", in_dir("a/link")), 0);
    infc_dir_remove(in_dir("a"));
    assert_false(infc_dir_exists(in_dir("a")));
    assert_true(infc_dir_exists("/tmp")); /* links are removed, not followed */
}

static void paths(void **state) {
    (void)state;
    assert_string_equal(infc_path_join(cx.arena, "a", "b"), "a/b");
    assert_string_equal(infc_path_join(cx.arena, "a/", "b"), "a/b");
    assert_string_equal(infc_path_join(cx.arena, "a", "/b"), "/b");
    assert_string_equal(infc_path_join(cx.arena, ".", "b"), "b");
    assert_string_equal(infc_path_join(cx.arena, "/", "b"), "/b");
    assert_string_equal(infc_path_dir(cx.arena, "a/b/c"), "a/b");
    assert_string_equal(infc_path_dir(cx.arena, "c"), ".");
    assert_string_equal(infc_path_dir(cx.arena, "/c"), "/");
    assert_string_equal(infc_path_dir(cx.arena, "a//c"), "a");
    assert_string_equal(infc_path_base("a/b"), "b");
    assert_string_equal(infc_path_base("b"), "b");
}

static void read_only_folder(void **state) {
    (void)state;
    const char *path = in_dir("ro/f");
    assert_int_equal(infc_dir_create(&cx, in_dir("ro")), INFC_OK);
    assert_int_equal(infc_file_write(&cx, path, text("before"), 0644), INFC_OK);
    assert_int_equal(chmod(in_dir("ro"), 0555), 0);
    assert_int_equal(chmod(dir, 0755), 0);
    bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0); /* permissions do not bind root */
    infc_status status = infc_file_write(&cx, path, text("after"), 0644);
    infc_stage *stage = NULL;
    infc_status stage_status = infc_stage_open(&cx, in_dir("ro"), &stage);
    infc_status new_status = infc_stage_open(&cx, in_dir("ro/new"), &stage);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, INFC_ERR_IO);
    assert_non_null(strstr(cx.diags[0].text, "Permission denied"));
    assert_string_equal(cx.diags[0].loc.file, path);
    assert_int_equal(stage_status, INFC_ERR_IO);
    assert_non_null(strstr(cx.diags[1].text, "Permission denied"));
    assert_int_equal(new_status, INFC_ERR_IO);
    infc_bytes bytes;
    assert_int_equal(infc_file_map(&cx, path, &bytes), INFC_OK);
    assert_memory_equal(bytes.ptr, "before", 6);
    assert_int_equal(entries(in_dir("ro")), 1);
}

/* 0: the old content stands, the message is right, no temporary file is left. */
static int fill_up(const char *path, const char *expected) {
    size_t n = (size_t)1 << 20;
    uint8_t *big = infc_arena_alloc(cx.arena, n, 1);
    if (infc_file_write(&cx, path, (infc_bytes){big, n}, 0644) != INFC_ERR_IO) return 1;
    if (!strstr(cx.diags[0].text, expected)) return 2;
    infc_bytes bytes;
    if (infc_file_map(&cx, path, &bytes) != INFC_OK || bytes.len != 6) return 3;
    return entries(infc_path_dir(cx.arena, path)) == 1 ? 0 : 4;
}

static bool mount_small(const char *at) {
    if (unshare(CLONE_NEWNS) < 0) return false;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return false;
    return mount("tmpfs", at, "tmpfs", 0, "size=128k") == 0;
}

/* A real full disk where we may mount one, else a limit on the size of files. */
static int full_disk_child(void) {
    const char *expected = "No space left on device; free some space";
    if (infc_dir_create(&cx, in_dir("full")) != INFC_OK) return 10;
    bool mounted = mount_small(in_dir("full"));
    if (infc_file_write(&cx, in_dir("full/f"), text("before"), 0644) != INFC_OK) return 11;
    if (!mounted) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {64 << 10, 64 << 10};
        if (setrlimit(RLIMIT_FSIZE, &limit) < 0) return 12;
        expected = "File too large";
    }
    return fill_up(in_dir("full/f"), expected);
}

static void full_disk(void **state) {
    (void)state;
    pid_t pid = fork(); /* the mount and the limit end with the child */
    assert_true(pid >= 0);
    if (pid == 0) _exit(full_disk_child());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Puts `content` in three parts beside what `like` holds, the first two bytes last; whether it is that file then. */
static bool write_like(const char *like, const char *content, size_t n, unsigned mode) {
    infc_file_writer file;
    infc_bytes written;
    struct stat old, new;
    const char *path = in_dir("new"), *source = in_dir("source");
    unlink(path);
    assert_int_equal(
        infc_file_write(&cx, source, (infc_bytes){(const uint8_t *)content + n / 2, n - n / 2}, 0644), INFC_OK);
    assert_int_equal(infc_file_writer_open(&cx, path, like, mode, &file), INFC_OK);
    infc_file_writer_skip(&file, 2);
    infc_file_writer_put(&file, content + 2, n / 2 - 2);
    infc_file_writer_copy(&file, source);
    infc_file_writer_patch(&file, 0, content, 2);
    assert_int_equal(infc_file_writer_close(&file), INFC_OK);
    assert_int_equal(file.bytes, n);
    assert_int_equal(infc_file_try_map(path, &written), 0);
    assert_int_equal(written.len, n);
    assert_memory_equal(written.ptr, content, n);
    infc_file_unmap(written);
    if (stat(like, &old) < 0 || stat(path, &new) < 0) return false;
    assert_int_equal(file.shared, old.st_ino == new.st_ino);
    return file.shared;
}

static void the_same_as_before(void **state) {
    (void)state;
    enum { N = 700001 };
    char *content = infc_arena_alloc(cx.arena, N, 1);
    const char *like = in_dir("old");
    umask(022);
    for (size_t i = 0; i < N; i++) content[i] = (char)(i * 2654435761u >> 11);
    const infc_bytes bytes = {(const uint8_t *)content, N};
    assert_int_equal(infc_file_write(&cx, like, bytes, 0644), INFC_OK);
    assert_true(write_like(like, content, N, 0644));
    assert_false(write_like(like, content, N, 0755));
    assert_false(write_like(in_dir("none"), content, N, 0644));
    assert_int_equal(symlink("old", in_dir("link")), 0);
    assert_false(write_like(in_dir("link"), content, N, 0644));
    assert_false(write_like(like, content, N - 1, 0644));
    static const size_t at[] = {0, 1, 2, 300000, N / 2 - 1, N / 2, 600000, N - 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) { /* a byte differs: the old file stays as it is */
        infc_bytes old;
        content[at[i]] ^= 1;
        assert_false(write_like(like, content, N, 0644));
        content[at[i]] ^= 1;
        assert_int_equal(infc_file_map(&cx, like, &old), INFC_OK);
        assert_int_equal(old.len, N);
        assert_memory_equal(old.ptr, content, N);
    }
    assert_int_equal(truncate(like, N - 7), 0);
    assert_false(write_like(like, content, N, 0644));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(write_map_replace),
        FOLDER_TEST(let_go),
        FOLDER_TEST(long_names),
        FOLDER_TEST(not_a_regular_file),
        FOLDER_TEST(named_by_users),
        FOLDER_TEST(folders),
        FOLDER_TEST(paths),
        FOLDER_TEST(full_disk),
        FOLDER_TEST(read_only_folder),
        FOLDER_TEST(the_same_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
