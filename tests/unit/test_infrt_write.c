/* Writing tensors: formats byte by byte, names, determinism, whole files or none. */
#include "infrt_test_files.h"
#include "output_file.h"
#include "zip_archive.h"
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/infrt_write_XXXXXX";

static const char *in_dir(const char *name) {
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 256, "%s/%s", dir, name);
    return path;
}

static const float values[6] = {0, 0.25f, -1, 3, 1e-45f, 6};
static const infc_tensor_info y_info = {.name = "/y:0", .dtype = INFC_DTYPE_f32, .rank = 2, .dims = {2, 3}};
static const infc_tensor_info n_info = {.name = "n", .dtype = INFC_DTYPE_i64, .rank = 0};

/* What numpy.save writes for that dtype and shape (format 1.0). */
static void test_npy_header(void **state) {
    (void)state;
    static const struct {
        uint32_t dtype, rank;
        int64_t dims[2];
        const char *text;
    } cases[] = {
        {INFC_DTYPE_f32, 2, {2, 3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"},
        {INFC_DTYPE_i64, 0, {0}, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }"},
        {INFC_DTYPE_u8, 1, {5}, "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }"},
        {INFC_DTYPE_bool, 1, {0}, "{'descr': '|b1', 'fortran_order': False, 'shape': (0,), }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[INFRT_NPY_HEADER];
        size_t n = infrt_npy_header(cases[i].dtype, cases[i].rank, cases[i].dims, header);
        assert_int_equal(n, 128);
        assert_memory_equal(header, "\x93NUMPY\x01\x00\x76\x00", 10);
        assert_memory_equal(header + 10, cases[i].text, strlen(cases[i].text));
        for (size_t k = 10 + strlen(cases[i].text); k < 127; k++) assert_int_equal(header[k], ' ');
        assert_int_equal(header[127], '\n');
    }
    /* numpy's own file, but for the elements, is what is written for its dtype and shape */
    infrt_bytes file = test_file("f32.npy");
    char header[INFRT_NPY_HEADER];
    assert_int_equal(infrt_npy_header(INFC_DTYPE_f32, 3, (int64_t[]){2, 3, 4}, header), 128);
    assert_memory_equal(header, file.data, 128);
    test_file_free(file);
}

static void test_npy_header_of_the_longest_shape(void **state) {
    (void)state;
    char header[INFRT_NPY_HEADER];
    int64_t dims[INFC_MAX_RANK];
    for (int i = 0; i < INFC_MAX_RANK; i++) dims[i] = INT64_MAX;
    size_t n = infrt_npy_header(INFC_DTYPE_f32, INFC_MAX_RANK, dims, header);
    assert_int_equal(n % 64, 0);
    assert_true(n <= sizeof header);
}

static void test_npz_round_trip(void **state) {
    (void)state;
    const infc_tensor_info *infos[] = {&y_info, &n_info};
    const int64_t seven = 7;
    const void *data[] = {values, &seven};
    infrt_error error = {0};
    if (infrt_npz_write(in_dir("a.npz"), infos, data, 2, &error) != INFRT_OK)
        fail_msg("%s", error.text);
    assert_int_equal(infrt_npz_write(in_dir("b.npz"), infos, data, 2, &error), INFRT_OK);
    infrt_bytes a = test_bytes(in_dir("a.npz")), b = test_bytes(in_dir("b.npz"));
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.data, b.data, a.n);
    assert_memory_equal(a.data, "PK\3\4\x14\0\0\x08\0\0\0\0\x21\0", 14); /* stored, 1980-01-01 00:00 */

    infrt_tensor t = {0};
    assert_int_equal(infrt_npz_read(a, "a", "/y:0", &t, &error), INFRT_OK);
    assert_int_equal(infrt_tensor_match(&t, &y_info, "a", &error), INFRT_OK);
    assert_memory_equal(t.data, values, sizeof values);
    infrt_tensor_free(&t);
    assert_int_equal(infrt_npz_read(a, "a", "n", &t, &error), INFRT_OK);
    assert_true(infrt_element(t.dtype, t.data, 0) == 7);
    infrt_tensor_free(&t);
    test_file_free(a);
    test_file_free(b);
}

static void test_crc(void **state) {
    (void)state;
    infrt_bytes check = {(const unsigned char *)"123456789", 9}; /* the check value of CRC-32/ISO-HDLC */
    assert_int_equal(infrt_crc32(0, check), 0xcbf43926);
    infrt_bytes head = {check.data, 4}, tail = {check.data + 4, 5};
    assert_int_equal(infrt_crc32(infrt_crc32(0, head), tail), 0xcbf43926);
}

static void test_folder_names(void **state) {
    (void)state;
    infc_tensor_info infos[5] = {y_info, y_info, y_info, y_info, y_info};
    const char *names[5] = {"/y:0", "_y_0", "../../etc/passwd", "..", "a.b-c"};
    const char *files[5] = {"_y_0.npy", "_y_0~2.npy", "_._.._etc_passwd.npy", "_..npy", "a.b-c.npy"};
    const infc_tensor_info *pointers[5];
    const void *data[5];
    infrt_error error = {0};
    for (int i = 0; i < 5; i++) {
        infos[i].name = names[i];
        pointers[i] = &infos[i];
        data[i] = values;
    }
    if (infrt_npy_write_all(in_dir("out"), pointers, data, 5, &error) != INFRT_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < 5; i++) {
        char path[300];
        infrt_tensor t = {0};
        snprintf(path, sizeof path, "%s/%s", in_dir("out"), files[i]);
        infrt_bytes file = test_bytes(path);
        assert_int_equal(infrt_npy_read(file, path, &t, &error), INFRT_OK);
        assert_memory_equal(t.data, values, sizeof values);
        test_file_free(file);
        unlink(path);
    }
    assert_int_equal(rmdir(in_dir("out")), 0); /* nothing else was written there */
}

static void test_failures_leave_nothing(void **state) {
    (void)state;
    const infc_tensor_info *infos[] = {&y_info};
    const void *data[] = {values};
    infrt_error error = {0};
    assert_int_equal(infrt_npz_write(in_dir("no/such/a.npz"), infos, data, 1, &error), INFRT_ERR_IO);
    assert_non_null(strstr(error.text, "cannot write"));
    error = (infrt_error){0};
    assert_int_equal(infrt_npz_write("/dev/full", infos, data, 1, &error), INFRT_ERR_IO);
    error = (infrt_error){0};
    assert_int_equal(mkdir(in_dir("taken.npz"), 0700), 0); /* a folder of that name */
    assert_int_equal(infrt_npz_write(in_dir("taken.npz"), infos, data, 1, &error), INFRT_ERR_IO);
    rmdir(in_dir("taken.npz"));

    infrt_output_file file; /* a failure half way: the old contents stay, nothing else does */
    error = (infrt_error){0};
    assert_int_equal(infrt_output_open(in_dir("kept"), &file, &error), INFRT_OK);
    fputs("old", file.stream);
    assert_int_equal(infrt_output_close(&file, INFRT_OK, &error), INFRT_OK);
    assert_int_equal(infrt_output_open(in_dir("kept"), &file, &error), INFRT_OK);
    fputs("new", file.stream);
    assert_int_equal(infrt_output_close(&file, INFRT_ERR_DATA, &error), INFRT_ERR_DATA);
    infrt_bytes kept = test_bytes(in_dir("kept"));
    assert_int_equal(kept.n, 3);
    assert_memory_equal(kept.data, "old", 3);
    test_file_free(kept);
    unlink(in_dir("kept"));
}

static void test_folder_is_empty(void **state) {
    (void)state;
    unlink(in_dir("a.npz"));
    unlink(in_dir("b.npz"));
    DIR *folder = opendir(dir);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) assert_int_equal(entry->d_name[0], '.');
    closedir(folder);
}

/* [1,20,3] in blocks of 16 channels: value = 100 * channel + position, worked out here. */
static void test_unblock(void **state) {
    (void)state;
    int16_t blocked[2 * 3 * 16], out[20 * 3];
    memset(blocked, 0x7f, sizeof blocked); /* the pad lanes of the second block hold anything */
    for (int c = 0; c < 20; c++)
        for (int s = 0; s < 3; s++)
            blocked[(c / 16 * 3 + s) * 16 + c % 16] = (int16_t)(100 * c + s);
    infrt_unblock_c16(blocked, out, 3, (int64_t[]){1, 20, 3}, sizeof *out);
    for (int i = 0; i < 60; i++) assert_int_equal(out[i], 100 * (i / 3) + i % 3);
}

static void test_elements(void **state) {
    (void)state;
    const uint16_t halves[] = {0x3c00, 0xc000, 0x7c00, 0x0001, 0x8000, 0x03ff};
    const double expected[] = {1, -2, 1.0 / 0.0, 0x1p-24, 0, 1023 * 0x1p-24};
    for (size_t i = 0; i < 6; i++)
        assert_true(infrt_element(INFC_DTYPE_f16, halves, i) == expected[i]);
    const uint16_t brain[] = {0x3f80, 0xc000, 0x0080};
    const double wide[] = {1, -2, 0x1p-126};
    for (size_t i = 0; i < 3; i++) assert_true(infrt_element(INFC_DTYPE_bf16, brain, i) == wide[i]);
    assert_string_equal(infrt_dtype_name(99), "?");
    assert_int_equal(infrt_dtype_bytes(99), 0);
}

/* A signal that ends the program while it writes takes what is not complete with it, and what is stays. */
static void test_a_signal_leaves_nothing(void **state) {
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            infrt_output_file whole, half, inner;
            infrt_error error = {0};
            signal(numbers[i], SIG_DFL);
            bool good = infrt_output_open(in_dir("sig-whole"), &whole, &error) == INFRT_OK &&
                        infrt_output_close(&whole, INFRT_OK, &error) == INFRT_OK &&
                        infrt_output_open(in_dir("sig-half"), &half, &error) == INFRT_OK &&
                        infrt_output_folder(in_dir("sig-folder"), &error) == INFRT_OK &&
                        infrt_output_open(in_dir("sig-folder/x"), &inner, &error) == INFRT_OK;
            if (good) raise(numbers[i]);
            _exit(1);
        }
        int status;
        char command[300];
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
        snprintf(command, sizeof command, "test \"$(cd %s && ls -d sig*)\" = sig-whole", dir);
        assert_int_equal(system(command), 0);
    }
    unlink(in_dir("sig-whole"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_header),
        cmocka_unit_test(test_npy_header_of_the_longest_shape),
        cmocka_unit_test(test_npz_round_trip),
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_folder_names),
        cmocka_unit_test(test_failures_leave_nothing),
        cmocka_unit_test(test_folder_is_empty),
        cmocka_unit_test(test_a_signal_leaves_nothing),
        cmocka_unit_test(test_unblock),
        cmocka_unit_test(test_elements),
    };
    if (!mkdtemp(dir)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(dir);
    return failed;
}
