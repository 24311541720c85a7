/* The processor's SHA-256 against libmd's, for every length around a block and for a long message. */
#include "compiler/base/sha256.h"
#include <setjmp.h>
#include <sha2.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void same_as_libmd(void **state) {
    (void)state;
    static uint8_t message[100001];
    for (size_t i = 0; i < sizeof message; i++) message[i] = (uint8_t)(i * 131 + i / 251);
    for (size_t n = 0; n <= sizeof message; n = n == 300 ? sizeof message : n + 1) {
        uint8_t want[SHA256_DIGEST_LENGTH], got[32];
        SHA2_CTX sha;
        infc_sha256_fast fast;
        if (!infc_sha256_fast_begin(&fast)) skip();
        const size_t first = n / 128 * 64; /* in two parts */
        infc_sha256_fast_put(&fast, (infc_bytes){message, first});
        infc_sha256_fast_put(&fast, (infc_bytes){message + first, n - first});
        infc_sha256_fast_end(&fast, got);
        SHA256Init(&sha);
        SHA256Update(&sha, message, n);
        SHA256Final(want, &sha);
        assert_memory_equal(got, want, sizeof got);
    }
}

/* Two at a time, of different lengths and from different places. */
static void two_as_one(void **state) {
    (void)state;
    enum { BOTH = 640 };
    static uint8_t message[2048];
    for (size_t i = 0; i < sizeof message; i++) message[i] = (uint8_t)(i * 197 + i / 13);
    const infc_bytes whole[2] = {{message, 1000}, {message + 777, BOTH + 64}};
    infc_sha256_fast fast[2];
    if (!infc_sha256_fast_begin(&fast[0]) || !infc_sha256_fast_begin(&fast[1])) skip();
    infc_sha256_fast_put_two(&fast[0], &fast[1], whole[0].ptr, whole[1].ptr, BOTH);
    for (int i = 0; i < 2; i++) {
        SHA2_CTX sha;
        uint8_t want[SHA256_DIGEST_LENGTH], got[32];
        infc_sha256_fast_put(&fast[i], (infc_bytes){whole[i].ptr + BOTH, whole[i].len - BOTH});
        infc_sha256_fast_end(&fast[i], got);
        SHA256Init(&sha);
        SHA256Update(&sha, whole[i].ptr, whole[i].len);
        SHA256Final(want, &sha);
        assert_memory_equal(got, want, sizeof got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_libmd), cmocka_unit_test(two_as_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
