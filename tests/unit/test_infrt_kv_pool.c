/* kv_pool.c: keys that share a bucket, as any hash may make them, are never taken for each other. */
#include "kv_pool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { BLOCKS = 4, POSITIONS = 2, TRIES = 4096 };

/* CVE-2025-25183: among 4096 keys there are hundreds for each bucket of so small a pool; they differ in one token, in
 * what comes before, or in their salt. */
static void one_bucket_many_keys(void **state) {
    infrt_kv_pool pool;
    int32_t tokens[BLOCKS][POSITIONS] = {{1, 2}, {1, 3}, {1, 2}, {1, 2}};
    const infrt_kv_key keys[BLOCKS] = {
        {0, 0, tokens[0]}, {0, 0, tokens[1]}, {7, 0, tokens[2]}, {0, 9, tokens[3]}};
    (void)state;
    assert_true(infrt_kv_pool_init(&pool, BLOCKS, POSITIONS));
    assert_in_range(pool.n_buckets, 1, TRIES / 64);
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(infrt_kv_pool_give_name(&pool, infrt_kv_pool_take(&pool), &keys[i]), i + 1);
    for (int32_t i = 10; i < TRIES; i++) {
        const int32_t first[] = {i, 2}, second[] = {1, i};
        const infrt_kv_key others[] = {
            {0, 0, first}, {0, 0, second}, {(uint64_t)i, 0, tokens[0]}, {0, (uint64_t)i, tokens[0]}};
        for (int k = 0; k < 4; k++)
            assert_int_equal(infrt_kv_pool_find(&pool, &others[k]), INFRT_KV_NONE);
    }
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(pool.name[infrt_kv_pool_find(&pool, &keys[i])], i + 1);
    infrt_kv_pool_deinit(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_bucket_many_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
