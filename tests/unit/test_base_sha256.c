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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_libmd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
