/* What the core asks of the OS: CPU quotas read from made-up cgroup trees, and the FP environment. */
#include "fpenv.h"
#include "infrt_os.h"
#include <fenv.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static char root[] = "/tmp/infrt_os_XXXXXX";

/* Writes root/path, making its folders. */
static void put(const char *path, const char *text) {
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void clear(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/*", root);
    assert_int_equal(system(command), 0);
}

static void test_no_cgroups(void **state) {
    (void)state;
    clear();
    assert_true(infrt_os_cpu_quota(root) == UINT32_MAX);
    put("proc/self/cgroup", "garbage\n0:\n");
    put("proc/self/mountinfo", "garbage - \n");
    assert_true(infrt_os_cpu_quota(root) == UINT32_MAX);
}

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

static void test_v2(void **state) {
    (void)state;
    clear();
    put("proc/self/cgroup", "0::/user.slice/app\n");
    put("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" V2_MOUNT);
    put("sys/fs/cgroup/user.slice/app/cpu.max", "max 100000\n");
    assert_true(infrt_os_cpu_quota(root) == UINT32_MAX);
    put("sys/fs/cgroup/user.slice/app/cpu.max", "350000 100000\n"); /* 3.5 CPUs: 3 never get throttled */
    assert_int_equal(infrt_os_cpu_quota(root), 3);
    put("sys/fs/cgroup/user.slice/cpu.max", "200000 100000\n"); /* the group around it grants less */
    assert_int_equal(infrt_os_cpu_quota(root), 2);
    put("sys/fs/cgroup/user.slice/app/cpu.max", "50000 100000\n");
    assert_int_equal(infrt_os_cpu_quota(root), 1);
    put("sys/fs/cgroup/user.slice/app/cpu.max", "100000 0\n"); /* not a limit that means anything */
    assert_int_equal(infrt_os_cpu_quota(root), 2);
}

static void test_v2_in_a_container(void **state) {
    (void)state;
    clear();
    put("proc/self/cgroup", "0::/docker/abc\n"); /* the host's path; the mount shows that group as its root */
    put("proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("sys/fs/cgroup/cpu.max", "400000 100000\n");
    assert_int_equal(infrt_os_cpu_quota(root), 4);
}

static void test_v1(void **state) {
    (void)state;
    clear();
    put("proc/self/cgroup", "5:cpuset:/x\n4:cpuacct,cpu:/docker/abc\n1:name=systemd:/\n");
    put("proc/self/mountinfo",
        "40 30 0:33 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "41 30 0:34 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
    assert_true(infrt_os_cpu_quota(root) == UINT32_MAX);
    put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(infrt_os_cpu_quota(root), 2);
    put("sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "1\n"); /* another controller's group does not count */
    put("sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "100000\n");
    assert_int_equal(infrt_os_cpu_quota(root), 2);
}

static void test_hybrid(void **state) {
    (void)state;
    clear();
    put("proc/self/cgroup", "4:cpu:/a\n0::/b\n");
    put("proc/self/mountinfo", "41 30 0:34 / /cpu rw - cgroup cgroup rw,cpu\n30 23 0:26 / /unified "
                               "rw - cgroup2 none rw\n");
    put("cpu/a/cpu.cfs_quota_us", "600000\n");
    put("cpu/a/cpu.cfs_period_us", "100000\n");
    put("unified/b/cpu.max", "500000 100000\n");
    assert_int_equal(infrt_os_cpu_quota(root), 5);
}

static void test_affinity_and_clock(void **state) {
    (void)state;
    assert_true(infrt_os_affinity() >= 1);
    uint64_t before = infrt_os_now_ns();
    assert_true(infrt_os_now_ns() >= before);
}

static void test_fpenv(void **state) {
    (void)state;
    volatile float tiny = FLT_MIN, half = 0.5f, five = 5.0f, three = 3.0f;
    volatile float nearest = five / three; /* stored: computed before the mode changes */
    fesetround(FE_UPWARD);
    volatile float upward = five / three;
#if defined(__x86_64__)
    infrt_fpenv_set(infrt_fpenv_get() | 0x8040u); /* FTZ and DAZ, which the entry has to undo */
    assert_true(tiny * half == 0);
#endif
    infrt_fpenv outside = infrt_fpenv_get();
    infrt_fpenv saved = infrt_fpenv_enter();
    assert_true(infrt_fpenv_get() == INFRT_FPENV_DEFAULT);
    volatile float product = tiny * half, quotient = five / three;
    infrt_fpenv_leave(saved);
    assert_true(infrt_fpenv_get() == outside);
    assert_true(fegetround() == FE_UPWARD);
    infrt_fpenv_set(INFRT_FPENV_DEFAULT);
    fesetround(FE_TONEAREST);
    assert_true(product > 0);
    assert_true(quotient == nearest);
    assert_true(upward > nearest); /* so the mode did matter */
}

/* Never in a second before one that has begun, as time() may be. */
static void test_date(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_REALTIME, &before);
        const double date = infrt_os_date();
        clock_gettime(CLOCK_REALTIME, &after);
        assert_true(date >= (double)before.tv_sec + (double)before.tv_nsec / 1e9);
        assert_true(date <= (double)after.tv_sec + (double)after.tv_nsec / 1e9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_cgroups),
        cmocka_unit_test(test_v2),
        cmocka_unit_test(test_v2_in_a_container),
        cmocka_unit_test(test_v1),
        cmocka_unit_test(test_hybrid),
        cmocka_unit_test(test_affinity_and_clock),
        cmocka_unit_test(test_date),
        cmocka_unit_test(test_fpenv),
    };
    if (!mkdtemp(root)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    clear();
    rmdir(root);
    return failed;
}
