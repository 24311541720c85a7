/* Sessions of a folder that two servers share: neither removes what the other one writes. */
#define _GNU_SOURCE 1
#include "infrt_os.h"
#include "session_folder.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char root[] = "/tmp/infrt_sessions_XXXXXX";
static int folder;

/* How many files there are of all kinds, after what was left behind has gone. */
static uint64_t bytes_there(void) {
    infrt_session_entry *all;
    uint32_t n;
    uint64_t bytes;
    assert_true(infrt_session_folder_read(folder, &all, &n, &bytes));
    free(all);
    return bytes;
}

static void another_server_looks(void **state) {
    (void)state;
    char path[INFRT_SESSION_PATH];
    infrt_error error = {0};
    const pid_t other = fork();
    assert_true(other >= 0);
    while (other == 0) bytes_there();
    infrt_session_file_path(folder, "one", path);
    for (int i = 0; i < 100; i++)
        if (infrt_os_file_replace(path, "hello", 5, &error) != INFRT_OK) break;
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    if (error.text[0]) fail_msg("%s", error.text);
    assert_int_equal(bytes_there(), 5);
}

static void left_behind(void **state) {
    (void)state;
    struct flock lock = {.l_type = F_WRLCK};
    const int dead = openat(folder, "one.session.part-1-a", O_CREAT | O_WRONLY, 0600),
              alive = openat(folder, "one.session.part-1-b", O_CREAT | O_WRONLY, 0600);
    assert_true(dead >= 0 && alive >= 0 && write(dead, "x", 1) == 1 && write(alive, "xyz", 3) == 3);
    assert_int_equal(fcntl(alive, F_OFD_SETLK, &lock), 0);
    assert_int_equal(bytes_there(), 5 + 3);
    assert_int_equal(faccessat(folder, "one.session.part-1-a", F_OK, 0), -1);
    close(dead);
    close(alive);
    assert_int_equal(bytes_there(), 5);
}

/* What cannot be written to is found out, and nothing is left of looking. */
static void writable(void **state) {
    (void)state;
    const int proc = open("/proc", O_PATH | O_DIRECTORY), file = openat(folder, "one.session", O_RDONLY);
    assert_true(proc >= 0 && file >= 0);
    assert_false(infrt_session_folder_check(proc, "open"));
    assert_false(infrt_session_folder_check(proc, "self"));
    assert_false(infrt_session_folder_check(folder, "one.session"));
    assert_true(infrt_session_folder_check(folder, "open"));
    assert_int_equal(mkdirat(folder, "open", 0700), 0);
    assert_true(infrt_session_folder_check(folder, "open"));
    assert_int_equal(unlinkat(folder, "open", AT_REMOVEDIR), 0); /* it is empty */
    close(proc);
    close(file);
}

static int folder_make(void **state) {
    (void)state;
    if (!mkdtemp(root)) return -1;
    folder = open(root, O_RDONLY | O_DIRECTORY);
    return folder < 0;
}

static int folder_remove(void **state) {
    (void)state;
    infrt_session_file_remove(folder, "one");
    close(folder);
    return rmdir(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_server_looks),
                                       cmocka_unit_test(left_behind), cmocka_unit_test(writable)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
