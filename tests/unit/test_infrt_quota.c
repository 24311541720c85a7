/* What a key may ask for: rates, tokens of the cache, adapters. */
#include "serve_quota.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static infrt_quotas quotas_of(const infrt_serve_options *options) {
    infrt_quotas q;
    infrt_error error = {0};
    assert_int_equal(infrt_quotas_init(&q, options, 2, 3, &error), INFRT_OK);
    return q;
}

static void a_minute_is_saved_up_and_no_more(void **state) {
    (void)state;
    const infrt_serve_options options = {.requests_per_minute = 3};
    infrt_quotas q = quotas_of(&options);
    infrt_refusal refusal = {0};
    const uint64_t now = 1000 * SECOND;
    for (int i = 0; i < 3; i++) assert_true(infrt_quota_request(&q, 1, now, &refusal));
    assert_false(infrt_quota_request(&q, 1, now + SECOND, &refusal));
    assert_int_equal(refusal.status, 429);
    assert_int_equal(refusal.retry_after, 19); /* one of three is back after 20 s */
    assert_true(infrt_quota_request(&q, 2, now, &refusal));
    assert_true(infrt_quota_request(&q, 1, now + 20 * SECOND, &refusal));
    assert_false(infrt_quota_request(&q, 1, now + 20 * SECOND, &refusal));
    for (int i = 0; i < 3; i++)
        assert_true(infrt_quota_request(&q, 1, now + 5000 * SECOND, &refusal));
    assert_false(infrt_quota_request(&q, 1, now + 5000 * SECOND, &refusal));
    infrt_quotas_free(&q);
}

static void tokens_are_held_until_they_are_given_back(void **state) {
    (void)state;
    const infrt_serve_options options = {.key_tokens = 100};
    infrt_quotas q = quotas_of(&options);
    infrt_refusal never = {0}, later = {0};
    assert_false(infrt_quota_take(&q, 1, 101, &never));
    assert_int_equal(never.status, 400); /* waiting would not help */
    assert_true(infrt_quota_take(&q, 1, 60, &later));
    assert_false(infrt_quota_take(&q, 1, 41, &later));
    assert_int_equal(later.status, 429);
    assert_string_equal(later.code, "token_quota_exceeded");
    assert_true(infrt_quota_take(&q, 1, 40, &later));
    assert_true(infrt_quota_take(&q, 2, 100, &later));
    infrt_quota_give_back(&q, 1, 60);
    assert_true(infrt_quota_take(&q, 1, 60, &later));
    infrt_quotas_free(&q);
}

static bool is_there(void *self, const char *name) { return strstr(self, name) != NULL; }

static bool load(infrt_quotas *q, uint32_t key, const char *name, char *there) {
    char whole[INFRT_LLM_ADAPTER_NAME] = "";
    infrt_refusal refusal = {0};
    strcpy(whole, name);
    if (!infrt_quota_load(q, key, whole, is_there, there, &refusal)) {
        assert_int_equal(refusal.status, 429);
        return false;
    }
    strcat(there, name);
    infrt_quota_loaded(q, key, whole, true, is_there, there);
    return true;
}

static void adapters_count_while_they_are_there(void **state) {
    (void)state;
    const infrt_serve_options options = {.key_adapters = 2};
    infrt_quotas q = quotas_of(&options);
    infrt_refusal refusal = {0};
    char there[64] = "", name[INFRT_LLM_ADAPTER_NAME] = "z";
    assert_true(load(&q, 1, "a", there) && load(&q, 1, "b", there));
    assert_true(load(&q, 1, "a", there)); /* again */
    assert_false(load(&q, 1, "c", there));
    assert_true(load(&q, 2, "c", there));
    *strchr(there, 'a') = '-'; /* unloaded, or another's needed its place */
    *strchr(there, 'a') = '-';
    assert_true(load(&q, 1, "d", there));
    assert_false(load(&q, 1, "e", there));
    assert_true(infrt_quota_load(&q, 2, name, is_there, there, &refusal)); /* under way: it counts */
    assert_false(load(&q, 2, "e", there));
    infrt_quota_loaded(&q, 2, name, false, is_there, there); /* it could not be read */
    *strchr(there, 'b') = '-';
    assert_true(load(&q, 2, "e", there));
    infrt_quotas_free(&q);
}

static void without_limits_all_is_allowed(void **state) {
    (void)state;
    const infrt_serve_options options = {0};
    infrt_quotas q = quotas_of(&options);
    infrt_refusal refusal = {0};
    char there[64] = "";
    for (int i = 0; i < 1000; i++)
        assert_true(infrt_quota_request(&q, 0, 1, &refusal) && infrt_quota_take(&q, 0, UINT32_MAX, &refusal));
    for (const char *name = "a\0b\0c\0d\0e\0f\0"; *name; name += 2)
        assert_true(load(&q, 0, name, there));
    assert_true(q.n_loaded <= q.room);
    infrt_quotas_free(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minute_is_saved_up_and_no_more),
        cmocka_unit_test(tokens_are_held_until_they_are_given_back),
        cmocka_unit_test(adapters_count_while_they_are_there),
        cmocka_unit_test(without_limits_all_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
